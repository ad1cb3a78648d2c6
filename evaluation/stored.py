"""Runs as they lie on disk, and what each player played in some of them, every episode once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cards.canonical import digest
from evaluation.episode import EpisodeRow, Slot
from evaluation.run import read_manifest
from evaluation.score import read_rows, read_slots


@dataclass(frozen=True)
class StoredRun:
    """A run as it lies on disk."""

    name: str
    manifest: Mapping[str, Any]
    slots: tuple[Slot, ...]
    rows: tuple[EpisodeRow, ...]


@dataclass(frozen=True)
class Seatings:
    """All that one player was planned to play in some runs, slot by slot.

    ``runs`` names the player's runs, oldest first. By slot key, ``rows`` holds the settled row of the latest
    run that has one, and ``places`` that run's name.
    """

    player: str
    runs: tuple[str, ...]
    slots: tuple[Slot, ...]
    rows: dict[str, EpisodeRow]
    places: dict[str, str]


def load_run(folder: Path) -> StoredRun:
    """Read a run from disk.

    Raises:
        RunError: when ``folder`` holds none.
    """
    manifest = read_manifest(folder)
    return StoredRun(folder.name, manifest, tuple(read_slots(folder)), tuple(read_rows(folder)))


def seatings(runs: Sequence[StoredRun], family: str = "") -> list[Seatings]:
    """Return the episodes by player, in the order of their names.

    Where two runs of a player played the same slot, the later run's settled row counts.

    Args:
        runs: of one release.
        family: the only one that counts; empty: all.
    """
    groups: dict[str, list[StoredRun]] = defaultdict(list)
    for run in sorted(runs, key=age):
        groups[digest(run.manifest["player"])].append(run)
    names = [group[0].manifest["player"]["name"] for group in groups.values()]
    found = []
    for identity, group in groups.items():
        name = group[0].manifest["player"]["name"]
        slots: dict[str, Slot] = {}
        rows: dict[str, EpisodeRow] = {}
        places: dict[str, str] = {}
        for run in group:
            slots |= {slot.key: slot for slot in run.slots if family in ("", slot.family)}
            for row in run.rows:
                if family in ("", row.family) and (row.settled or row.slot not in rows):
                    rows[row.slot], places[row.slot] = row, run.name
        # Two players of one name differ in spec or prompt; the digest tells them apart.
        shown = name if names.count(name) == 1 else f"{name} #{identity[:6]}"
        found.append(Seatings(shown, tuple(run.name for run in group), tuple(slots.values()), rows, places))
    return sorted(found, key=lambda one: one.player)


def age(run: StoredRun) -> tuple[str, str]:
    """Return the key by which runs sort, oldest first."""
    return str(run.manifest.get("created", "")), run.name
