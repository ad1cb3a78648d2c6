"""Gather what a report of some runs needs: one release, every player's episodes once, their analyses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from api.seats import LocalHall
from api.workspace import Workspace
from cards.errors import RunError
from environments.law.analyses import analyses
from environments.law.definition import LawDefinition
from environments.law.failures import Refits
from environments.task import JSON, Score
from evaluation.episode import EpisodeRow, Slot
from evaluation.journal import read_record
from evaluation.law_figures import Episode
from evaluation.law_report import chapters
from evaluation.one_release import Chosen, choose
from evaluation.score import journal_path
from evaluation.sections import Chapter
from evaluation.statistics import join
from evaluation.stored import Seatings, load_run, seatings

FAMILY = "law"
Notify = Callable[[int, int], None]
"""Called with the number of episodes analysed so far, and of all."""


@dataclass(frozen=True)
class Report:
    """All figures of the law runs of one release."""

    chosen: Chosen
    players: Mapping[str, tuple[str, ...]]
    """The runs of each player."""
    chapters: Sequence[Chapter]

    def document(self) -> dict[str, Any]:
        """Return everything as plain JSON."""
        release = {name: getattr(self.chosen, name) for name in ("version", "sha256", "window")}
        return {
            "release": release,
            "runs": [run.name for run in self.chosen.runs],
            "left_out": [{"run": run, "reason": reason} for run, reason in self.chosen.left_out],
            "players": {player: list(runs) for player, runs in self.players.items()},
            "chapters": [chapter.document() for chapter in self.chapters],
        }


def gather(
    workspace: Path,
    folders: Sequence[Path],
    release: str = "",
    *,
    named: bool = False,
    notify: Notify = lambda done, total: None,
) -> Report:
    """Return the report of the law episodes of one release.

    Args:
        workspace: where the release's sealed part is.
        folders: of the runs on offer.
        release: a version; empty: that of the latest run.
        named: whether the user named the runs.
        notify: is told how far the work is.

    Raises:
        UsageError: when ``release`` was not played, or named runs are of several releases.
        RunError: when no run has a settled law episode, or the sealed part is not at hand.
    """
    chosen = choose([load_run(folder) for folder in folders], FAMILY, release, named=named)
    if chosen is None or not any(row.family == FAMILY for run in chosen.runs for row in run.rows):
        raise RunError("these runs hold no settled law episode.", "Play some with `almanac evaluate`.")
    hall = LocalHall(Workspace.find(workspace).release(chosen.version))
    if not hall.sealed:
        raise RunError(
            f"the sealed part of release {chosen.version} is not here.",
            "Make the report where the sealed remote is readable.",
        )
    if hall.release["sha256"] != chosen.sha256:
        raise RunError(
            f"these runs were made on another release {chosen.version} than the one at hand.",
            "Name the workspace in which they were played with --workspace.",
        )
    seated = seatings(chosen.runs, FAMILY)
    places = {folder.name: folder for folder in folders}
    analyst = _Analyst(hall, places, sum(len(one.rows) for one in seated), notify)
    episodes = [episode for one in seated for episode in analyst.episodes(one)]
    players = {one.player: one.runs for one in seated}
    return Report(chosen, players, chapters(episodes))


class _Analyst:
    """Analyses records, each world read once and each submission to it refitted once."""

    def __init__(self, hall: LocalHall, places: Mapping[str, Path], total: int, notify: Notify) -> None:
        self._hall, self._places = hall, places
        self._known = hall.known()
        self._world = lru_cache(None)(self._read)
        self._done, self._total, self._notify = 0, total, notify

    def episodes(self, seated: Seatings) -> list[Episode]:
        """Return one player's episodes, those without a settled record without analyses."""
        found = []
        for outcome in join(seated.slots, seated.rows.values(), self._known):
            made = None
            if outcome.row is not None:
                self._done += 1
                self._notify(self._done, self._total)
                made = self._analyse(outcome.slot, outcome.row, self._places[seated.places[outcome.slot.key]])
            found.append(Episode(seated.player, outcome, made))
        return found

    def _analyse(self, slot: Slot, row: EpisodeRow, folder: Path) -> Mapping[str, JSON] | None:
        record = read_record(journal_path(folder, slot)) if row.settled else None
        if record is None:
            return None
        definition, refits = self._world(slot.task)
        score = Score(
            status=row.status,
            headline=row.headline,
            passed=row.passed,
            parts=row.parts,
            protocol_ok=row.protocol_ok,
            findings=row.findings,
        )
        return analyses(definition, record, score, refits)

    def _read(self, task: str) -> tuple[LawDefinition, Refits]:
        return LawDefinition.model_validate(self._hall.task(task).definition), {}


def render(report: Report, now: datetime) -> str:
    """Return a report as one static page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("evaluation", "templates"), autoescape=True, undefined=StrictUndefined
    )
    rows = [(run, sum(row.settled for row in run.rows), len(run.slots)) for run in report.chosen.runs]
    return environment.get_template("report.html").render(
        chosen=report.chosen,
        players=report.players,
        rows=[(run.name, run.manifest["player"]["name"], done, planned) for run, done, planned in rows],
        chapters=report.chapters,
        made=now.strftime("%Y-%m-%d %H:%M UTC"),
    )
