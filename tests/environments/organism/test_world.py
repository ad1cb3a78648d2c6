"""Sessions: tools, budget, locks, and bad input that costs nothing."""

from __future__ import annotations

from typing import Any

import pytest

from cards.canonical import canonical_json
from environments.organism.definition import OrganismDefinition
from environments.organism.measure import measure
from tests.environments.organism.made import Player, definition, session, specimens


def values(known: OrganismDefinition, level: float = 0.5) -> dict[str, float]:
    return dict.fromkeys(known.phenotypes, level)


def first(known: OrganismDefinition) -> str:
    return known.visible[0]


def diagnose(player: Player, known: OrganismDefinition) -> None:
    assert player("submit_malfunction_hypothesis", target=first(known), type="LOCK_HI").ok


def test_an_experiment_reads_every_phenotype_for_one_unit() -> None:
    """A reading names every phenotype, costs one experiment, and repeats itself."""
    known = definition()
    player = Player(known)
    one, again = player.run(**{first(known): "BLOCK"}), player.run(**{first(known): "BLOCK"})
    expected = measure(known.organism, [known.plan({first(known): "BLOCK"})])[0]
    assert one.data == again.data == {"phenotypes": known.phenotype_values(expected)}
    assert again.remaining == {"experiments": known.budget - 2}


def test_healthy_and_diseased_sessions_read_different_organisms() -> None:
    """A healthy session simulates without the fault, and offers neither diagnosis nor rescue."""
    known = definition("healthy")
    tools = {tool.name for tool in session(known).tools}
    assert tools == {"run_experiment", "get_status", "submit_prediction", "finish"}
    assert "aberrant" not in session(known).brief
    expected = measure(known.organism, [known.plan({first(known): "BOOST"})], diseased=False)[0]
    assert Player(known).run(**{first(known): "BOOST"}).data["phenotypes"] == known.phenotype_values(expected)


BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("run_experiment", {"interventions": {"G999": "BLOCK"}}, "unknown_target", "targets are"),
    ("run_experiment", {"interventions": {"{gene}": "ON"}}, "illegal_action", "BLOCK, BOOST, DAMPEN"),
    ("run_experiment", {"interventions": {"{gene}": "block"}}, "illegal_action", "legal"),
    ("run_experiment", {"interventions": {"{signal}": "BLOCK"}}, "illegal_action", "legal: ON"),
    ("run_experiment", {"interventions": {}}, "empty", "at least one"),
    ("run_experiment", {"interventions": "{task}"}, "held_out", "prediction task"),
    ("run_experiment", {}, "malformed", "required"),
    ("run_experiment", {"interventions": {"{gene}": 1}}, "malformed", "string"),
    ("test_rescue", {"interventions": {"{gene}": "BLOCK"}}, "locked", "hypothesis first"),
    (
        "submit_prediction",
        {"task": "prediction-9", "values": {}},
        "unknown_task",
        "prediction-1, predict",
    ),
    ("submit_prediction", {"task": "prediction-1", "values": {}}, "missing_value", "missing"),
    ("submit_prediction", {"task": "prediction-1", "values": "{high}"}, "out_of_range", "between 0 and 1"),
    ("submit_prediction", {"task": "prediction-1", "values": "{low}"}, "out_of_range", "between 0 and 1"),
    ("submit_prediction", {"task": "prediction-1", "values": "{more}"}, "unknown_phenotype", "no phenotype"),
    ("submit_prediction", {"task": "prediction-1"}, "malformed", "required"),
    ("submit_prediction", {"values": {}}, "malformed", "required"),
    ("submit_malfunction_hypothesis", {"target": "G999", "type": "LOCK_HI"}, "unknown_target", "targets are"),
    ("submit_malfunction_hypothesis", {"target": "{gene}", "type": "PERSIST"}, "illegal_type", "LOCK_HI or"),
    ("submit_malfunction_hypothesis", {"target": "{signal}", "type": "LOCK_HI"}, "illegal_type", "PERSIST"),
    ("submit_malfunction_hypothesis", {"target": "{gene}", "type": "BROKEN"}, "illegal_type", "LOCK_LO"),
    ("get_status", {"all": True}, "malformed", "extra"),
    ("finish", {"now": True}, "malformed", "extra"),
]


