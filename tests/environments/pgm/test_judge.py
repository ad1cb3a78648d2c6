"""Scoring as section 5 of the specification says, for every form of answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from environments.pgm.family import PGM
from environments.pgm.question import CHOICES, Effect
from environments.pgm.rules import accepted
from environments.task import JSON, Score, Task
from tests.environments.pgm.sets import definition, full_set, one, open_session, small_set


def scored(task: Task, answer: JSON) -> Score:
    """Answer at once and judge."""
    session = open_session(task)
    reply = session.call("answer", {"answer": answer}, "a")
    assert reply.ok, reply.error
    assert session.done
    return PGM.judge(task.definition, session.record())


def actions(task: Task) -> Iterator[tuple[Effect, JSON]]:
    """Every legal action of a choice with the words for it."""
    known = definition(task)
    for effect in known.truth.effects:
        variable = known.variables[effect.node]
        yield effect, {"variable": variable.name, "state": variable.states[effect.state]}


def test_the_gold_answer_is_right_everywhere() -> None:
    """Every task's committed answer scores full marks, weakly and strictly."""
    for task in full_set():
        score = scored(task, task.answer)
        assert score.status == "scored"
        assert score.headline == 1.0
        assert score.passed == {"weak": True, "strict": True}


@pytest.mark.parametrize("kind", ["causal_effect", "marginal", "conditional"])
def test_yes_and_no(kind: str) -> None:
    """One answer is right; words in any case and booleans are understood; what was said is logged."""
    task = one(kind)
    wrong = {"yes": "no", "no": "yes"}[task.answer]
    assert scored(task, wrong).passed == {"weak": False, "strict": False}
    assert scored(task, task.answer.upper()).passed["weak"]
    assert scored(task, task.answer == "yes").passed["weak"]
    assert scored(task, "yes").parts["said_yes"] == 1.0
    assert scored(task, "no").parts["said_yes"] == 0.0


@pytest.mark.parametrize("kind", ["all_causes_of", "all_effects_of"])
def test_lists(kind: str) -> None:
    """Exact match in any order and case; F1 is 2|P and G| / (|P| + |G|); unknown names are invalid."""
    task = one(kind)
    gold: list[str] = task.answer
    names = [name for name in definition(task).names if name not in gold]
    assert scored(task, [*gold[::-1], gold[0].upper()]).passed["weak"]
    most = scored(task, gold[1:])
    assert most.parts["f1"] == pytest.approx(2 * (len(gold) - 1) / (2 * len(gold) - 1))
    assert most.headline == most.parts["f1"]
    assert most.passed == {"weak": False, "strict": False}
    assert scored(task, [*gold, names[0]]).parts["f1"] == pytest.approx(2 * len(gold) / (2 * len(gold) + 1))
    assert scored(task, []).headline == 0.0
    assert scored(task, names).headline == 0.0
    assert scored(task, ["NoSuchVariable"]).status == "invalid"


def test_two_empty_lists_agree() -> None:
    """Nothing named where nothing is to be named is exact, with F1 one."""
    task = one("all_causes_of")
    empty = task.definition | {"truth": task.definition["truth"] | {"nodes": []}}
    score = scored(task.model_copy(update={"definition": empty}), [])
    assert score.headline == 1.0
    assert score.passed["weak"]


@pytest.mark.parametrize("kind", ["mediated_only", "direct_and_mediated", "not_mediator"])
def test_mediator_labels(kind: str) -> None:
    """Exactly one of the three labels is right."""
    task = one(kind)
    for label in ("entirely_through", "also_direct_or_other", "not_through"):
        assert scored(task, label).passed["weak"] == (label == task.answer)


def test_which_mediator() -> None:
    """Exactly one variable is right."""
    task = one("which_mediator")
    right = [name for name in definition(task).names if scored(task, name).passed["weak"]]
    assert right == [task.answer]
    assert scored(task, "NoSuchVariable").status == "invalid"


