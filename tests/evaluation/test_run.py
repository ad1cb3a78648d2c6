"""A run directory: what is owed, what is settled, and how a run ends."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cards.errors import CapError, GatewayError, RunError
from evaluation.journal import read_log
from evaluation.plan import Selection
from evaluation.run import EXIT_CODES, MAX_ERRORS_IN_A_ROW, Run, create_run, read_manifest
from evaluation.score import read_rows
from tests.evaluation.toy import BisectingPlayer, ToyVenue, middle, saying, toy_plan

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def start(folder: Path, venue: ToyVenue, player: Any, selection: Selection | None = None) -> Run:
    create_run(folder, toy_plan(venue, player, selection), NOW)
    return again(folder, venue, player)


def again(folder: Path, venue: ToyVenue, player: Any) -> Run:
    return Run(folder, player, venue, lambda: NOW)


def test_a_run_settles_every_slot_and_says_so(tmp_path: Path) -> None:
    """A complete run has one row for each slot, exit code 0, and a status file that agrees."""
    run = start(tmp_path / "r", ToyVenue(), saying(3))
    assert run.play() == "complete"
    rows = read_rows(tmp_path / "r")
    assert {row.status for row in rows} == {"scored"}
    assert len(rows) == 12
    status = json.loads((tmp_path / "r" / "status.json").read_text())
    assert (status["state"], status["settled"], status["owed"]) == ("complete", 12, 0)
    assert EXIT_CODES["complete"] == 0
    assert read_manifest(tmp_path / "r")["episodes"] == 12


def test_a_resumed_run_plays_only_what_is_owed(tmp_path: Path) -> None:
    """Settled rows are never played again; a torn last line is owed."""
    venue, player = ToyVenue(), BisectingPlayer()
    start(tmp_path / "r", venue, player).play()
    bought = len(player.bought)
    path = tmp_path / "r" / "episodes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert again(tmp_path / "r", venue, player).play() == "complete"
    assert len(player.bought) == bought, "a journalled reply was bought again"
    assert path.read_bytes().startswith(whole[:-40])
    assert len(read_rows(tmp_path / "r")) == 12


def test_a_provider_error_is_a_row_that_is_owed(tmp_path: Path) -> None:
    """An episode whose replies cannot be had stands as error and is played at the next run."""
    venue = ToyVenue()
    faults = iter([True, False, True])

    def sometimes(question: str) -> int:
        if next(faults, False):
            raise GatewayError("the server is down.")
        return middle(question)

    player = BisectingPlayer(sometimes)
    run = start(tmp_path / "r", venue, player)
    assert run.play() == "resumable"
    assert EXIT_CODES["resumable"] == 3
    errors = [row for row in read_rows(tmp_path / "r") if row.status == "error"]
    assert [row.findings for row in errors] == [("provider: the server is down.",)] * 2
    assert again(tmp_path / "r", venue, player).play() == "complete"
    assert len(read_log(tmp_path / "r" / "episodes.jsonl")) == 14, "rows are appended, not rewritten"


def test_a_broken_world_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    """An exception inside one episode is that episode's error row."""
    venue = ToyVenue()
    venue.broken = {venue.rows[0].id}
    run = start(tmp_path / "r", venue, saying(3))
    assert run.play() == "resumable"
    assert run.progress.statuses == {"error": 2, "scored": 10}


def test_many_errors_in_a_row_stop_the_run(tmp_path: Path) -> None:
    """When nothing works the run stops instead of failing every slot, and can be resumed."""
    venue = ToyVenue(clusters=10)
    venue.broken = {row.id for row in venue.rows}
    run = start(tmp_path / "r", venue, saying(3))
    assert run.play() == "resumable"
    assert len(read_log(tmp_path / "r" / "episodes.jsonl")) == MAX_ERRORS_IN_A_ROW


def test_a_spent_cap_stops_the_run(tmp_path: Path) -> None:
    """A reached cap ends with its own exit code; the episode is owed, not failed."""
    calls = iter(range(100))

    def until_spent(question: str) -> int:
        if next(calls) >= 5:
            raise CapError("the next question could cost too much.")
        return middle(question)

    run = start(tmp_path / "r", ToyVenue(), BisectingPlayer(until_spent))
    assert run.play() == "capped"
    assert EXIT_CODES["capped"] == 4
    assert [row.ending for row in read_rows(tmp_path / "r") if row.status == "error"] == ["cost_cap"]
    assert again(tmp_path / "r", ToyVenue(), BisectingPlayer()).play() == "complete"


