"""The three protocols, as a player meets them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cards.errors import InputError
from environments.law.oracle import observe
from environments.law.protocol import BUDGETS, normal_statement, read_protocol
from environments.task import JSON, Reply
from tests.environments.examples import (
    BEAM,
    LEVELS,
    completion,
    definition,
    open_session,
    options,
    proposal,
)

BEAM_DEFINITION = definition()


def ask(args: JSON, *, known: Any = BEAM_DEFINITION) -> Reply:
    """Send one proposal to a fresh adaptive session."""
    return open_session(known, options("adaptive")).call("propose_experiment", args, "k")


def refusal(args: JSON, **more: Any) -> tuple[str, str]:
    """Send one proposal that is refused; return code and path."""
    reply = ask(args, **more)
    assert not reply.ok
    assert reply.data is None
    assert reply.error is not None
    assert reply.remaining == {"calls": 511}
    return reply.error.code, reply.error.path


def hypotheses(*confidences: float, forecasts: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0)) -> list[JSON]:
    """Return hypotheses with these confidences and distinct forecasts."""
    return [
        {
            "id": f"h{i}",
            "statement": f"statement {i}",
            "confidence": confidence,
            "forecasts": {"b": forecasts[i], "p": forecasts[i]},
        }
        for i, confidence in enumerate(confidences)
    ]


def test_an_accepted_proposal_returns_what_was_asked_for() -> None:
    """Observations of the requested observables, rounded, and nothing else."""
    known = BEAM_DEFINITION
    inputs = {"w": 1.25, "q": 3.0}
    forecasts = [{**h, "forecasts": {"p": h["forecasts"]["p"]}} for h in hypotheses(0.5, 0.5)]
    reply = ask({"hypotheses": forecasts, "inputs": inputs, "observables": ["p"], "rationale": "to see"})
    seen = observe(known, known.columns({name: [value] for name, value in inputs.items()}))
    assert reply.ok
    assert reply.data == {"observations": {"p": float(seen["p"][0])}}
    assert reply.remaining == {"calls": 511}


def test_ends_of_the_domain_are_inside() -> None:
    """The printed domain is closed."""
    for inputs in ({"w": 0.5, "q": 2.0}, {"w": 2.0, "q": 9.0}, {"w": 2, "q": 9}):
        assert ask(proposal(BEAM_DEFINITION, inputs=inputs)).ok


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"inputs": {"w": 0.49, "q": 3.0}}, "domain", "inputs"),
        ({"inputs": {"w": 1.0}}, "inputs", "inputs"),
        ({"inputs": {"w": 1.0, "q": 3.0, "z": 1.0}}, "inputs", "inputs"),
        ({"inputs": {"w": "1.0", "q": 3.0}}, "malformed", "inputs.w"),
        ({"inputs": {"w": True, "q": 3.0}}, "malformed", "inputs.w"),
        ({"observables": ["b", "x"]}, "observables", "observables[1]"),
        ({"observables": ["b", "b"]}, "observables", "observables[1]"),
        ({"observables": []}, "malformed", "observables"),
        ({"observables": ["b"]}, "forecasts", "hypotheses[0].forecasts"),
        ({"extra": 1}, "malformed", "extra"),
        ({"hypotheses": []}, "malformed", "hypotheses"),
        ({"hypotheses": hypotheses(1.0)}, "malformed", "hypotheses"),
        ({"hypotheses": hypotheses(0.5, 0.4)}, "confidences", "hypotheses"),
        ({"hypotheses": hypotheses(0.5, 0.500002)}, "confidences", "hypotheses"),
        ({"hypotheses": hypotheses(1.5, -0.5)}, "malformed", "hypotheses[0].confidence"),
        ({"hypotheses": hypotheses(0.1, 0.9)}, "stopping_rule", "hypotheses[1].confidence"),
        ({"hypotheses": hypotheses(0.5, 0.5, forecasts=(1.0, 1.0))}, "hypotheses", "hypotheses"),
        ({"hypotheses": hypotheses(0.5, 0.5, forecasts=(1.0, 1.0105))}, "hypotheses", "hypotheses"),
    ],
)
def test_a_proposal_that_breaks_a_rule_is_refused(changes: JSON, code: str, path: str) -> None:
    """Each breach has its code and the path to it, no observation, one call charged."""
    assert refusal(proposal(BEAM_DEFINITION, **changes)) == (code, path)


def test_hypotheses_differ_in_words_and_in_numbers() -> None:
    """Two statements that differ only in case, width, spaces or a full stop are one hypothesis."""
    same = hypotheses(0.5, 0.5)
    same[0]["statement"], same[1]["statement"] = "The force  grows with x.", "the force grows with Ｘ"
    assert refusal(proposal(BEAM_DEFINITION, hypotheses=same))[0] == "hypotheses"


def test_one_different_pair_among_many_is_enough() -> None:
    """A third hypothesis may repeat another; at least two must be different."""
    three = hypotheses(0.3, 0.3, 0.4, forecasts=(1.0, 1.0, 5.0))
    assert ask(proposal(BEAM_DEFINITION, hypotheses=three)).ok


def test_ids_are_unique() -> None:
    """A repeated id is refused with the path to the second."""
    twice = hypotheses(0.5, 0.5)
    twice[1]["id"] = "h0"
    assert refusal(proposal(BEAM_DEFINITION, hypotheses=twice)) == ("hypotheses", "hypotheses[1].id")


def test_forecasts_are_finite_numbers_for_what_is_asked() -> None:
    """A forecast that is missing or about something else is refused."""
    for forecasts in ({"b": 1.0}, {"b": 1.0, "p": 1.0, "x": 1.0}):
        wrong = hypotheses(0.5, 0.5)
        wrong[1]["forecasts"] = forecasts
        assert refusal(proposal(BEAM_DEFINITION, hypotheses=wrong)) == (
            "forecasts",
            "hypotheses[1].forecasts",
        )
    wrong = hypotheses(0.5, 0.5)
    wrong[1]["forecasts"]["b"] = None
    assert refusal(proposal(BEAM_DEFINITION, hypotheses=wrong))[0] == "malformed"


def test_whole_inputs_and_constraints() -> None:
    """An integer input takes whole values, and a broken constraint is named as printed."""
    known = definition(card=LEVELS)
    assert ask(proposal(known, inputs={"a": 1, "b": 4, "s": 2.5}), known=known).ok
    assert refusal(proposal(known, inputs={"a": 1.5, "b": 4, "s": 2.5}), known=known)[0] == "domain"
    reply = ask(proposal(known, inputs={"a": 3, "b": 3, "s": 2.5}), known=known)
    assert reply.error is not None
    assert "b > a" in reply.error.message


@given(st.lists(st.floats(0, 1), min_size=2, max_size=4))
def test_the_threshold_is_strict(parts: list[float]) -> None:
    """Confidences that sum to one are accepted exactly while every one is below the threshold."""
    total = sum(parts)
    if total < 0.1:
        return
    confidences = [part / total for part in parts]
    reply = ask(proposal(BEAM_DEFINITION, hypotheses=hypotheses(*confidences)))
    assert reply.ok is all(confidence < 0.9 for confidence in confidences)


def test_fixed_reads_the_same_batch_each_time() -> None:
    """Reading is repeatable, and the batch has the protocol's size."""
    for budget in BUDGETS:
        session = open_session(BEAM_DEFINITION, options(f"fixed:{budget}"))
        first, second = (session.call("read_observations", {}, key) for key in "ab")
        assert first.data == second.data
        assert len(first.data["experiments"]) == budget
        assert not session.call("read_observations", {"n": 1}, "c").ok


