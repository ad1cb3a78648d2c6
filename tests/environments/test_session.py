"""The session: budget, idempotency, one commit, replay; on a toy world whose every move is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cards.canonical import canonical_json
from environments.session import (
    MAX_ARGUMENT_BYTES,
    MAX_ARGUMENT_DEPTH,
    MAX_EVENTS,
    MAX_SESSION_BYTES,
    Session,
)
from environments.task import JSON, ActionError, Charge, Event, Options, Record, Step, Tool

OPTIONS = Options(setting="toy", protocol="toy")


class Counter:
    """A world that counts: ``add`` adds n, refuses odd numbers, and cannot read anything else."""

    def __init__(self) -> None:
        self.total = 0
        self.brief: dict[str, JSON] = {"goal": ["count"]}
        self.meters: Mapping[str, int] = {"calls": 6, "doses": 2}

    @property
    def tools(self) -> Sequence[Tool]:
        """``add`` and ``stop``."""
        call = {"calls": 1}
        charge = Charge(succeeded={"calls": 1, "doses": 1}, refused=call, unreadable=call)
        commit = Charge(succeeded=call)
        return [
            Tool(name="add", kind="experiment", description="", parameters={}, charge=charge),
            Tool(name="stop", kind="commit", description="", parameters={}, charge=commit),
        ]

    def step(self, tool: str, args: JSON) -> Step:
        """Count."""
        if tool == "stop":
            return Step(outcome="succeeded", data={"accepted": True}, ended="completed")
        if not isinstance(args.get("n"), int):
            return Step(outcome="unreadable", error=ActionError(code="malformed", message="n must be whole"))
        number = args.pop("n")  # a world may do what it likes with its copy
        if number % 2:
            return Step(outcome="refused", error=ActionError(code="odd", message="n is odd"))
        self.total += number
        return Step(outcome="succeeded", data={"total": [self.total]})


def session(events: Sequence[Event] = ()) -> Session:
    """Return a session of a fresh counter."""
    return Session(Counter(), OPTIONS, events)


def stored(one: Session) -> tuple[Event, ...]:
    """Return the events as they come back from a database."""
    return tuple(Event.model_validate_json(canonical_json(event.model_dump())) for event in one.events)


def nested(levels: int) -> JSON:
    """Return an object of this many levels."""
    value: JSON = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_each_outcome_charges_what_the_tool_says() -> None:
    """Succeeded, refused and unreadable actions cost what the tool's table says."""
    one = session()
    assert one.call("add", {"n": 2}, "a").remaining == {"calls": 5, "doses": 1}
    assert one.call("add", {"n": 3}, "b").remaining == {"calls": 4, "doses": 1}
    assert one.call("add", {"m": 3}, "c").remaining == {"calls": 3, "doses": 1}
    assert one.call("fly", {}, "d").remaining == {"calls": 2, "doses": 1}


def test_an_action_beyond_the_budget_is_refused_before_the_world_sees_it() -> None:
    """A missing meter is named, only the refusal is charged, and the world does not move."""
    one = session()
    one.call("add", {"n": 2}, "a")
    one.call("add", {"n": 2}, "b")
    reply = one.call("add", {"n": 4}, "c")
    assert reply.error is not None
    assert reply.error.code == "budget"
    assert "doses" in reply.error.message
    assert reply.remaining == {"calls": 3, "doses": 0}


def test_the_call_cap_ends_the_session_by_its_own_name() -> None:
    """When calls run out the ending says so, and the last reply is done."""
    one = session()
    replies = [one.call("fly", {}, str(n)) for n in range(6)]
    assert [reply.done for reply in replies] == [False] * 5 + [True]
    assert one.record().ending == "call_cap"


class _Turns(Counter):
    """A counter whose actions spend turns, one each however they end."""

    def __init__(self) -> None:
        super().__init__()
        self.meters = {"turns": 3}

    @property
    def tools(self) -> Sequence[Tool]:
        """``add`` and ``stop``."""
        turn = Charge(succeeded={"turns": 1}, refused={"turns": 1}, unreadable={"turns": 1})
        return [tool.model_copy(update={"charge": turn}) for tool in super().tools]


