"""Scripted players on law tasks: what each must win, and what it must lose."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cards.errors import InputError
from cards.store import historical
from environments.families import family
from environments.seeding import session_seed
from environments.session import Session
from environments.task import JSON, Record, Task
from evaluation.episode import EpisodeRow, Seat, Slot, Verdict
from evaluation.plan import Selection, make_plan
from evaluation.players import SCRIPTED, scripted_player
from evaluation.players.scripted import options_of
from evaluation.run import Run, create_run
from evaluation.score import read_rows
from tests.evaluation.toy import RELEASE, ToyVenue

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Laws:
    """A venue over freshly built law tasks."""

    def __init__(self) -> None:
        built = family("law").build(historical(), {}, b"k" * 32)
        self.tasks: dict[str, Task] = {task.row.id: task for task in built}

    def open(self, slot: Slot, ticket: JSON) -> tuple[Seat, JSON]:
        task, options = self.tasks[slot.task], options_of(slot)
        seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
        return Session(family("law").open(task.definition, options, seed), options), None

    def judge(self, slot: Slot, record: Record, ticket: JSON = None) -> Verdict:
        task = self.tasks[slot.task]
        score = family("law").judge(task.definition, record)
        return Verdict(score=score, cluster=task.cluster, facets=task.facets)


@pytest.fixture(scope="module")
def laws() -> Laws:
    return Laws()


def rows_of(name: str, laws: Laws, folder: Path, selection: Selection | None = None) -> list[EpisodeRow]:
    player = scripted_player(name, family, lambda task: laws.tasks[task].definition)
    rows = [task.row for task in laws.tasks.values()]
    create_run(folder / name, make_plan(RELEASE, rows, player, selection or Selection()), NOW)
    assert Run(folder / name, player, laws, lambda: NOW).play() == "complete"
    return read_rows(folder / name)


def test_the_candidate_checker_identifies_with_one_observation(laws: Laws, tmp_path: Path) -> None:
    """With one observation, or the preset ones, every Identification task is solved, strictly where
    that is asked; without any, one twin of each pair is; Discovery is left unanswered."""
    rows = rows_of("candidate-checker", laws, tmp_path)
    for row in rows:
        if row.setting == "discovery":
            assert row.status == "missing", row
        elif row.protocol == "prior":
            assert row.passed["weak"] is (row.facets["variant"] == "original"), row
        else:
            assert row.passed["weak"] is True, row
            assert row.passed["strict"] is (True if row.facets["strict"] == "yes" else None), row
            assert row.protocol_ok is True, row
    adaptive = [row for row in rows if row.setting == "identification" and row.protocol == "adaptive"]
    assert {row.parts["experiments"] for row in adaptive} == {1.0}
    assert {row.events for row in adaptive} == {2}


def test_perfect_memory_wins_originals_only(laws: Laws, tmp_path: Path) -> None:
    """It scores 100 % on Original Discovery, 0 % on Counterfactual, 50 % on prior Identification."""
    wins = Counter[tuple[str, str]]()
    for row in rows_of("perfect-memory", laws, tmp_path):
        original = row.facets["variant"] == "original"
        assert row.passed["weak"] is original, row
        assert row.passed["strict"] in ((None,) if row.facets["strict"] == "weak-only" else (original,)), row
        wins[(row.setting, row.protocol)] += bool(row.passed["weak"])
    assert wins["identification", "prior"] * 4 == len(laws.tasks)


@pytest.mark.parametrize(("name", "passes"), [("reference", True), ("null", False)])
def test_the_ends_of_the_scale(name: str, passes: bool, laws: Laws, tmp_path: Path) -> None:
    """The reference wins every task under every protocol with full marks; the null player wins none."""
    rows = rows_of(name, laws, tmp_path)
    assert {row.passed["weak"] for row in rows} == {passes}
    assert {row.status for row in rows} == {"scored"}
    if passes:
        assert {row.headline for row in rows} == {1.0}


def test_an_insider_without_sealed_definitions_is_refused() -> None:
    """A player that knows the truth cannot be had where the truth is not readable."""
    for name, entry in SCRIPTED.items():
        if entry.kind == "insider":
            with pytest.raises(InputError, match="sealed part"):
                scripted_player(name, family)
        else:
            assert scripted_player(name, family).name == name


def test_an_unknown_player_is_named_with_the_known_ones() -> None:
    """A misspelt player is an error that lists the table."""
    with pytest.raises(InputError, match=r"'oracle'.*reference"):
        scripted_player("oracle", family)


def test_the_checker_stops_where_there_is_nothing_to_check(tmp_path: Path) -> None:
    """On a family without candidates the checker leaves every episode unanswered."""
    venue = ToyVenue()
    player = scripted_player("candidate-checker", lambda name: venue.family)
    create_run(tmp_path / "r", make_plan(RELEASE, venue.rows, player, Selection()), NOW)
    Run(tmp_path / "r", player, venue, lambda: NOW).play()
    assert {row.status for row in read_rows(tmp_path / "r")} == {"missing"}