def test_fixed_designs_are_equal_for_twins() -> None:
    """Twins are read at the same inputs and show different values."""
    batches = [
        open_session(definition(variant), options("fixed:4")).call("read_observations", {}, "k").data
        for variant in ("original", "counterfactual")
    ]
    inputs = [[row["inputs"] for row in batch["experiments"]] for batch in batches]
    assert inputs[0] == inputs[1]
    assert batches[0] != batches[1]


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        ("prior", ["complete"]),
        ("fixed:4", ["read_observations", "complete"]),
        ("adaptive", ["propose_experiment", "complete"]),
    ],
)
def test_a_protocol_has_its_tools_and_no_others(protocol: str, names: list[str]) -> None:
    """No experiment under prior, only preset ones under fixed, only proposed ones under adaptive."""
    session = open_session(BEAM_DEFINITION, options(protocol))
    assert [tool.name for tool in session.tools] == names
    for other in {"read_observations", "propose_experiment"} - set(names):
        reply = session.call(other, {}, other)
        assert reply.error is not None
        assert reply.error.code == "unknown_tool"


@pytest.mark.parametrize("text", ["", "fixed", "fixed:3", "fixed:04", "fixed:-1", "Prior", "adaptive:2"])
def test_other_protocols_do_not_exist(text: str) -> None:
    """A protocol is named exactly; the error lists those that exist."""
    with pytest.raises(InputError, match="fixed:16"):
        read_protocol(text)