def test_the_last_turn_ends_the_session_by_its_own_name() -> None:
    """Turns end a session as calls do; an action that is none costs a turn like any other."""
    one = Session(_Turns(), OPTIONS)
    replies = [one.call("add", {"n": 2}, "a"), one.call("fly", {}, "b"), one.call("add", {"n": 1}, "c")]
    assert [reply.remaining for reply in replies] == [{"turns": 2}, {"turns": 1}, {"turns": 0}]
    assert [reply.done for reply in replies] == [False, False, True]
    assert one.record().ending == "turn_cap"
    last = Session(_Turns(), OPTIONS)
    for number in range(2):
        last.call("fly", {}, str(number))
    assert last.call("stop", {}, "last").done
    assert last.record().ending == "completed"


def test_a_commit_with_the_last_call_counts() -> None:
    """The last call may be the commit; then the session is completed, not capped."""
    one = session()
    for number in range(5):
        one.call("fly", {}, str(number))
    assert one.call("stop", {}, "last").done
    assert one.record().ending == "completed"


def test_a_key_works_once() -> None:
    """The same key and action gives the same reply and costs nothing, also after the end."""
    one = session()
    first = one.call("add", {"n": 2}, "a")
    one.call("stop", {}, "z")
    assert one.call("add", {"n": 2}, "a") == first
    assert len(one.events) == 2


@pytest.mark.parametrize(
    "other", [("add", {"n": 4}), ("stop", {"n": 2}), ("add", None), ("add", {"n": 2.0}), ("add", {})]
)
def test_a_key_used_for_something_else_is_a_conflict(other: tuple[str, JSON]) -> None:
    """Another action under a used key is refused, free of charge and without a trace."""
    one = session()
    one.call("add", {"n": 2}, "a")
    before = one.record()
    reply = one.call(*other, "a")
    assert reply.error is not None
    assert reply.error.code == "key_conflict"
    assert one.record() == before


@pytest.mark.parametrize("key", ["", "x" * 129, 7, None, "\ud800"])
def test_a_bad_key_changes_nothing(key: Any) -> None:
    """A key that is empty, long, no text or not storable is refused, free and unrecorded."""
    one = session()
    reply = one.call("add", {"n": 2}, key)
    assert reply.error is not None
    assert reply.error.code == "bad_key"
    assert one.events == ()
    assert one.remaining == {"calls": 6, "doses": 2}


UNREAD: list[tuple[JSON, str]] = [
    ({"text": "x" * MAX_ARGUMENT_BYTES}, "too_large"),
    ({"list": list(range(MAX_ARGUMENT_BYTES + 1))}, "too_large"),
    ({"n": float("nan")}, "bad_arguments"),
    ({"n": object()}, "bad_arguments"),
    ({"n": "\ud800"}, "bad_arguments"),
    (nested(MAX_ARGUMENT_DEPTH + 1), "bad_arguments"),
    ([1, 2], "bad_arguments"),
    (None, "bad_arguments"),
    ("unread:not_json", "bad_arguments"),
]


@pytest.mark.parametrize(("args", "code"), UNREAD, ids=range(len(UNREAD)))
def test_arguments_refused_unread_replay_and_retry(args: JSON, code: str) -> None:
    """Arguments that are not kept cost one call, replay to the same reply, and answer a retry as before."""
    one = session()
    reply = one.call("add", args, "a")
    assert reply.error is not None
    assert reply.error.code == code
    assert reply.remaining == {"calls": 5, "doses": 2}
    again = session(stored(one))
    assert again.record() == one.record()
    assert again.call("add", args, "a") == reply
    assert again.call("add", {"n": 2}, "a").error is not None
    assert again.remaining == {"calls": 5, "doses": 2}


def test_other_unread_arguments_under_the_same_key_are_a_conflict() -> None:
    """A digest stands for large arguments, so that two large ones are told apart."""
    one = session()
    one.call("add", {"text": "x" * MAX_ARGUMENT_BYTES}, "a")
    reply = one.call("add", {"text": "y" * MAX_ARGUMENT_BYTES}, "a")
    assert reply.error is not None
    assert reply.error.code == "key_conflict"


