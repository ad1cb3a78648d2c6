"""Playing one episode."""

from __future__ import annotations

import pytest

from environments.session import Session
from environments.task import Options, Record
from evaluation.play import play
from tests.evaluation.conftest import OpenJournal
from tests.evaluation.toy import Bisecting, ToyWorld, hand, middle

OPTIONS = Options(setting="guess", protocol="adaptive")


def session(hidden: int = 5) -> Session:
    return Session(ToyWorld({"hidden": hidden}), OPTIONS)


def test_an_episode_ends_when_the_session_closes(open_journal: OpenJournal) -> None:
    """A committed answer ends the play; the record holds every event."""
    record = play(hand(5), session(), open_journal())
    assert record.ending == "completed"
    assert [event.tool for event in record.events] == ["answer"]


def test_a_hand_that_stops_by_itself_leaves_the_episode_open(open_journal: OpenJournal) -> None:
    """A player that stops without a commit ends as unfinished, not as an error."""

    class Silent(Bisecting):
        def act(self, last: object) -> None:
            return None

    record = play(Silent(open_journal("other"), middle), session(), open_journal())
    assert record.ending == "unfinished"


def test_a_stopped_episode_is_interrupted_and_continues_later(open_journal: OpenJournal) -> None:
    """A run that is stopped mid-episode goes on where it was, and buys nothing twice."""
    asked: list[str] = []

    def buy(question: str) -> int:
        asked.append(question)
        return middle(question)

    def once(stop_after: int | None) -> Record:
        journal = open_journal()
        ticks = iter(range(100))
        stop = (lambda: next(ticks) >= stop_after) if stop_after is not None else (lambda: False)
        try:
            return play(Bisecting(journal, buy), session(), journal, stop)
        finally:
            journal.close()

    assert once(2).ending == "interrupted"
    assert len(asked) == 2
    record = once(None)
    assert record.ending == "completed"
    assert record.events[-1].args == {"digit": 5}
    assert len(asked) == len(set(asked)), "a question was bought twice"
    assert once(None) == record, "a finished episode replays to the same record"


@pytest.mark.parametrize("hidden", range(10))
def test_the_toy_player_wins(hidden: int, open_journal: OpenJournal) -> None:
    """The test player itself is right, so that failures elsewhere mean something."""
    journal = open_journal()
    record = play(Bisecting(journal, middle), session(hidden), journal)
    assert record.events[-1].args == {"digit": hidden}
