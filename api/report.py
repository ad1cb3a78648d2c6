"""Gather what a report of some runs needs: rows, and the analyses of their records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from api.seats import LocalHall
from api.workspace import Workspace
from cards.errors import RunError
from environments.families import family
from evaluation.journal import read_record
from evaluation.law_report import Episode, sections
from evaluation.leaderboard import load_run
from evaluation.score import journal_path


def law_episodes(workspace: Path, folder: Path) -> list[Episode]:
    """Return the settled law episodes of a run with their analyses.

    Raises:
        RunError: when the run's release is not at hand with its sealed part.
    """
    run = load_run(folder)
    hall = LocalHall(Workspace.find(workspace).release(run.manifest["release"]["version"]))
    if not hall.sealed:
        raise RunError(
            f"the sealed part of release {run.manifest['release']['version']} is not here.",
            "Make the report where the sealed remote is readable.",
        )
    slots = {slot.key: slot for slot in run.slots}
    episodes = []
    for row in run.rows:
        slot = slots.get(row.slot)
        record = read_record(journal_path(folder, slot)) if slot is not None and row.settled else None
        if slot is None or record is None or row.family != "law":
            continue
        task = hall.task(row.task)
        full = row.model_copy(update={"cluster": task.cluster, "facets": dict(task.facets)})
        episodes.append(Episode(full, family("law").analyses(task.definition, record)))
    return episodes


def report(workspace: Path, folders: Sequence[Path], now: datetime) -> str:
    """Return the report page of some runs.

    Raises:
        RunError: when they hold no law episode.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    episodes = [episode for folder in folders for episode in law_episodes(workspace, folder)]
    if not episodes:
        raise RunError("these runs hold no settled law episode.", "Play some with `almanac evaluate`.")
    environment = Environment(
        loader=PackageLoader("evaluation", "templates"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("report.html").render(
        sections=sections(episodes),
        runs=[folder.name for folder in folders],
        made=now.strftime("%Y-%m-%d %H:%M UTC"),
    )