def test_arguments_at_the_limits_are_read() -> None:
    """The deepest and the longest arguments that are allowed reach the world."""
    for args in (nested(MAX_ARGUMENT_DEPTH), {"t": "x" * (MAX_ARGUMENT_BYTES - 8)}):
        one = session()
        reply = one.call("add", args, "a")
        assert reply.error is not None
        assert reply.error.code == "malformed"
        assert session(stored(one)).record() == one.record()


@pytest.mark.parametrize("tool", ["x" * 500, "\ud800", None, 7, ["add"]])
def test_a_tool_that_cannot_be_stored_is_an_unknown_tool(tool: Any) -> None:
    """Whatever stands for a tool, the session answers, records something storable, and replays it."""
    one = session()
    reply = one.call(tool, {}, "a")
    assert reply.error is not None
    assert reply.error.code == "unknown_tool"
    assert "add, stop" in reply.error.message
    assert session(stored(one)).record() == one.record()
    assert session(stored(one)).call(tool, {}, "a") == reply


def test_nobody_can_reach_into_a_session() -> None:
    """What the caller, the player or the world does with an object after a call changes no record."""
    one = session()
    args = {"n": 2}
    reply = one.call("add", args, "a")
    args["n"] = 40
    reply.data["total"].append("forged")
    one.brief["goal"].append("forged")
    one.remaining["calls"] = 10**6
    assert one.events[0].args == {"n": 2}
    assert one.events[0].reply.data == {"total": [2]}
    assert one.brief == {"goal": ["count"]}
    assert session(stored(one)).record() == one.record()


def test_a_forged_event_does_not_replay() -> None:
    """A stored reply that the world does not give again is an error, not a silent change."""
    one = session()
    one.call("add", {"n": 2}, "a")
    event = one.events[0]
    forged = event.model_copy(update={"reply": event.reply.model_copy(update={"data": {"total": [4]}})})
    with pytest.raises(ValueError, match="event 0"):
        session([forged])


def test_an_open_session_says_why_it_stopped() -> None:
    """A record of a session that did not end takes the ending from outside, else it is unfinished."""
    assert session().record().ending == "unfinished"
    assert session().record("time").ending == "time"


actions = st.lists(
    st.tuples(
        st.sampled_from(["add", "fly", "stop"]),
        st.one_of(
            st.fixed_dictionaries({"n": st.integers(-4, 4)}),
            st.dictionaries(st.text(max_size=3), st.floats() | st.text(max_size=3), max_size=2),
            st.none(),
        ),
        st.sampled_from("abcdefgh"),
    ),
    max_size=12,
)


@given(actions)
def test_any_course_replays_exactly(course: list[tuple[str, JSON, str]]) -> None:
    """Whatever was done, replaying the stored events gives the same budget, events and ending."""
    one = session()
    for tool, args, key in course:
        one.call(tool, args, key)
    again = session(stored(one))
    assert again.record() == one.record()
    assert again.remaining == one.remaining
    assert len({event.key for event in one.events}) == len(one.events)
    free = sum(event.tool == "stop" and event.outcome != "succeeded" for event in one.events)
    assert one.remaining["calls"] == 6 - len(one.events) + free
    assert Record.model_validate_json(canonical_json(one.record().model_dump())) == one.record()


class Endless(Counter):
    """A counter that may be called for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.meters = {}


def test_a_session_is_bounded_where_calls_are_free() -> None:
    """Neither many small calls nor few large ones can fill a server, and both ends replay."""
    small, large = Session(Endless(), OPTIONS), Session(Endless(), OPTIONS)
    for number in range(MAX_EVENTS):
        small.call("add", {"n": 1}, str(number))
    assert small.done
    text = "a" * (MAX_ARGUMENT_BYTES - 100)
    calls = 0
    while not large.done:
        large.call("add", {"n": 1, "text": text}, str(calls))
        calls += 1
    assert calls == MAX_SESSION_BYTES // MAX_ARGUMENT_BYTES + 1
    for one in (small, large):
        assert one.record().ending == "call_cap"
        assert Session(Endless(), OPTIONS, stored(one)).events == one.events
