"""The evidence ledger: its three questions by rule, and the four diagnostics."""

from __future__ import annotations

import pytest

from environments.pgm.diagnostics import Trajectory, diagnose, ignored_share, trajectory
from environments.pgm.family import PGM
from environments.pgm.ledger import Entry, ledger
from environments.session import Session
from environments.task import JSON, Task
from evaluation.players.pgm import FullSweep, PassiveGreedy, RandomLegal
from tests.environments.pgm.sets import definition, one, open_session, played, small_set

# Figure 5 of the source: accuracy, acquisition, retention, ignored, as printed.
PUBLISHED = {
    "Claude Opus 4.6": (0.85, 0.90, 0.87, 0.78),
    "Claude Sonnet 4.6": (0.78, 0.78, 0.93, 0.23),
    "Gemini 3 Pro": (0.78, 0.73, 0.82, 0.62),
    "DeepSeek V4 Pro": (0.78, 0.76, 0.87, 0.45),
    "Qwen3.6": (0.84, 0.45, 0.96, 0.12),
    "GPT-OSS-120B": (0.73, 0.59, 0.90, 0.23),
    "Llama 4 Maverick": (0.46, 0.36, 0.64, 0.24),
    "GPT-4o": (0.50, 0.39, 0.73, 0.21),
}


def entries(task: Task, arms: list[JSON], answer: JSON = None) -> list[Entry]:
    """Ledger of a session with one query an arm, at the most rows, and an answer where one is given."""
    session = open_session(task, "sweep")
    for number, arm in enumerate(arms):
        assert session.call("query", {"arms": [{"n": 2000} | arm] * 3}, f"q{number}").ok
    return finish(task, session, answer)


def finish(task: Task, session: Session, answer: JSON) -> list[Entry]:
    """Answer and return the ledger."""
    if answer is not None:
        assert session.call("answer", {"answer": answer}, "a").ok
    return ledger(definition(task), session.record())


def intervene(**do: str) -> JSON:
    """One arm."""
    return {"kind": "intervene", "do": do}


@pytest.mark.parametrize("name", PUBLISHED)
def test_ignored_follows_from_the_other_columns(name: str) -> None:
    """P(strong | wrong) = acq (1 - ret) / (1 - acc) gives the printed column.

    Each printed figure is rounded to 0.005; carried through the formula this moves it by at most 0.07.
    """
    accuracy, acquisition, retention, printed = PUBLISHED[name]
    assert ignored_share(accuracy, acquisition, retention) == pytest.approx(printed, abs=0.07)
    slack = [
        ignored_share(accuracy + a, acquisition + b, retention + c)
        for a in (-0.005, 0.005)
        for b in (-0.005, 0.005)
        for c in (-0.005, 0.005)
    ]
    assert min(slack) - 0.005 <= printed <= max(slack) + 0.005


def test_ignored_figures_are_those_of_the_specification() -> None:
    """To two digits: .78 .25 .60 .45 .11 .22 .24 .21."""
    found = [round(ignored_share(*columns[:3]), 2) for columns in PUBLISHED.values()]
    assert found == [0.78, 0.25, 0.60, 0.45, 0.11, 0.22, 0.24, 0.21]


def test_the_diagnostics_by_hand() -> None:
    """Five sessions: shares over all, over those with strong evidence, and over the wrong ones."""
    sessions = [
        Trajectory(acquired=True, correct=True, extra=0),
        Trajectory(acquired=True, correct=True, extra=2),
        Trajectory(acquired=True, correct=False, extra=1),
        Trajectory(acquired=False, correct=False, extra=None),
        Trajectory(acquired=False, correct=True, extra=None),
    ]
    found = diagnose(sessions)
    assert (found.accuracy, found.acquisition) == (0.6, 0.6)
    assert found.retention == pytest.approx(2 / 3)
    assert found.ignored == 0.5
    assert found.extra_turns == 1.0
    identity = ignored_share(found.accuracy or 0, found.acquisition or 0, found.retention or 0)
    assert found.ignored == pytest.approx(identity)
    empty = diagnose([])
    assert (empty.accuracy, empty.retention, empty.ignored) == (None, None, None)


def test_a_choice_needs_gold_reference_and_rival() -> None:
    """Safety: strong only once the gold arm, ordinary records and another variable's arm were drawn."""
    task = one("safety")
    gold = task.answer
    known = definition(task)
    rival = next(v for v in known.variables if v.intervenable and v.name != gold["variable"])
    arms = [
        {"kind": "observe"},
        intervene(**{gold["variable"]: gold["state"]}),
        intervene(**{rival.name: rival.states[0]}),
    ]
    found = entries(task, arms, gold)
    assert [entry.estimand for entry in found] == [False, False, True, True]
    assert found[2].strong
    assert [entry.strong for entry in found[:2]] == [False, False]
    # Without the column of what must not get worse the contrast is not the one that was asked for.
    blind = [arm | {"columns": [known.variables[known.question.outcome].name]} for arm in arms]
    assert not any(entry.estimand for entry in entries(task, blind))


def test_a_choice_over_groups_needs_the_groups() -> None:
    """Subgroup: arms that do not tell the groups apart are no evidence; split arms are."""
    task = one("subgroup")
    gold, known = task.answer, definition(task)
    assert known.question.group is not None
    group = known.variables[known.question.group].name
    rival = next(v for v in known.variables if v.intervenable and v.name != gold["variable"])
    arms = [
        {"kind": "observe"},
        intervene(**{gold["variable"]: gold["state"]}),
        intervene(**{rival.name: rival.states[0]}),
    ]
    assert not any(entry.estimand for entry in entries(task, arms))
    assert entries(task, [arm | {"by": group} for arm in arms])[-1].estimand