GOOD = completion({"b": 1, "p": 2})


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"selected": "h3"}, "selected", "selected"),
        ({"predictor": [1]}, "malformed", "predictor"),
        ({"explanation": ""}, "malformed", "explanation"),
        ({"conditions": "none"}, "malformed", "conditions"),
        ({"hypotheses": []}, "malformed", "hypotheses"),
        ({"hypotheses": [{"id": "h1", "statement": "x", "confidence": 0.8}]}, "confidences", "hypotheses"),
        ({"more": 1}, "malformed", "more"),
    ],
)
@pytest.mark.parametrize("protocol", ["prior", "fixed:4", "adaptive"])
def test_a_malformed_completion_does_not_commit(protocol: str, changes: JSON, code: str, path: str) -> None:
    """A broken envelope is refused with its place, the session goes on, and a good one still commits."""
    session = open_session(BEAM_DEFINITION, options(protocol))
    reply = session.call("complete", GOOD | changes, "a")
    assert reply.error is not None
    assert (reply.error.code, reply.error.path) == (code, path)
    assert not session.done
    assert session.call("complete", GOOD, "b").data == {"accepted": True}


def test_adaptive_completions_report_two_hypotheses() -> None:
    """Under adaptive every report holds at least two different hypotheses; elsewhere one is enough."""
    one = {"hypotheses": [{"id": "h1", "statement": "x", "confidence": 1.0}]}
    assert open_session(BEAM_DEFINITION, options("prior")).call("complete", GOOD | one, "a").ok
    assert not open_session(BEAM_DEFINITION, options("adaptive")).call("complete", GOOD | one, "a").ok


@pytest.mark.parametrize(
    "predictor",
    [{}, {"b": "text"}, {"b": {"op": "nope", "args": []}, "p": 1}, {"b": None, "p": [[[]]]}, {"z": 1}],
)
def test_an_unreadable_predictor_commits_all_the_same(predictor: JSON) -> None:
    """Nothing is said about a predictor in the episode: the acknowledgement is always the same."""
    reply = open_session(BEAM_DEFINITION, options()).call("complete", completion(predictor), "k")
    assert reply.ok
    assert reply.data == {"accepted": True}
    assert reply.done


def test_calls_are_capped() -> None:
    """A run ends by itself when its calls are used up."""
    known = BEAM_DEFINITION.model_copy(update={"call_cap": 3})
    session = open_session(known, options("adaptive"))
    for number in range(3):
        session.call("propose_experiment", {}, str(number))
    assert session.record().ending == "call_cap"


def test_the_brief_does_not_depend_on_the_truth() -> None:
    """A Discovery brief is the same bytes whatever the relation, its constants and its twin are."""
    other = BEAM_DEFINITION.model_copy(
        update={
            "s": 0,
            "relations": dict.fromkeys(BEAM_DEFINITION.relations, BEAM.observables[0].relation),
            "constants": tuple(
                item.model_copy(update={"original": 7.0, "counterfactual": 9.0})
                for item in BEAM_DEFINITION.constants
            ),
            "certificates": (),
            "mutations": (),
        }
    )
    for protocol in ("prior", "fixed:4", "adaptive"):
        briefs = [open_session(one, options(protocol)).brief for one in (BEAM_DEFINITION, other)]
        assert briefs[0] == briefs[1]


def test_normal_statements() -> None:
    """Normalising folds case, compatibility forms, white space and closing punctuation, nothing else."""
    assert normal_statement("  F ∝ x².\n") == normal_statement("f ∝ X2")
    assert normal_statement("F = x") != normal_statement("F = -x")
