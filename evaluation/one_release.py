"""Which runs a page may put together: those of one release; the others are named with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cards.errors import UsageError
from evaluation.stored import StoredRun, age


@dataclass(frozen=True)
class Chosen:
    """Runs of one release with episodes of one family, oldest first, and why others were left out."""

    version: str
    sha256: str
    window: str
    runs: tuple[StoredRun, ...]
    left_out: tuple[tuple[str, str], ...]
    """(run, reason) of every run that was offered and not chosen."""


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
    played = sorted((run for run in runs if any(s.family == family for s in run.slots)), key=age)
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
    left = [(run.name, _reason(run, family, latest)) for run in sorted(runs, key=age) if run not in chosen]
    manifest = latest.manifest["release"]
    return Chosen(manifest["version"], manifest["sha256"], manifest.get("window", ""), chosen, tuple(left))


def _reason(run: StoredRun, family: str, latest: StoredRun) -> str:
    if all(slot.family != family for slot in run.slots):
        return f"no {family} episode"
    if _version(run) == _version(latest):
        return f"another release of the same version, manifest {_sha256(run)[:16]}"
    return f"release {_version(run)}"


def _version(run: StoredRun) -> str:
    return str(run.manifest["release"]["version"])


def _sha256(run: StoredRun) -> str:
    return str(run.manifest["release"]["sha256"])
