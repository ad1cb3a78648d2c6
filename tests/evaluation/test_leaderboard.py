"""The board: runs put together, as data and in the terminal."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from evaluation.leaderboard import board_document, boards, print_boards, summary
from evaluation.plan import Selection
from evaluation.run import Run, create_run
from evaluation.stored import load_run
from tests.evaluation.toy import RELEASE, BisectingPlayer, ToyVenue, saying, toy_plan

NOW = datetime(2026, 11, 30, tzinfo=UTC)
VENUE = ToyVenue(clusters=12)


def play(folder: Path, player: Any, selection: Selection | None = None, venue: ToyVenue = VENUE) -> Path:
    create_run(folder, toy_plan(venue, player, selection), NOW)
    Run(folder, player, venue, lambda: NOW).play()
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three players, one of them in two runs that share the plan between them."""
    runs = tmp_path_factory.mktemp("runs")
    return [
        play(runs / "1", saying(3, "memory")),
        play(runs / "2", BisectingPlayer(), Selection(protocols=("prior",))),
        play(runs / "3", BisectingPlayer(), Selection(protocols=("adaptive",))),
        play(runs / "4", saying(9, "wrong")),
    ]


def printed(folders: list[Path], width: int = 80) -> str:
    text = io.StringIO()
    found = boards([load_run(path) for path in folders], {RELEASE["sha256"]: VENUE.words})
    print_boards(found, Console(file=text, width=width))
    return text.getvalue()


def test_runs_of_one_player_are_one_entry(folders: list[Path]) -> None:
    """Two runs with different protocols are one player on the board; no episode counts twice."""
    board = boards([load_run(path) for path in folders + folders])[0]
    assert [entry.player for entry in board.entries] == ["bisecting", "memory", "wrong"]
    assert {cell.n for entry in board.entries for cell in entry.cells} == {12}


def test_a_board_holds_one_release(folders: list[Path], tmp_path: Path) -> None:
    """Runs of different releases never stand on one board; the newest release comes first."""
    other = load_run(folders[0])
    release = {"version": "2027.2.0", "sha256": "cd" * 32, "window": "later"}
    moved = type(other)("x", {**other.manifest, "release": release}, other.slots, other.rows)
    found = boards([load_run(folders[0]), moved])
    assert [board.version for board in found] == ["2027.2.0", "2026.11.0"]


def test_the_table_fits_80_columns_and_shows_what_it_must(folders: list[Path]) -> None:
    """n per status, intervals, the window and the manifest's digest stand in the terminal's table."""
    text = printed(folders)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    for words in ("12 scored", "100% [75, 100]", "abababab", "papers public after 2026-06-01", "+100 ["):
        assert words in text


def test_rows_are_sorted_best_first_inside_a_condition(folders: list[Path]) -> None:
    """Inside one protocol and variant the better player stands above."""
    board = boards([load_run(path) for path in folders])[0]
    _, rows = board.sections()[0]
    counterfactual = [player for player, cell in rows if cell.key.variant == "counterfactual"]
    assert counterfactual[0] == "bisecting"


def test_a_cell_with_open_episodes_is_named_and_bounded(folders: list[Path], tmp_path: Path) -> None:
    """Below 98 % coverage a cell has no row; it is listed with its bounds instead."""
    venue = ToyVenue(clusters=12)
    venue.broken = {venue.rows[0].id}
    folder = play(tmp_path / "broken", saying(3, "half"), venue=venue)
    text = printed([folder], width=200)
    assert "no row: half, toy toys guess original prior: 91.7% of 12 episodes determined" in text
    assert "weak between 92% and 100%" in text


def test_lost_words_count_against_every_cell_of_their_kind(tmp_path: Path) -> None:
    """Where nobody can say which twin an open episode was, neither twin's cell has a row."""
    venue = ToyVenue(clusters=12)
    venue.broken = {venue.rows[0].id}
    board = boards([load_run(play(tmp_path / "broken", saying(3, "half"), venue=venue))])[0]
    assert board.sections() == []


def test_players_of_one_name_are_told_apart(folders: list[Path], tmp_path: Path) -> None:
    """Another spec under the same name is another player."""
    player = saying(3, "memory")
    player.spec["version"] = 2
    board = boards([load_run(folders[0]), load_run(play(tmp_path / "v2", player))])[0]
    assert len({entry.player for entry in board.entries}) == 2
    assert all(entry.player.startswith("memory #") for entry in board.entries)


def test_boards_and_summaries_are_plain_json(folders: list[Path]) -> None:
    """What a program reads holds the same cells as what people see."""
    board = boards([load_run(folders[0])])[0]
    document = json.loads(json.dumps(board_document(board), allow_nan=False))
    alone = json.loads(json.dumps(summary(load_run(folders[0])), allow_nan=False))
    assert document["entries"][0]["cells"] == alone["cells"]
    assert alone["cells"][0]["on_board"] is True
