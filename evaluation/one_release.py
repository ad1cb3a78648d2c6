"""Which runs a page may put together: those of one release, each player's episodes once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from cards.canonical import digest
from cards.errors import UsageError
from evaluation.episode import EpisodeRow, Slot
from evaluation.leaderboard import StoredRun


@dataclass(frozen=True)
class Chosen:
    """Runs of one release with episodes of one family, oldest first, and why others were left out."""

    version: str
    sha256: str
    window: str
    runs: tuple[StoredRun, ...]
    left_out: tuple[tuple[str, str], ...]
    """(run, reason) of every run that was offered and not chosen."""


@dataclass(frozen=True)
class Seatings:
    """All that one player was planned to play in some runs, slot by slot.

    ``rows`` holds the settled row of the latest run that has one, and ``runs`` that run's name, by slot key.
    """

    player: str
    slots: tuple[Slot, ...]
    rows: dict[str, EpisodeRow]
    runs: dict[str, str]


def choose(
    runs: Sequence[StoredRun], family: str, release: str = "", *, named: bool = False
) -> Chosen | None:
    """Return the runs of one release that planned episodes of ``family``; None where no run did.

    Args:
        runs: from ``load_run``.
        family: its name.
        release: a version; empty: that of the latest run.
        named: whether the user named the runs, so that leaving some out needs to be asked for.

    Raises:
        UsageError: when ``release`` was not played, or named runs are of several releases.
    """
    played = sorted((run for run in runs if any(s.family == family for s in run.slots)), key=_age)
    if not played:
        return None
    versions = list(dict.fromkeys(_version(run) for run in reversed(played)))
    if release and release not in versions:
        raise UsageError(
            f"no run has {family} episodes of release {release}.", f"Played were: {', '.join(versions)}."
        )
    digests = {_sha256(run) for run in played}
    if named and not release and len(digests) > 1:
        raise UsageError(
            f"the named runs are of {len(digests)} releases ({', '.join(versions)}).",
            "Their figures cannot be put together: add --release VERSION.",
        )
    latest = next(run for run in reversed(played) if not release or _version(run) == release)
    chosen = tuple(run for run in played if _sha256(run) == _sha256(latest))
    left = [(run.name, _reason(run, family, latest)) for run in sorted(runs, key=_age) if run not in chosen]
    manifest = latest.manifest["release"]
    return Chosen(manifest["version"], manifest["sha256"], manifest.get("window", ""), chosen, tuple(left))


def seatings(runs: Sequence[StoredRun], family: str) -> list[Seatings]:
    """Return the episodes of ``family`` by player, in the order of their names.

    Where two runs of a player played the same slot, the later run's settled row counts.
    """
    groups: dict[str, list[StoredRun]] = defaultdict(list)
    for run in sorted(runs, key=_age):
        groups[digest(run.manifest["player"])].append(run)
    names = [group[0].manifest["player"]["name"] for group in groups.values()]
    found = []
    for identity, group in groups.items():
        name = group[0].manifest["player"]["name"]
        slots: dict[str, Slot] = {}
        rows: dict[str, EpisodeRow] = {}
        places: dict[str, str] = {}
        for run in group:
            slots |= {slot.key: slot for slot in run.slots if slot.family == family}
            for row in run.rows:
                if row.family == family and (row.settled or row.slot not in rows):
                    rows[row.slot], places[row.slot] = row, run.name
        # Two players of one name differ in spec or prompt; the digest tells them apart.
        shown = name if names.count(name) == 1 else f"{name} #{identity[:6]}"
        found.append(Seatings(shown, tuple(slots.values()), rows, places))
    return sorted(found, key=lambda one: one.player)


def _reason(run: StoredRun, family: str, latest: StoredRun) -> str:
    if all(slot.family != family for slot in run.slots):
        return f"no {family} episode"
    if _version(run) == _version(latest):
        return f"another release of the same version, manifest {_sha256(run)[:16]}"
    return f"release {_version(run)}"


def _age(run: StoredRun) -> tuple[str, str]:
    return str(run.manifest.get("created", "")), run.name


def _version(run: StoredRun) -> str:
    return str(run.manifest["release"]["version"])


def _sha256(run: StoredRun) -> str:
    return str(run.manifest["release"]["sha256"])