def test_an_interrupted_run_marks_its_open_episode(tmp_path: Path) -> None:
    """A stopped run flushes, marks the episode in flight interrupted, and is completed later."""
    venue = ToyVenue()
    held: list[Run] = []

    def stopping(question: str) -> int:
        if len(player.bought) == 4:
            held[0].interrupt()
        return middle(question)

    player = BisectingPlayer(stopping)
    held.append(start(tmp_path / "r", venue, player))
    assert held[0].play() == "interrupted"
    assert [row.ending for row in read_rows(tmp_path / "r")][-1] == "interrupted"
    assert json.loads((tmp_path / "r" / "status.json").read_text())["state"] == "interrupted"
    bought = list(player.bought)
    fresh = BisectingPlayer()
    assert again(tmp_path / "r", venue, fresh).play() == "complete"
    alone = BisectingPlayer()
    start(tmp_path / "whole", venue, alone).play()
    assert sorted(bought + fresh.bought) == sorted(alone.bought), "a reply was bought twice or not at all"


def test_concurrent_episodes_give_the_same_rows(tmp_path: Path) -> None:
    """However many episodes run at a time, the rows are the same, and at most so many run."""
    running, most, lock = [0], [0], threading.Lock()

    def watched(question: str) -> int:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        try:
            return middle(question)
        finally:
            with lock:
                running[0] -= 1

    venue = ToyVenue(clusters=8)
    start(tmp_path / "a", venue, BisectingPlayer(watched)).play(concurrency=4)
    start(tmp_path / "b", venue, BisectingPlayer()).play(concurrency=1)

    def keyed(name: str) -> dict[str, Any]:
        return {row.slot: row for row in read_rows(tmp_path / name)}

    assert keyed("a") == keyed("b")
    assert most[0] <= 4


def test_a_changed_session_is_seen_on_resume(tmp_path: Path) -> None:
    """When the world answers otherwise than the journal says, the episode is an error, not a score."""
    venue, player = ToyVenue(), BisectingPlayer()
    start(tmp_path / "r", venue, player).play()
    (tmp_path / "r" / "episodes.jsonl").unlink()
    for definition in venue.definitions.values():
        definition["hidden"] = 9 - definition["hidden"]
    assert again(tmp_path / "r", venue, BisectingPlayer()).play() == "resumable"
    assert "does not reproduce" in read_rows(tmp_path / "r")[0].findings[0]


def test_a_run_is_not_made_over_another(tmp_path: Path) -> None:
    """An existing run directory is never overwritten, and a folder without one is no run."""
    start(tmp_path / "r", ToyVenue(), saying(3))
    with pytest.raises(RunError, match="exists"):
        start(tmp_path / "r", ToyVenue(), saying(3))
    with pytest.raises(RunError, match="no readable run"):
        read_manifest(tmp_path)


def test_two_processes_never_play_one_run(tmp_path: Path) -> None:
    """While a run is being played, another process is refused and changes nothing."""
    venue = ToyVenue()
    refused: list[str] = []

    def meanwhile(question: str) -> int:
        if not refused:
            with pytest.raises(RunError, match="another process") as caught:
                again(tmp_path / "r", venue, BisectingPlayer()).play()
            refused.append(str(caught.value))
        return middle(question)

    assert start(tmp_path / "r", venue, BisectingPlayer(meanwhile)).play() == "complete"
    assert len(refused) == 1


def test_a_line_that_is_no_row_is_owed(tmp_path: Path) -> None:
    """JSON that is not a row settles nothing."""
    venue = ToyVenue()
    start(tmp_path / "r", venue, saying(3)).play()
    path = tmp_path / "r" / "episodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"status":"scored"', b'"status":"brilliant"', 1))
    assert len(read_rows(tmp_path / "r")) == 11
    assert again(tmp_path / "r", venue, saying(3)).play() == "complete"
    assert len(read_rows(tmp_path / "r")) == 12
