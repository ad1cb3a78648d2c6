"""Which stored runs a command reads: those that are named, or all of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.evaluate import all_runs, find_run, runs_folder
from api.workspace import Workspace

if TYPE_CHECKING:
    from evaluation.one_release import Chosen

DEFAULT = Path("workspace")


def runs_on_offer(workspace: Path, names: Sequence[str] | None = None) -> tuple[Path, list[Path]]:
    """Return the folder of runs, and the runs in it that are named (all of them where none is).

    Without a workspace runs lie below the current folder, where only the default may overlook it.

    Raises:
        WorkspaceError: when ``workspace`` does not exist.
        RunError: when a named run does not exist.
    """
    folder = runs_folder(workspace)
    if not workspace.is_dir() and (workspace != DEFAULT or not (names or folder.is_dir())):
        Workspace.find(workspace)
    return folder, [find_run(folder, name) for name in names] if names else all_runs(folder)


def chosen_runs(
    workspace: Path, names: Sequence[str] | None, release: str, family: str
) -> tuple[Path, Chosen | None]:
    """Return the folder of runs, and those of one release that planned episodes of ``family``.

    Raises:
        WorkspaceError, RunError: as ``runs_on_offer`` does.
        UsageError: as ``choose`` does.
    """
    from evaluation.one_release import choose
    from evaluation.stored import load_run

    folder, offered = runs_on_offer(workspace, names)
    return folder, choose([load_run(path) for path in offered], family, release, named=bool(names))


def chosen_document(chosen: Chosen | None) -> dict[str, Any]:
    """Return which release and runs a page is about, and what was left out, as it stands in ``--json``."""
    return {
        "release": chosen.version if chosen else None,
        "runs": [run.name for run in chosen.runs] if chosen else [],
        "left_out": [{"run": run, "reason": why} for run, why in chosen.left_out] if chosen else [],
    }
