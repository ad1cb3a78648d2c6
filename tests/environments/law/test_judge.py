"""The judge: prediction score, weak and strict success, invalid, missing, undetermined."""

from __future__ import annotations

import numpy as np
import pytest

from cards.document import tree_document
from cards.expression import Apply, Number, Tree, Variable
from environments.law.analyses import analyses
from environments.law.definition import LawDefinition
from environments.law.judge import judge
from environments.task import JSON, Record, Score
from tests.environments.examples import completion, definition, open_session, options, proposal, submit

KNOWN = definition()
TRUTH: dict[str, JSON] = {name: tree_document(tree) for name, tree in KNOWN.truth().items()}


def scored(predictor: JSON, known: LawDefinition = KNOWN, protocol: str = "prior", **more: float) -> Score:
    """Judge a predictor submitted at once."""
    return judge(known, submit(known, predictor, options(protocol), **more))


def plus(tree: Tree, other: Tree) -> JSON:
    """Return tree + other as a document."""
    return tree_document(Apply("add", (tree, other)))


def test_the_truth_scores_one_and_is_strict() -> None:
    """The exact relation has S = 1, no error, and both successes."""
    score = scored(TRUTH)
    assert score.status == "scored"
    assert score.headline == 1.0
    assert score.passed == {"weak": True, "strict": True}
    assert score.parts == {"prediction": 1.0, "max_e": 0.0, "mean_e": 0.0, "experiments": 0.0}
    assert score.protocol_ok is True
    assert score.findings == ()


def test_the_score_is_the_papers_formula() -> None:
    """S = 1/(1 + mean e) with e = |ĝ − g|/(a_r + λ|g|), over hidden inputs and observables alike."""
    truth = KNOWN.truth()
    score = scored({"b": TRUTH["b"], "p": plus(truth["p"], Number(0.3))})
    exact = KNOWN.respond(KNOWN.columns(KNOWN.eval_inputs))["p"]
    errors = np.concatenate([np.zeros(256), 0.3 / (1e-3 + 0.01 * np.abs(exact))])
    assert score.headline == pytest.approx(1 / (1 + errors.mean()))
    assert score.parts["max_e"] == pytest.approx(errors.max())
    assert score.passed == {"weak": False, "strict": False}


def test_errors_are_against_the_unrounded_truth() -> None:
    """A predictor of the rounded readings is close, and not exact."""
    score = scored({"b": TRUTH["b"], "p": plus(KNOWN.truth()["p"], Number(1e-7))})
    assert 0 < score.parts["max_e"] < 1e-4
    assert score.passed == {"weak": True, "strict": False}


def test_told_parameters_may_be_named_or_written() -> None:
    """A submission may say g by name or by its value."""
    from cards.expression import bind

    written = {name: tree_document(bind(tree, {"g": 1.6021})) for name, tree in KNOWN.truth().items()}
    assert scored(written).passed == {"weak": True, "strict": True}


@pytest.mark.parametrize(
    ("predictor", "path"),
    [
        ({"b": TRUTH["b"]}, "p"),
        (TRUTH | {"z": 1}, "z"),
        (TRUTH | {"b": {"op": "nope", "args": [1]}}, "b"),
        (TRUTH | {"b": {"op": "add", "args": [1, {"var": "h"}]}}, "b.args[1]"),
        (TRUTH | {"b": {"op": "add", "args": [1, {"op": "sqrt", "args": []}]}}, "b.args[1]"),
        (TRUTH | {"b": None}, "b"),
        (TRUTH | {"b": {"op": "mul", "args": [0, {"op": "div", "args": [1, 0]}]}}, "b.args[1]"),
        (TRUTH | {"b": {"op": "log", "args": [{"op": "sub", "args": [{"var": "w"}, 1]}]}}, "b"),
        (TRUTH | {"p": {"op": "exp", "args": [{"op": "exp", "args": [{"var": "q"}]}]}}, "p"),
    ],
)
def test_a_predictor_that_cannot_be_evaluated_is_invalid(predictor: JSON, path: str) -> None:
    """Invalid names the offending path, has no score, fails both, and tells no hidden input."""
    score = scored(predictor)
    assert score.status == "invalid"
    assert score.headline is None
    assert score.passed == {"weak": False, "strict": False}
    assert score.findings[0].startswith(f"{path}: ")
    hidden = {f"{value:.6g}" for column in KNOWN.eval_inputs.values() for value in column}
    assert not [value for value in hidden if value in score.findings[0] and len(value) > 4]


