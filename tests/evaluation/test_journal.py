"""The journal: what was bought is never bought again, and what diverges is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from cards.errors import RunError
from environments.task import Options, Record, Reply
from evaluation.journal import Log, read_log, read_record
from tests.evaluation.conftest import OpenJournal

REPLY = Reply(ok=True, data={"y": 0.1}, remaining={"calls": 3}, done=False)


def never() -> object:
    raise AssertionError("a journalled reply was bought again")


def test_a_reply_is_on_disk_before_it_is_returned(tmp_path: Path, open_journal: OpenJournal) -> None:
    """Every model reply is journalled before anyone can act on it."""
    journal = open_journal()
    reply = journal.ask({"n": 1}, lambda: {"text": "seven"})
    assert reply == {"text": "seven"}
    assert [row["reply"] for row in read_log(tmp_path / "slot.jsonl")] == [{"text": "seven"}]


def test_replies_are_recalled_in_order_and_bought_only_beyond(open_journal: OpenJournal) -> None:
    """A later life of an episode takes journalled replies first and buys only what is missing."""
    first = open_journal()
    for number in range(3):
        first.ask({"n": number}, lambda number=number: number * 10)
    first.close()
    second = open_journal()
    assert [second.ask({"n": number}, never) for number in range(3)] == [0, 10, 20]
    assert second.ask({"n": 3}, lambda: 30) == 30
    assert (second.recalled, second.bought) == (3, 1)


def test_another_question_at_the_same_point_is_refused(open_journal: OpenJournal) -> None:
    """A reply is never taken for the answer to a question that was not asked."""
    open_journal().ask({"n": 1}, lambda: "x")
    with pytest.raises(RunError, match="question 1"):
        open_journal().ask({"n": 2}, never)


def test_a_failed_purchase_leaves_no_entry(open_journal: OpenJournal) -> None:
    """When buying raises, nothing is journalled and the question can be asked again."""
    journal = open_journal()
    with pytest.raises(AssertionError):
        journal.ask({"n": 1}, never)
    assert journal.ask({"n": 1}, lambda: "x") == "x"


def test_results_are_compared_byte_for_byte(open_journal: OpenJournal) -> None:
    """On resume a session must answer exactly as before, to the last bit of a number."""
    first = open_journal()
    first.result("peek", REPLY)
    first.close()
    open_journal().result("peek", REPLY)
    other = REPLY.model_copy(update={"data": {"y": 0.1 + 1e-17 + 2e-17}})
    with pytest.raises(RunError, match="answer to action 1"):
        open_journal().result("peek", other)


def test_a_torn_line_is_ignored_and_never_rewritten(tmp_path: Path) -> None:
    """A line torn by a kill does not count, and the bytes before it stay as they are."""
    path = tmp_path / "log.jsonl"
    log = Log(path)
    log.append({"n": 1})
    log.close()
    with path.open("ab") as file:
        file.write(b'{"n": 2, "te')
    before = path.read_bytes()
    assert read_log(path) == [{"n": 1}]
    log = Log(path)
    log.append({"n": 3})
    log.close()
    assert read_log(path) == [{"n": 1}, {"n": 3}]
    assert path.read_bytes().startswith(before)


def test_the_ticket_and_the_record_come_back(tmp_path: Path, open_journal: OpenJournal) -> None:
    """A later process finds the way back to the seat, and the finished episode whole."""
    journal = open_journal()
    record = Record(options=Options(setting="guess", protocol="prior"), events=(), ending="completed")
    journal.keep_ticket({"episode": "e1"})
    journal.keep_record(record)
    journal.keep_record(record)
    journal.close()
    path = tmp_path / "slot.jsonl"
    assert open_journal().ticket == {"episode": "e1"}
    assert read_record(path) == record
    with pytest.raises(RunError, match="record"):
        open_journal().keep_record(record.model_copy(update={"ending": "context"}))