@pytest.mark.parametrize("kind", ["safety", "satisficing", "subgroup"])
def test_choices(kind: str) -> None:
    """An action is right when the rule accepts its exact effect; strictly when it is a gold action."""
    task = one(kind)
    known = definition(task)
    table = {effect.action: effect for effect in known.truth.effects}
    gold = [table[action] for action in known.truth.best]
    for effect, words in actions(task):
        score = scored(task, words)
        assert score.passed["weak"] == accepted(known.question, effect, gold)
        assert score.passed["strict"] == (effect.action in known.truth.best)
        assert score.headline == float(bool(score.passed["weak"]))
    best = task.answer
    assert scored(task, f"{best['variable']}={best['state']}").passed["strict"]
    assert scored(task, f"do({best['variable']} = {best['state'].lower()})").passed["strict"]


@pytest.mark.parametrize("kind", CHOICES)
def test_what_may_not_be_set_is_invalid(kind: str) -> None:
    """The target, a forbidden variable, an unknown name or state: committed, and judged invalid."""
    task = one(kind)
    known = definition(task)
    fixed = next(v for v in known.variables if not v.intervenable)
    target = known.variables[known.question.outcome]
    free = next(v for v in known.variables if v.intervenable)
    for variable, state in (
        (fixed.name, fixed.states[0]),
        (target.name, target.states[0]),
        ("NoSuchVariable", "x"),
        (free.name, "NoSuchState"),
    ):
        answer: JSON = {"variable": variable, "state": state}
        score = scored(task, {"reject": True, "alternative": answer} if kind == "invalid" else answer)
        assert score.status == "invalid"
        assert score.passed == {"weak": False, "strict": False}
        assert score.findings


def test_the_invalid_premise() -> None:
    """Rejected, with an alternative within 0.05 of the best; rejection alone only where there is none."""
    task = one("invalid")
    known = definition(task)
    best = max(effect.improvement for effect in known.truth.effects)
    for effect, words in actions(task):
        score = scored(task, {"reject": True, "alternative": words})
        assert score.passed["weak"] == (effect.improvement >= best - 0.05)
        assert score.passed["strict"] == (effect.action in known.truth.best)
        assert not scored(task, {"reject": False, "alternative": words}).passed["weak"]
    assert not scored(task, {"reject": True, "alternative": None}).passed["weak"]
    hopeless = task.definition | {"truth": task.definition["truth"] | {"best": []}}
    bare = task.model_copy(update={"definition": hopeless})
    assert scored(bare, {"reject": True}).passed == {"weak": True, "strict": True}
    assert not scored(bare, {"reject": True, "alternative": task.answer["alternative"]}).passed["weak"]


def test_an_answer_of_another_form_is_refused() -> None:
    """It costs a turn, says what is wanted, and does not commit."""
    bad: list[JSON] = [
        7,
        None,
        [1],
        ["x"] * 65,
        {"reject": "yes"},
        {"variable": 1, "state": 2},
        "",
        "x" * 999,
    ]
    for task in {task.facets["kind"]: task for task in small_set()}.values():
        for number, form in enumerate(bad):
            session = open_session(task, "samp5k")
            reply = session.call("answer", {"answer": form}, f"a{number}")
            assert reply.error is not None
            assert reply.error.code == "malformed"
            assert reply.remaining["turns"] == 29
            assert not session.done
        other = session.call("answer", {"answer": task.answer, "why": "?"}, "more")
        assert other.error is not None
        assert session.call("answer", {"answer": task.answer}, "good").ok


def test_giving_up_is_a_missing_answer() -> None:
    """It spends a turn, ends the session, counts as a failure and is logged."""
    task = small_set()[0]
    session = open_session(task)
    assert session.call("query", {"arms": [{"kind": "observe", "n": 300}] * 2}, "q").ok
    assert not session.call("query", {"kind": "destroy"}, "bad").ok
    assert session.call("give_up", {}, "g").ok
    score = PGM.judge(task.definition, session.record())
    assert score.status == "missing"
    effort = {"queries": 1, "failed_queries": 1, "arms": 2, "rows": 600, "gave_up": 1, "acquired": 0}
    assert score.parts == effort