@pytest.mark.parametrize(("tool", "args", "code", "words"), BAD)
def test_bad_input_is_a_clear_error_that_costs_nothing(
    tool: str, args: dict[str, Any], code: str, words: str
) -> None:
    """Each is refused with its reason, costs nothing, locks nothing, and is in the record."""
    known = definition()
    player = Player(known)
    filled = fill(known, args)
    reply = player(tool, **filled)
    assert not reply.ok
    assert reply.error is not None
    assert reply.error.code == code
    assert words in reply.error.message.lower() or words in reply.error.message
    assert reply.remaining == {"experiments": known.budget}
    assert not reply.done
    assert len(player.session.events) == 1
    assert player("submit_prediction", task="prediction-1", values=values(known)).ok
    diagnose(player, known)


def fill(known: OrganismDefinition, args: dict[str, Any]) -> dict[str, Any]:
    """Put the organism's own names where the table has braces."""
    wholes: dict[str, Any] = {
        "{task}": dict(known.tasks[0]),
        "{high}": values(known) | {known.phenotypes[0]: 1.01},
        "{low}": values(known) | {known.phenotypes[2]: -0.01},
        "{more}": values(known) | {"growth": 0.5},
    }
    names = {"{gene}": first(known), "{signal}": known.signals[0]}

    def one(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): one(item) for key, item in value.items()}
        return wholes.get(value, names.get(value, value)) if isinstance(value, str) else value

    return {key: one(value) for key, value in args.items()}


def test_the_budget_ends_experiments_but_not_the_session() -> None:
    """The experiment after the last is refused without cost; predictions and diagnosis still go through."""
    known = definition("diseased", "hard")
    player = Player(known)
    assert known.budget == 27
    for number in range(known.budget):
        assert player.run(**{known.visible[number % 17]: "BLOCK"}).ok
    reply = player.run(**{first(known): "BOOST"})
    assert reply.error is not None
    assert reply.error.code == "budget"
    assert reply.remaining == {"experiments": 0}
    assert player("submit_prediction", task="prediction-1", values=values(known)).ok
    diagnose(player, known)
    late = player("test_rescue", interventions={first(known): "BLOCK"})
    assert late.error is not None
    assert late.error.code == "budget"


def test_diagnosis_is_irrevocable_and_unlocks_rescue() -> None:
    """A second hypothesis is refused and free, the first stands; rescues are open from then on."""
    known = definition()
    player = Player(known)
    diagnose(player, known)
    again = player("submit_malfunction_hypothesis", target=known.signals[0], type="PERSIST")
    assert again.error is not None
    assert again.error.code == "already_submitted"
    rescue = player("test_rescue", interventions={first(known): "BLOCK"})
    assert rescue.ok
    assert set(rescue.data["restored"]) == set(known.phenotypes)
    assert rescue.data["mse"] >= 0
    assert rescue.remaining == {"experiments": known.budget - 1}
    assert player("get_status").data["hypothesis_submitted"] is True


def test_a_prediction_counts_once() -> None:
    """The second submission of a task is refused and free; no score ever comes back."""
    known = definition()
    player = Player(known)
    reply = player("submit_prediction", task="prediction-1", values=values(known))
    assert reply.data == {"accepted": True}
    again = player("submit_prediction", task="prediction-1", values=values(known, 0.1))
    assert again.error is not None
    assert again.error.code == "already_submitted"
    assert again.remaining == {"experiments": known.budget}


def test_a_held_out_combination_is_refused_as_a_rescue_too() -> None:
    """What is to be predicted cannot be looked up through test_rescue either."""
    known = definition()
    player = Player(known)
    diagnose(player, known)
    reply = player("test_rescue", interventions=dict(known.tasks[1]))
    assert reply.error is not None
    assert reply.error.code == "held_out"


def test_the_brief_tells_what_the_paper_tells() -> None:
    """Names, phenotypes, ranges, baseline, tasks and budget; the range's width is .26 where not cut off."""
    for specimen in specimens():
        told = session(specimen.sessions["diseased"]).brief
        assert len(told["genes"]) == (17 if specimen.tier == "hard" else 20)
        assert (len(told["signals"]), len(told["phenotypes"]), len(told["prediction_tasks"])) == (3, 3, 2)
        assert told["aberrant"]
        for task in told["prediction_tasks"].values():
            assert len(task) == 3
            assert set(task) <= set(told["genes"])
        for low, high in told["healthy_ranges"].values():
            assert high - low == pytest.approx(0.26, abs=2e-4) or low == 0 or high == 1


def test_names_are_drawn_anew_for_each_session() -> None:
    """The healthy, the diseased and the probes' sessions of one organism cannot be joined by their names."""
    for specimen in specimens():
        known = [specimen.sessions[state] for state in ("healthy", "diseased", "replay")]
        assert len({canonical_json(list(one.genes)) for one in known}) == 3
        assert len({one.phenotypes for one in known}) == 3
