"""Requests: what is understood, what is refused and at which cost, what comes back."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from environments.pgm.definition import Variable
from environments.pgm.eliminate import respond
from environments.pgm.names import Names, QueryError
from environments.pgm.query import read_request
from environments.pgm.read_text import read_by_rule
from environments.pgm.world import PgmWorld
from environments.session import Session
from environments.task import JSON, Reply
from tests.environments.pgm.sets import definition, one, open_session, options

TASK = one("safety")
KNOWN = definition(TASK)
FREE = next(v for v in KNOWN.variables if v.intervenable)
OTHER = [v for v in KNOWN.variables if v.intervenable][1]
FIXED = next(v for v in KNOWN.variables if not v.intervenable)
TARGET = KNOWN.variables[KNOWN.question.outcome]


def ask(session: Session, key: str = "q", **args: Any) -> Reply:
    """Send one request."""
    return session.call("query", args, key)


def arm(**more: Any) -> JSON:
    """An intervention that may be had."""
    return {"kind": "intervene", "do": {FREE.name: FREE.states[0]}} | more


BAD_ARMS: list[tuple[JSON, str]] = [
    ({"kind": "intervene", "do": {"NoSuchVariable": "x"}}, "unknown_variable"),
    ({"kind": "intervene", "do": {FREE.name: "NoSuchState"}}, "unknown_state"),
    ({"kind": "intervene", "do": {FIXED.name: FIXED.states[0]}}, "forbidden_variable"),
    ({"kind": "intervene", "do": {TARGET.name: TARGET.states[0]}}, "forbidden_variable"),
    (arm(n=49), "out_of_range"),
    (arm(n=2001), "out_of_range"),
    (arm(n=-1), "out_of_range"),
    (arm(n=10**30), "out_of_range"),
    (arm(n=100.5), "malformed"),
    (arm(n="100"), "malformed"),
    (arm(where={FREE.name: FREE.states[1]}), "contradiction"),
    (
        {"kind": "observe", "where": {FREE.name: FREE.states[0], FREE.name.lower(): FREE.states[1]}},
        "contradiction",
    ),
    ({"kind": "observe", "where": {"NoSuchVariable": "x"}}, "unknown_variable"),
    ({"kind": "observe", "by": "NoSuchVariable"}, "unknown_variable"),
    ({"kind": "observe", "columns": ["NoSuchVariable"]}, "unknown_variable"),
    ({"kind": "observe", "do": {FREE.name: FREE.states[0]}}, "malformed"),
    ({"kind": "intervene"}, "malformed"),
    ({"kind": "destroy"}, "malformed"),
    ({"kind": "observe", "extra": 1}, "malformed"),
    (
        {"kind": "intervene", "do": {v.name: v.states[0] for v in KNOWN.variables if v.intervenable}},
        "too_many_set",
    ),
]


@pytest.mark.parametrize("protocol", ["four_turn", "samp5k"])
@pytest.mark.parametrize(("bad", "code"), BAD_ARMS)
def test_a_bad_arm_costs_a_turn_and_no_rows(bad: JSON, code: str, protocol: str) -> None:
    """Each error has its type, says where, spends one turn, no query, no row, and shows no data."""
    session = open_session(TASK, protocol)
    before = session.remaining
    reply = ask(session, arms=[arm(), bad])
    assert not reply.ok
    assert reply.error is not None
    assert reply.error.code == code
    assert "arms" in reply.error.path
    assert reply.data is None
    assert reply.remaining == before | {"turns": before["turns"] - 1}


def test_the_request_as_a_whole_is_bounded() -> None:
    """No arm, seven arms, 10 MB of text and a text beside arms are refused for a turn each."""
    for args, code in (
        ({}, "malformed"),
        ({"arms": []}, "malformed"),
        ({"arms": [arm()] * 7}, "too_many_arms"),
        ({"arms": [arm()] * 1000}, "too_many_arms"),
        ({"arms": "all"}, "malformed"),
        ({"text": "observe 100 " * 900_000}, "too_large"),
        ({"text": "observe 100 " * 900}, "too_long"),
        ({"text": "tell me everything"}, "unreadable_text"),
        ({"text": 5}, "malformed"),
        ({"text": "observe 100", "arms": [arm()]}, "malformed"),
    ):
        session = open_session(TASK)
        reply = session.call("query", args, "q")
        assert reply.error is not None
        assert reply.error.code == code
        assert reply.remaining == {"turns": 3, "queries": 10}


def test_arms_of_one_request_count_as_one_query_and_all_their_rows() -> None:
    """Six arms of 500 spend one turn, one query and 3,000 rows."""
    arms = [arm(n=500), {"kind": "observe", "n": 500}] * 3
    reply = ask(open_session(TASK), arms=arms)
    assert reply.ok
    assert len(reply.data["arms"]) == 6
    assert reply.remaining == {"turns": 3, "queries": 9}
    rows = ask(open_session(TASK, "samp5k"), arms=arms)
    assert rows.remaining == {"turns": 29, "rows": 2000}


def test_the_four_turns_end_the_session() -> None:
    """Four queries leave no turn to answer; the fifth call is closed and the record says why."""
    session = open_session(TASK)
    for number in range(4):
        assert ask(session, f"q{number}", kind="observe").ok
    assert session.done
    late = session.call("answer", {"answer": TASK.answer}, "late")
    assert late.error is not None
    assert late.error.code == "closed"
    assert session.record().ending == "turn_cap"


class _Patient(PgmWorld):
    """A world with more turns than the protocol gives."""

    @property
    def meters(self) -> dict[str, int]:
        return {**super().meters, "turns": 20}


def test_at_most_ten_queries_succeed() -> None:
    """Where more than four turns are given, the eleventh query is refused for lack of queries."""
    opened = options(TASK)
    session = Session(_Patient(KNOWN, opened, bytes(32)), opened)
    replies = [ask(session, f"q{number}", kind="observe", n=50) for number in range(11)]
    assert [reply.ok for reply in replies] == [True] * 10 + [False]
    assert replies[-1].error is not None
    assert "queries" in replies[-1].error.message


def test_rows_beyond_the_rest_are_refused_whole() -> None:
    """SAMP5K: a request for more rows than are left draws none of them; a smaller one still can be had."""
    session = open_session(TASK, "samp5k")
    assert ask(session, "a", arms=[{"kind": "observe", "n": 2000}] * 2).remaining["rows"] == 1000
    beyond = ask(session, "b", arms=[{"kind": "observe", "n": 600}] * 2)
    assert beyond.error is not None
    assert beyond.error.code == "rows"
    assert "1000 are left" in beyond.error.message
    assert beyond.remaining == {"turns": 28, "rows": 1000}
    assert ask(session, "c", kind="observe", n=1000).remaining == {"turns": 27, "rows": 0}
    assert not session.done
    assert session.call("answer", {"answer": TASK.answer}, "d").ok


def test_thirty_turns_end_samp5k() -> None:
    """Turns that fail count too."""
    session = open_session(TASK, "samp5k")
    for number in range(30):
        assert not session.done
        ask(session, f"q{number}", kind="destroy")
    assert session.record().ending == "turn_cap"


def test_tables_count_what_was_drawn() -> None:
    """Counts add up, shares and mean follow, "where" keeps, "by" splits, "columns" restricts."""
    session = open_session(TASK)
    split = OTHER.name
    kept = arm(n=1500, where={OTHER.name: OTHER.states[0]})
    whole, narrow = {"kind": "observe", "n": 2000, "by": split}, {"kind": "observe", "columns": [TARGET.name]}
    reply = ask(session, arms=[kept, whole, narrow])
    kept, whole, narrow = reply.data["arms"]
    assert kept["drawn"] == 1500
    assert kept["rows"] < 1500
    assert kept["variables"][OTHER.name]["counts"][0] == kept["rows"]
    assert kept["variables"][FREE.name]["counts"][0] == kept["rows"]
    assert list(whole["by"]["groups"]) == list(OTHER.states)
    for name, table in whole["variables"].items():
        assert sum(table["counts"]) == 2000
        parts = [group["variables"][name]["counts"] for group in whole["by"]["groups"].values()]
        assert np.sum(parts, axis=0).tolist() == table["counts"]
        assert table["shares"] == [round(count / 2000, 4) for count in table["counts"]]
        index = KNOWN.world.costs(KNOWN.names.index(name))
        assert table["mean_index"] == pytest.approx(float(np.array(table["counts"]) @ index) / 2000, abs=1e-4)
    assert list(narrow["variables"]) == [TARGET.name]
    assert narrow["drawn"] == 1000


def test_rows_come_from_the_intervened_world() -> None:
    """20,000 rows under do(X=x) give the exact P(target | do) within 0.015, four standard errors."""
    node = KNOWN.names.index(FREE.name)
    session = open_session(TASK, "sweep")
    counts = np.zeros(3)
    for number in range(2):
        reply = ask(session, f"q{number}", arms=[arm(n=2000)] * 5)
        counts += np.sum([a["variables"][TARGET.name]["counts"] for a in reply.data["arms"]], axis=0)
    exact = respond(KNOWN.world.network, (KNOWN.question.outcome,), do={node: 0})
    assert np.abs(counts / 20_000 - exact).max() < 0.015


def test_rows_follow_from_the_seed_and_the_place_of_the_request() -> None:
    """Equal sessions give equal rows; other seeds, queries and arms give others; refusals shift nothing."""
    observe = {"kind": "observe", "n": 1000}
    first = ask(open_session(TASK), arms=[observe, observe]).data["arms"]
    again, other = open_session(TASK), open_session(TASK, seed=b"x" * 32)
    ask(again, "bad", kind="destroy")
    assert ask(again, arms=[observe, observe]).data["arms"] == first
    assert first[0]["variables"] != first[1]["variables"]
    assert ask(again, "next", arms=[observe, observe]).data["arms"] != first
    assert ask(other, arms=[observe, observe]).data["arms"] != first


def test_players_that_run_code_get_the_rows() -> None:
    """With the option the kept rows come as CSV, by name; without it no row is shown."""
    reply = ask(open_session(TASK, rows=True), arms=[arm(n=200, columns=[TARGET.name, FREE.name])])
    lines = reply.data["arms"][0]["csv"].splitlines()
    assert lines[0] == f"{TARGET.name},{FREE.name}"
    assert len(lines) == 201
    assert {line.split(",")[1] for line in lines[1:]} == {FREE.states[0]}
    assert "csv" not in ask(open_session(TASK), arms=[arm()]).data["arms"][0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"observe 700 by {OTHER.name}", [{"kind": "observe", "n": 700, "by": OTHER.name}]),
        ("Observe", [{"kind": "observe"}]),
        (f"do({FREE.name}={FREE.states[0]})", [arm()]),
        (f"DO( {FREE.name} = {FREE.states[0]} ), 300 rows", [arm(n=300)]),
        (
            f"do({FREE.name}={FREE.states[0]}) n=500 where {OTHER.name}={OTHER.states[0]}; observations 60",
            [arm(n=500, where={OTHER.name: OTHER.states[0]}), {"kind": "observe", "n": 60}],
        ),
        (
            f"do({FREE.name}={FREE.states[0]}) do({OTHER.name}={OTHER.states[1]}) 400 each",
            [arm(n=400), {"kind": "intervene", "do": {OTHER.name: OTHER.states[1]}, "n": 400}],
        ),
        (json.dumps({"arms": [arm()]}), [arm()]),
        (json.dumps(arm(n=99)), [arm(n=99)]),
        (json.dumps([arm(), arm()]), [arm(), arm()]),
    ],
)
def test_texts_are_read(text: str, expected: list[JSON]) -> None:
    """A text asks for what the same request in JSON asks for."""
    names = Names(KNOWN.variables)
    assert read_request(read_by_rule(text, KNOWN.variables), names) == read_request({"arms": expected}, names)


def test_names_may_hold_a_slip_or_two() -> None:
    """Case and up to two slips are forgiven where one name alone is meant, never more."""
    variables = [
        Variable(name=name, states=("Low", "High"), description="", intervenable=True)
        for name in ("ReadingPace", "ReadingPlace", "MusicRoom")
    ]
    names = Names(variables)
    assert names.node("MUSICROOM") == 2
    assert names.node("MusikRom") == 2
    assert names.node("ReadingPace") == 0
    assert names.state(0, " high ") == 1
    for wrong in ("ReadingPxace", "Musicroo123", "Muic", "", "x" * 10_000, 5, None):
        with pytest.raises(QueryError):
            names.node(wrong)
    with pytest.raises(QueryError, match="Low, High"):
        names.state(0, "Hgh")


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Whatever is written, the reader returns a document that can be checked, or a typed error."""
    with contextlib.suppress(QueryError):
        read_request(read_by_rule(text, KNOWN.variables), Names(KNOWN.variables))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda c: st.lists(c) | st.dictionaries(st.text(), c),
        max_leaves=10,
    )
)
def test_no_document_breaks_the_checks(document: JSON) -> None:
    """Whatever stands in a request, the answer is arms or a typed error."""
    for request in (document, {"arms": document}, {"arms": [document]}):
        with pytest.raises(QueryError):
            read_request(request, Names(KNOWN.variables))


def test_another_reader_can_be_put_in() -> None:
    """The seam for a model: what it returns is checked like anything else, its refusals are typed errors."""

    def reader(text: str, variables: Sequence[Variable]) -> JSON:
        if "please" not in text:
            raise QueryError("unreadable_text", "say please", "text")
        return {"kind": "intervene", "do": {v.name: v.states[0] for v in variables if v.name in text}}

    def reply(text: str) -> Reply:
        opened = options(TASK)
        return ask(Session(PgmWorld(KNOWN, opened, bytes(32), reader), opened), text=text)

    assert reply(f"please set {FREE.name}").data["arms"][0]["do"] == {FREE.name: FREE.states[0]}
    for text, code in ((FREE.name, "unreadable_text"), (f"please {FIXED.name}", "forbidden_variable")):
        error = reply(text).error
        assert error is not None
        assert error.code == code
