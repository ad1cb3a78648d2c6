"""Which runs a page puts together: one release, each player's episodes once, the rest named with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from cards.errors import UsageError
from evaluation.episode import EpisodeRow, Slot
from evaluation.one_release import choose
from evaluation.stored import StoredRun, seatings


def run(
    hour: int, version: str, *, family: str = "law", sha: str = "", status: str = "scored", spec: int = 1
) -> StoredRun:
    """Return a run of one episode."""
    seat: dict[str, Any] = {
        "task": "t",
        "family": family,
        "setting": "x",
        "protocol": "prior",
        "repetition": 0,
    }
    key = f"{version}{family}{spec}"
    rows = () if status == "owed" else (
        EpisodeRow(slot=key, **seat, player="p", status=status, ending="completed", events=hour),  # type: ignore[arg-type]
    )  # fmt: skip
    manifest = {
        "created": f"2026-11-30T{hour:02}:00:00+00:00",
        "release": {"version": version, "sha256": sha or version * 8, "window": "w"},
        "player": {"name": "p", "spec": {"v": spec}, "prompt": ""},
    }
    return StoredRun(f"run{hour:02}", manifest, (Slot(key=key, **seat),), rows)


def test_the_release_of_the_latest_run_is_shown() -> None:
    """Not the newest version: what was played last. Runs of others are named with their release."""
    found = choose([run(1, "2026.10.0"), run(2, "2026.11.0"), run(3, "2026.10.0")], "law")
    assert found is not None
    assert (found.version, [one.name for one in found.runs]) == ("2026.10.0", ["run01", "run03"])
    assert found.left_out == (("run02", "release 2026.11.0"),)


def test_a_release_can_be_asked_for() -> None:
    """Only its runs are taken; one that nobody played is an error that names those that were."""
    runs = [run(1, "2026.10.0"), run(2, "2026.11.0"), run(3, "2026.12.0", family="pgm")]
    found = choose(runs, "law", "2026.10.0", named=True)
    assert found is not None
    assert [one.name for one in found.runs] == ["run01"]
    assert found.left_out == (("run02", "release 2026.11.0"), ("run03", "no law episode"))
    with pytest.raises(UsageError, match=r"2026\.12\.0.*2026\.11\.0, 2026\.10\.0"):
        choose(runs, "law", "2026.12.0")


def test_named_runs_of_several_releases_are_refused() -> None:
    """Who names runs means all of them; figures of two releases cannot be put together."""
    with pytest.raises(UsageError, match="2 releases"):
        choose([run(1, "2026.10.0"), run(2, "2026.11.0")], "law", named=True)


def test_two_builds_of_one_version_are_two_releases() -> None:
    """The manifest's digest decides, not the name."""
    found = choose([run(1, "2026.10.0", sha="ab" * 32), run(2, "2026.10.0", sha="cd" * 32)], "law")
    assert found is not None
    assert found.left_out == (("run01", "another release of the same version, manifest abababababababab"),)


def test_runs_without_the_family_choose_nothing() -> None:
    """There is nothing to show."""
    assert choose([run(1, "2026.10.0", family="pgm")], "law") is None
    assert choose([], "law") is None


def test_an_episode_counts_once() -> None:
    """The later settled row of a slot counts; one that failed or is owed does not replace it."""
    runs = [run(1, "v"), run(2, "v"), run(3, "v", status="error"), run(4, "v", status="owed")]
    (seated,) = seatings(runs, "law")
    assert len(seated.slots) == 1
    assert {row.events for row in seated.rows.values()} == {2}
    assert set(seated.places.values()) == {"run02"}
    assert seated.runs == ("run01", "run02", "run03", "run04")


def test_players_of_one_name_are_told_apart() -> None:
    """Another specification is another player."""
    found = seatings([run(1, "v"), run(2, "v", spec=2)], "law")
    assert len({one.player for one in found}) == 2
    assert all(one.player.startswith("p #") for one in found)
