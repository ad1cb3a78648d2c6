"""Scoring again from stored records."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from evaluation.run import Run, create_run
from evaluation.score import read_rows, rescore
from tests.evaluation.toy import ToyVenue, saying, toy_plan


def played(folder: Path, venue: ToyVenue) -> Path:
    player = saying(3)
    create_run(folder, toy_plan(venue, player), datetime(2026, 11, 30, tzinfo=UTC))
    Run(folder, player, venue, lambda: datetime(2026, 11, 30, tzinfo=UTC)).play()
    return folder


def test_rows_follow_from_the_stored_records(tmp_path: Path) -> None:
    """Any run can be scored again offline and gives the same rows."""
    venue = ToyVenue()
    pairs = rescore(played(tmp_path / "r", venue), venue.judge)
    assert len(pairs) == 12
    assert all(stored == now for stored, now in pairs)


def test_a_tampered_row_is_found(tmp_path: Path) -> None:
    """A row that does not follow from its record differs from the new score."""
    venue = ToyVenue()
    path = played(tmp_path / "r", venue) / "episodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"headline":0.0', b'"headline":0.5', 1))
    assert sum(stored != now for stored, now in rescore(tmp_path / "r", venue.judge)) == 1


def test_the_last_row_of_a_slot_counts(tmp_path: Path) -> None:
    """Rows are appended; of two rows for one slot the later one is read."""
    folder = played(tmp_path / "r", ToyVenue())
    path = folder / "episodes.jsonl"
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(path.read_bytes() + first.replace(b'"headline":1.0', b'"headline":0.25'))
    rows = read_rows(folder)
    assert len(rows) == 12
    assert rows[0].headline == 0.25
