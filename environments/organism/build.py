"""Build a release's organisms, and the probe items that come out of their census and recorded sessions.

Source: "Treating the Symptom, Missing the Cause", appendices 7, 8.2 and 8.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cards.errors import InputError
from environments.family import Policy
from environments.organism.brief import brief
from environments.organism.census import Census, take_census
from environments.organism.definition import OrganismDefinition, session_definition
from environments.organism.evidence import Case, read_log
from environments.organism.generate import Organism, make_organism, truth
from environments.organism.insiders import best_rescue
from environments.organism.items import Item, make_items
from environments.organism.names import draw_names
from environments.organism.predictions import draw_tasks
from environments.organism.probes import ProbeDefinition, probe_brief
from environments.organism.protocol import ITEM, SESSION
from environments.organism.rules import contrast, random_walk
from environments.organism.tiers import GENES, PHENOTYPES, SIGNALS, TIERS, experiment_budget, tier
from environments.organism.tools import PROBE_TOOLS, tool_names
from environments.organism.world import OrganismWorld
from environments.seeding import derive, generator, item_seed, opaque_id
from environments.session import Session
from environments.task import JSON, Options, Record, Task, TaskRow

NAME = "organism"
SEEDS = 20
MOST_TRIALS = 50
STATES = ("healthy", "diseased")
REPLAY = "replay"
"""The diseased session that the probes are made of: it has names of its own, so that none joins the two."""


@dataclass(frozen=True)
class Specimen:
    """One organism of a release with both its sessions and its census."""

    tier: str
    index: int
    seed: bytes
    sessions: Mapping[str, OrganismDefinition]
    census: Census

    @property
    def name(self) -> str:
        """What the release's keys call it."""
        return f"{self.tier}-{self.index:03d}"


def build(params: Mapping[str, Any], key: bytes) -> list[Task]:
    """Build all organism tasks of a release, in the order of their opaque ids.

    Args:
        params: the ``organism`` section of the settings: seeds (organisms of each tier), tiers, genes.
        key: the release's key.

    Raises:
        InputError: an unknown tier or an impossible number.
    """
    seeds, genes = int(params.get("seeds", SEEDS)), int(params.get("genes", GENES))
    if not 1 <= seeds <= 1000:
        raise InputError(f"{seeds} organisms of a tier cannot be made.", "Set organism.seeds to 1 … 1000.")
    tiers = [tier(str(name)).name for name in params.get("tiers", TIERS)]
    specimens = [make_specimen(key, name, index, genes) for name in tiers for index in range(seeds)]
    tasks = [session_task(key, specimen, state) for specimen in specimens for state in STATES]
    tasks += probe_tasks(key, specimens)
    return sorted(tasks, key=lambda task: task.row.id)


def make_specimen(key: bytes, tier_name: str, index: int, genes: int = GENES) -> Specimen:
    """Return one organism of a release, whatever its census says.

    Only one that can surely be rescued is taken: an intervention must restore it under noise too.
    """
    seed = item_seed(key, NAME, f"{tier_name}-{index:03d}")
    for trial in range(MOST_TRIALS):
        organism = make_organism(derive(seed, "specimen", str(trial)), tier_name, genes)
        if best_rescue(organism) is not None:
            return Specimen(tier_name, index, seed, _sessions(organism, seed), take_census(organism))
    raise InputError(f"no organism out of {MOST_TRIALS} can be rescued.", "Cut again with another version.")


def probe_tasks(key: bytes, specimens: Sequence[Specimen]) -> Iterator[Task]:
    """Yield the tasks of every probe over the organisms with a separable alternative."""
    relevant = [specimen for specimen in specimens if specimen.census.relevant]
    names = {id(case.definition): (s, case) for s in relevant for case in [_case(s, "contrast-sweep")]}
    cases = [case for _, case in names.values()]
    second = [_case(specimen, "random-walk") for specimen in relevant]
    rng = generator(derive(key, "probes", NAME))
    for item in make_items(cases, second, rng):
        yield _probe_task(key, names[id(item.definition)][0], item)