def test_a_thousand_nodes_are_shared() -> None:
    """The node limit is over all observables together."""
    wide: JSON = {"op": "add", "args": [1] * 600}
    score = scored({"b": wide, "p": wide})
    assert score.status == "invalid"
    assert "1024" in score.findings[0]


def test_huge_errors_stay_finite() -> None:
    """A predictor that is finite and absurd scores next to nothing, with finite parts."""
    score = scored(TRUTH | {"p": 1.7e308})
    assert score.status == "scored"
    assert score.headline is not None
    assert score.headline < 1e-250
    assert np.isfinite(list(score.parts.values())).all()


def test_a_broken_stopping_rule_keeps_the_score_and_fails() -> None:
    """A completion below the threshold is scored, and succeeds neither weakly nor strictly."""
    score = scored(TRUTH, protocol="adaptive", confidence=0.89)
    assert score.headline == 1.0
    assert score.protocol_ok is False
    assert score.passed == {"weak": False, "strict": False}
    assert scored(TRUTH, protocol="adaptive", confidence=0.9).passed == {"weak": True, "strict": True}


@pytest.mark.parametrize("protocol", ["prior", "fixed:4"])
def test_only_adaptive_has_a_stopping_rule(protocol: str) -> None:
    """Elsewhere any confidence may be submitted."""
    assert scored(TRUTH, protocol=protocol, confidence=0.5).passed == {"weak": True, "strict": True}


def test_a_weak_only_family_is_not_asked_for_exactness() -> None:
    """Strict is null where a family is weak-only, whatever was submitted."""
    known = KNOWN.model_copy(update={"strict": False})
    assert scored(TRUTH, known).passed == {"weak": True, "strict": None}
    assert scored({"b": 0, "p": 0}, known).passed == {"weak": False, "strict": None}
    assert scored({"b": 0}, known).passed == {"weak": False, "strict": None}


def test_what_cannot_be_decided_is_undetermined_with_a_reason() -> None:
    """Weakly right and beyond the decision's budget of work: neither strict nor not, and it says why."""
    term: Tree = Variable("w")
    for _ in range(9):
        term = Apply("sin", (Apply("add", (term, Number(1e-9))),))
    tiny = Apply("mul", (Number(1e-9), Apply("round", (Apply("mul", (Number(1e9), term)),))))
    zero = Apply("sub", (tiny, tiny))
    score = scored(TRUTH | {"p": plus(KNOWN.truth()["p"], zero)})
    assert score.passed["weak"] is True
    if score.status == "undetermined":
        assert score.passed["strict"] is None
        assert score.findings[0].startswith("p: ")
    else:
        assert score.passed["strict"] is True


def test_a_record_without_completion_is_missing() -> None:
    """No completion: missing, nothing passed, the experiments still counted."""
    session = open_session(KNOWN, options("adaptive"))
    session.call("propose_experiment", proposal(KNOWN), "a")
    score = judge(KNOWN, session.record("call_cap"))
    assert score.status == "missing"
    assert score.headline is None
    assert score.passed == {"weak": False, "strict": False}
    assert score.parts == {"experiments": 1.0}


def played() -> Record:
    """Return an adaptive record: accepted, refused, accepted, complete."""
    session = open_session(KNOWN, options("adaptive"))
    session.call("propose_experiment", proposal(KNOWN, (1.0, 2.0)), "a")
    session.call("propose_experiment", proposal(KNOWN, (1.0, 1.0)), "b")
    session.call("propose_experiment", proposal(KNOWN, (3.0, 5.0)), "c")
    session.call("complete", completion(TRUTH), "d")
    return session.record()


def test_analyses_count_and_follow_beliefs() -> None:
    """Experiments, refusals, confidences over experiments, and forecasts against readings."""
    found = analyses(KNOWN, played())
    assert found["experiments"] == 2
    assert found["calls"] == 4
    assert found["refused"] == 1
    assert [step["experiments"] for step in found["confidences"]] == [0, 1, 2]
    assert found["confidences"][-1]["top"] == 0.95
    read = played().events[0].reply.data["observations"]
    expected = max(abs(1.0 - read[n]) / (1e-3 + 0.01 * abs(read[n])) for n in ("b", "p"))
    assert found["forecast_errors"][0]["errors"]["h0"] == pytest.approx(expected)
    assert found["capped"] is False


def test_fixed_counts_the_batch_once_it_is_read() -> None:
    """Under fixed the experiments are those that were read, none if they were not."""
    session = open_session(KNOWN, options("fixed:8"))
    assert analyses(KNOWN, session.record())["experiments"] == 0
    session.call("read_observations", {}, "a")
    session.call("read_observations", {}, "b")
    assert analyses(KNOWN, session.record())["experiments"] == 8
