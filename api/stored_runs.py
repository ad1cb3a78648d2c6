"""Which stored runs a command reads: those that are named, or all of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from api.evaluate import all_runs, find_run, runs_folder
from api.workspace import Workspace

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
