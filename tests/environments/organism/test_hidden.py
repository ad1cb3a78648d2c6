"""What no player ever sees: latent genes, null organisms, the cause, the wiring."""

from __future__ import annotations

import re

import numpy as np

from cards.canonical import canonical_json
from environments.organism.build import build
from environments.organism.control import null_organism
from environments.organism.definition import OrganismDefinition
from environments.organism.generate import truth
from environments.organism.tiers import TIERS
from tests.environments.organism.made import KEY, Player, probes, specimens


def shown(known: OrganismDefinition) -> str:
    """Return everything that a session shows, all single experiments, errors and a rescue included."""
    player = Player(known)
    texts = [
        canonical_json(player.session.brief),
        canonical_json([t.model_dump() for t in player.session.tools]),
    ]
    replies = [player.run(**{name: action}) for name in known.targets for action in ("BLOCK", "ON")]
    replies += [player.run(**{f"G{number:03d}": "BOOST"}) for number in range(22)]
    replies += [player("get_status"), player("run_experiment", interventions={"": "BLOCK"})]
    if known.diseased:
        replies.append(player("submit_malfunction_hypothesis", target=known.visible[0], type="LOCK_HI"))
        replies.append(player("submit_malfunction_hypothesis", target="G018", type="LOCK_HI"))
        replies.append(player("test_rescue", interventions={"G018": "BLOCK"}))
    return b"".join([*texts, *(canonical_json(reply.model_dump()) for reply in replies)]).decode()


def test_latent_genes_never_appear() -> None:
    """Hard organisms show 17 genes, G001 to G017 without a gap; nothing else can be named, faulted or
    targeted, and no text speaks of latent genes or of how many there are."""
    for specimen in specimens():
        if specimen.tier != "hard":
            continue
        for known in specimen.sessions.values():
            assert known.visible == [f"G{number:03d}" for number in range(1, 18)]
            assert len(known.wiring.latent) == 3
            assert not set(known.targets.values()) & set(known.wiring.latent)
            assert not {f.target for f in known.organism.network.faults} & set(known.wiring.latent)
            assert not {t for p in known.organism.network.interventions for t in p} & set(known.wiring.latent)
            text = shown(known).replace("no target 'G018'", "").replace("no target 'G019'", "")
            said = set(re.findall(r"G\d{3}", re.sub(r"there is no target '[^']*'", "", text)))
            assert said <= set(known.visible)
            assert "latent" not in text
            assert "hidden gene" not in text
    for task in probes():
        if task.facets["tier"] == "hard":
            assert set(re.findall(r"G\d{3}", task.brief["prompt"])) <= {f"G{n:03d}" for n in range(1, 18)}


def test_null_organisms_never_appear() -> None:
    """No task of a release is made of a null organism, and nothing shown reads like one: neither its
    healthy nor its diseased phenotypes stand in any brief."""
    tasks = build({"seeds": 2}, KEY)
    for tier in TIERS:
        null = null_organism(tier)
        signature = np.round([null.healthy, null.diseased], 3)
        for task in tasks:
            if "prompt" in task.brief:
                continue
            known = OrganismDefinition.model_validate(task.definition)
            assert known.wiring.weights
            assert known.seed != null.seed.hex()
            baseline = np.array(list(task.brief["baseline"].values()))
            assert np.abs(signature - baseline).max(axis=1).min() > 0.005
            assert "null" not in canonical_json(task.brief).decode()
        readings = truth(null.network, [(null.fault, plan) for plan in null.network.interventions])
        for task in tasks:
            if "prompt" in task.brief:
                values = [f"{value:.3f}" for value in np.round(null.diseased, 3)]
                assert not all(value in task.brief["prompt"] for value in values)
        assert len(readings) == len(null.network.interventions)


def test_the_wiring_and_the_cause_never_appear() -> None:
    """No weight, bias, seed or tier stands in what a session shows, and replies to a hypothesis are the
    same whether it is right or wrong."""
    for specimen in specimens()[::5]:
        known = specimen.sessions["diseased"]
        text = shown(known)
        secrets = [known.seed, *(f"{value}" for _, _, value in known.wiring.weights)]
        assert not [word for word in secrets if word in text]
        right, wrong = Player(known), Player(known)
        cause = right("submit_malfunction_hypothesis", target=known.names[known.target], type=known.fault)
        other = next(gene for gene in known.visible if known.targets[gene] != known.target)
        assert cause == wrong("submit_malfunction_hypothesis", target=other, type="LOCK_HI")


def test_public_rows_do_not_tell_organisms_apart() -> None:
    """Rows of one setting are equal but for their id, and hold no name of an organism."""
    tasks = build({"seeds": 2}, KEY)
    for task in tasks:
        row = canonical_json(task.row.model_dump(exclude={"id"})).decode()
        assert task.link["organism"] not in row
        assert task.facets["class"] not in row