def test_a_mediator_needs_crossed_arms() -> None:
    """Both treatment arms are not enough; crossed with one held state of the mediator they are."""
    for kind in ("mediated_only", "direct_and_mediated", "not_mediator"):
        task = one(kind)
        known = definition(task)
        assert known.question.cause is not None
        assert known.question.mediator is not None
        cause, through = known.variables[known.question.cause], known.variables[known.question.mediator]
        ends = (cause.states[0], cause.states[-1])
        arms = [intervene(**{cause.name: state}) for state in ends]
        arms += [intervene(**{cause.name: state, through.name: through.states[1]}) for state in ends]
        found = entries(task, arms)
        assert [entry.estimand for entry in found] == [False, False, False, True]


def test_lists_need_every_member_and_half_of_the_rest() -> None:
    """Causes: pairs of arms for all members and half of the others. Effects: two arms of the cause."""
    task = one("all_causes_of")
    known = definition(task)
    asked = known.variables[known.question.outcome].name
    gold = set(task.answer)
    others = [name for name in known.names if name not in gold and name != asked]
    states = {v.name: v.states for v in known.variables}

    def pairs(names: list[str]) -> list[JSON]:
        return [intervene(**{name: states[name][end]}) for name in names for end in (0, -1)]

    half = others[: (len(others) + 1) // 2]
    assert entries(task, pairs([*gold, *half]))[-1].estimand
    assert not entries(task, pairs([*list(gold)[1:], *others]))[-1].estimand
    assert not entries(task, pairs([*gold, *others[: len(half) - 1]]))[-1].estimand
    effects = one("all_effects_of")
    name = effects.brief["question"]["fields"]["variable"]
    ends = next(v for v in definition(effects).variables if v.name == name).states
    assert [
        e.estimand for e in entries(effects, [intervene(**{name: ends[0]}), intervene(**{name: ends[-1]})])
    ] == [
        False,
        True,
    ]


def test_yes_no_needs_two_arms_or_enough_records() -> None:
    """A causal effect: both arms. An association: 500 ordinary records."""
    task = one("causal_effect")
    fields = task.brief["question"]["fields"]
    states = next(v for v in definition(task).variables if v.name == fields["other"]).states
    arms = [{"kind": "observe"}, *(intervene(**{fields["other"]: states[end]}) for end in (0, -1))]
    assert [entry.estimand for entry in entries(task, arms)] == [False, False, True]
    task = one("marginal")
    fields = task.brief["question"]["fields"]
    for rows, enough in ((400, False), (500, True)):
        session = open_session(task)
        session.call("query", {"kind": "observe", "n": rows, "by": fields["other"]}, "q")
        assert finish(task, session, None)[0].estimand == enough


def test_few_rows_are_not_adequate() -> None:
    """The right arms with 50 rows each support nothing by two standard errors; with 6,000 they do."""
    task = one("safety")
    gold, known = task.answer, definition(task)
    rival = next(v for v in known.variables if v.intervenable and v.name != gold["variable"])
    arms = [
        {"kind": "observe"},
        intervene(**{gold["variable"]: gold["state"]}),
        intervene(**{rival.name: rival.states[0]}),
    ]
    assert entries(task, arms)[-1].adequate
    session = open_session(task)
    session.call("query", {"arms": [arm | {"n": 50} for arm in arms]}, "q")
    assert not finish(task, session, None)[-1].strong


def test_failed_turns_stand_in_the_ledger() -> None:
    """A failed query is a turn that leaves the evidence as it was; giving up is no turn of evidence."""
    task = one("safety")
    session = open_session(task)
    session.call("query", {"kind": "destroy"}, "bad")
    session.call("query", {"kind": "observe"}, "q")
    session.call("query", {"kind": "destroy"}, "bad again")
    session.call("give_up", {}, "g")
    assert [entry.seq for entry in ledger(definition(task), session.record())] == [0, 1, 2]


def test_extra_turns_lie_between_evidence_and_answer() -> None:
    """Two more queries after the strong turn are two extra turns."""
    task = one("safety")
    gold, known = task.answer, definition(task)
    rival = next(v for v in known.variables if v.intervenable and v.name != gold["variable"])
    session = open_session(task, "sweep")
    arms = [
        {"kind": "observe", "n": 2000},
        intervene(**{gold["variable"]: gold["state"]}) | {"n": 2000},
        intervene(**{rival.name: rival.states[0]}) | {"n": 2000},
    ]
    for number in range(3):
        session.call("query", {"arms": arms * 2}, f"q{number}")
    session.call("answer", {"answer": gold}, "a")
    parts = PGM.judge(task.definition, session.record()).parts
    assert (parts["acquired"], parts["extra_turns"]) == (1.0, 2.0)
    turns = PGM.analyses(task.definition, session.record())["ledger"]
    assert [turn["strong"] for turn in turns] == [True] * 4


def test_ledgers_of_players() -> None:
    """A guess acquires nothing, a sweep acquires much, and a plug-in player keeps what it acquires."""
    found = {}
    for player in (RandomLegal, PassiveGreedy, FullSweep):
        paths = []
        for task in small_set():
            score = PGM.judge(task.definition, played(task, player, "sweep"))
            paths.append(trajectory(score.parts, correct=score.passed["weak"] is True))
        found[player] = diagnose(paths)
    assert found[RandomLegal].acquisition == 0
    assert (found[FullSweep].acquisition or 0) > 0.5
    assert (found[FullSweep].acquisition or 0) > (found[PassiveGreedy].acquisition or 0) + 0.2
    assert (found[FullSweep].retention or 0) > 0.95
