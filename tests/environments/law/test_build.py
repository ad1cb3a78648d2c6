"""Building a family's tasks, and the scripted players that are shipped with it."""

from __future__ import annotations

from typing import Any

import pytest

from cards.canonical import canonical_json
from cards.errors import InputError
from environments.checks import play
from environments.law.brief import task_brief
from environments.law.complexity import complexity
from environments.law.definition import LawDefinition
from environments.law.family import LAW
from environments.task import Options, Reply, Task
from tests.environments.examples import BEAM, CARDS, SPRING

KEY = b"k" * 32
PARAMS: dict[str, Any] = {"tier": "easy", "tau": 0.8, "fixed_budget": 8, "call_cap": 40, "eval_points": 32}


def build(**params: Any) -> list[Task]:
    """Build the beam's tasks under some settings."""
    return list(LAW.build([BEAM], params, KEY))


def test_a_card_yields_four_tasks() -> None:
    """Two twins in two settings, each with an id, one seed, one cluster, and the card as its link."""
    tasks = build()
    assert len(tasks) == 4
    kinds = {(task.facets["variant"], task.row.setting) for task in tasks}
    assert kinds == {(v, s) for v in ("original", "counterfactual") for s in ("identification", "discovery")}
    assert len({task.seed for task in tasks}) == len({task.cluster for task in tasks}) == 1
    assert {task.link["card"] for task in tasks} == {"beam_two"}
    assert all(task.row.id not in canonical_json(task.brief).decode() for task in tasks)


def test_settings_reach_the_tasks() -> None:
    """Tier, threshold, preset budget, cap and hidden inputs are the release's choice."""
    for task in build(**PARAMS):
        definition = LawDefinition.model_validate(task.definition)
        assert task.facets["tier"] == "easy"
        assert (definition.tau, definition.call_cap) == (0.8, 40)
        assert len(definition.eval_inputs["w"]) == 32
        assert task.row.protocols == ("prior", "fixed:8", "adaptive")
        assert task.row.limits == {"calls": 40.0}


def test_facets_say_what_a_table_groups_by() -> None:
    """Variant, collection, tier, class, whether exactness is asked for, and how complex the truth is."""
    for task in LAW.build([SPRING], {}, KEY):
        known = LawDefinition.model_validate(task.definition)
        counted = complexity(known.truth())
        assert known.s or (counted.nodes, counted.numbers) == (3, 1)
        assert task.facets == {
            "kinds": known.mutations[0].kind,
            "nodes": str(counted.nodes),
            "constants": str(counted.numbers),
            "variant": task.facets["variant"],
            "collection": "historical",
            "tier": "medium",
            "class": "structural",
            "strict": "yes",
        }


def test_the_answer_binds_twin_relation_and_constants() -> None:
    """What the commitment covers tells which twin holds, its trees, and every constant."""
    for task in build():
        definition = LawDefinition.model_validate(task.definition)
        assert task.answer["s"] == definition.s
        assert task.answer["variant"] == task.facets["variant"]
        assert task.answer["constants"] == definition.constant_values(definition.variant)
        assert set(task.answer["relations"]) == {"b", "p"}


def test_the_sealed_brief_is_what_the_definition_tells() -> None:
    """The brief in the release is made from the definition alone."""
    for task in build():
        assert task.brief == task_brief(LawDefinition.model_validate(task.definition), task.row.setting)


def test_only_identification_has_candidates() -> None:
    """Discovery is given no candidate expression."""
    for task in build():
        assert ("candidates" in task.brief) is (task.row.setting == "identification")


def test_two_cards_with_one_id_are_refused() -> None:
    """A repeated id would give two tasks one id; the error names it."""
    with pytest.raises(InputError, match="beam_two"):
        LAW.build([BEAM, SPRING, BEAM], {}, KEY)


def test_a_familys_tasks_do_not_depend_on_its_neighbours() -> None:
    """A card alone and among others gives the same tasks, so that a new card moves no old one."""
    alone = {task.row.id: task for task in build()}
    among = {task.row.id: task for task in LAW.build(CARDS, {}, KEY)}
    assert all(among[key] == task for key, task in alone.items())


@pytest.mark.parametrize(
    ("protocol", "actions"),
    [
        ("prior", ["complete"]),
        ("fixed:4", ["read_observations", "complete"]),
        ("adaptive", ["propose_experiment", "complete"]),
    ],
)
def test_the_reference_plays_by_the_rules(protocol: str, actions: list[str]) -> None:
    """It looks once where it can, keeps the stopping rule, and completes with full marks."""
    for task in build():
        options = Options(setting=task.row.setting, protocol=protocol)
        record = play(LAW, task, options, LAW.reference(task.definition, options))
        assert [event.tool for event in record.events] == actions
        assert all(event.outcome == "succeeded" for event in record.events)
        score = LAW.judge(task.definition, record)
        assert (score.headline, score.protocol_ok) == (1.0, True)
        assert score.passed == {"weak": True, "strict": True}


def test_the_null_player_completes_and_fails() -> None:
    """It keeps all rules, knows nothing, and scores next to nothing under every protocol."""
    for task in build():
        for protocol in task.row.protocols:
            options = Options(setting=task.row.setting, protocol=protocol)
            record = play(LAW, task, options, LAW.null(options))
            score = LAW.judge(task.definition, record)
            assert record.ending == "completed"
            assert score.protocol_ok is True
            assert score.headline is not None
            assert score.headline < 0.05
            assert score.passed == {"weak": False, "strict": False}


@pytest.mark.parametrize("tau", [0.55, 0.999])
def test_scripted_players_keep_any_threshold(tau: float) -> None:
    """Whatever threshold a release sets, reference and null player complete above it."""
    for task in build(tau=tau):
        options = Options(setting=task.row.setting, protocol="adaptive")
        for player in (LAW.reference(task.definition, options), LAW.null(options)):
            assert LAW.judge(task.definition, play(LAW, task, options, player)).protocol_ok is True


def test_a_player_that_is_refused_stops() -> None:
    """A scripted player whose action is refused gives up instead of trying for ever."""
    task = build()[0]
    options = Options(setting=task.row.setting, protocol="adaptive")
    player = LAW.reference(task.definition, options)
    world = LAW.open(task.definition, options, b"")
    player.start(world.brief, world.tools)
    assert player.act(None) is not None
    assert player.act(Reply(ok=False, remaining={}, done=False)) is None