def _case(specimen: Specimen, source: str) -> Case:
    definition = specimen.sessions[REPLAY]
    policy = contrast() if source == "contrast-sweep" else random_walk()
    return Case(definition, specimen.census, read_log(definition, record_session(definition, policy), source))


def record_session(definition: OrganismDefinition, policy: Policy) -> Record:
    """Let a policy play one session and return its record."""
    session = Session(OrganismWorld(definition), Options(setting=_setting(definition), protocol=SESSION))
    policy.start(session.brief, session.tools)
    action = policy.act(None)
    while action is not None:
        reply = session.call(*action, f"a{len(session.events)}")
        action = None if reply.done else policy.act(reply)
    return session.record()


def _sessions(organism: Organism, seed: bytes) -> dict[str, OrganismDefinition]:
    network = organism.network
    made = {}
    for state in (*STATES, REPLAY):
        rng = generator(derive(seed, "session", state))
        names = draw_names(rng, network.visible, network.genes, SIGNALS, PHENOTYPES)
        sick = state != "healthy"
        tasks = draw_tasks(organism, rng, diseased=sick)
        budget = experiment_budget(len(network.visible))
        made[state] = session_definition(organism, names, tasks, budget, diseased=sick)
    return made


def _setting(definition: OrganismDefinition) -> str:
    return f"{'diseased' if definition.diseased else 'healthy'}-{definition.wiring.tier}"


def session_task(key: bytes, specimen: Specimen, state: str) -> Task:
    """Return the task of one organism's healthy or diseased session."""
    definition = specimen.sessions[state]
    row = TaskRow(
        id=opaque_id(key, NAME, specimen.name, state),
        family=NAME,
        setting=_setting(definition),
        protocols=(SESSION,),
        tools={SESSION: tool_names(diseased=definition.diseased)},
        limits={"experiments": float(definition.budget)},
    )
    plans = [(definition.state, definition.plan(task)) for task in definition.tasks]
    values = truth(definition.organism.network, plans)
    answer: dict[str, JSON] = {"predictions": [definition.phenotype_values(row) for row in values]}
    if definition.diseased:
        answer["fault"] = {"target": definition.names[definition.target], "type": definition.fault}
    facets = {"fault": definition.fault, "strict": "yes"} if definition.diseased else {}
    return Task(
        row=row,
        brief=brief(definition),
        definition=definition.model_dump(mode="json"),
        answer=answer,
        seed=specimen.seed.hex(),
        cluster=opaque_id(key, NAME, specimen.name),
        facets=_facets(specimen, state, specimen.tier) | facets,
        link={"organism": specimen.name},
    )


def _probe_task(key: bytes, specimen: Specimen, item: Item) -> Task:
    definition = ProbeDefinition(
        probe=item.probe, item=item.kind, prompt=item.prompt, token_limit=item.token_limit, answer=item.answer
    )
    row = TaskRow(
        id=opaque_id(key, NAME, specimen.name, item.probe, str(item.number)),
        family=NAME,
        setting=item.probe,
        protocols=(ITEM,),
        tools={ITEM: PROBE_TOOLS},
        limits={},
    )
    return Task(
        row=row,
        brief=probe_brief(definition),
        definition=definition.model_dump(mode="json"),
        answer={"answer": item.answer},
        seed=specimen.seed.hex(),
        cluster=opaque_id(key, NAME, specimen.name),
        facets=_facets(specimen, "item", item.kind) | {"evidence": item.evidence},
        link={"organism": specimen.name},
    )


def _facets(specimen: Specimen, variant: str, collection: str) -> dict[str, str]:
    return {
        "variant": variant,
        "strict": "weak-only",
        "collection": collection,
        "tier": specimen.tier,
        "class": specimen.census.ambiguity,
        "relevant": "yes" if specimen.census.relevant else "no",
    }
