"""Play a plan: owed slots only, some at a time, every outcome on disk before the next one counts.

A run directory holds manifest.json, plan.jsonl, episodes.jsonl, journal/, ledger.jsonl (written by
the gateway), status.json and summary.json. Killed at any moment, it is continued by playing what
has no settled row; journals keep what was bought.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any

from cards.errors import AlmanacError, CapError, GatewayError, RunError
from environments.task import Ending
from evaluation.episode import EpisodeRow, Player, RunState, Slot, Usage, Venue
from evaluation.journal import Journal, Log
from evaluation.plan import Plan
from evaluation.play import play
from evaluation.score import error_row, journal_path, read_rows, read_slots, scored_row

STATUS_EVERY_S = 2.0
MAX_ERRORS_IN_A_ROW = 5
"""So many failed episodes without a good one between them stop the run: the fault is not theirs."""

EXIT_CODES: dict[RunState, int] = {"complete": 0, "running": 3, "resumable": 3, "interrupted": 3, "capped": 4}


@dataclass
class Progress:
    """Where a run stands; what status.json shows."""

    planned: int
    state: RunState = "running"
    statuses: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    unpriced: int = 0
    last_error: str = ""

    @property
    def settled(self) -> int:
        """Slots that need no further play."""
        return sum(count for status, count in self.statuses.items() if status != "error")

    def add(self, row: EpisodeRow) -> None:
        """Count one row."""
        self.statuses[row.status] += 1
        self.calls += row.usage.calls
        self.tokens_in += row.usage.tokens_in
        self.tokens_out += row.usage.tokens_out
        self.usd += row.usage.usd or 0.0
        self.unpriced += row.usage.usd is None

    def document(self, now: datetime) -> dict[str, Any]:
        """Return the content of status.json."""
        return {
            "state": self.state,
            "updated": now.isoformat(timespec="seconds"),
            "pid": os.getpid(),
            "planned": self.planned,
            "settled": self.settled,
            "owed": self.planned - self.settled,
            "by_status": dict(sorted(self.statuses.items())),
            "calls": self.calls,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "usd": round(self.usd, 6),
            "unpriced_episodes": self.unpriced,
            "last_error": self.last_error,
        }


def create_run(folder: Path, plan: Plan, created: datetime) -> None:
    """Make a run directory with its manifest and plan, before anything is played.

    Raises:
        RunError: when the directory exists already.
    """
    try:
        folder.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        raise RunError(f"the run {folder.name} exists already.", "Continue it with --resume.") from None
    (folder / "journal").mkdir()
    log = Log(folder / "plan.jsonl")
    for slot in plan.slots:
        log.append(slot.model_dump(), durable=False)
    log.close()
    manifest = {
        "run": folder.name,
        "created": created.isoformat(timespec="seconds"),
        "release": dict(plan.release),
        "player": dict(plan.player),
        "selection": plan.selection.describe(),
        "options": dict(plan.options),
        "episodes": len(plan.slots),
    }
    write_json(folder / "manifest.json", manifest)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return a run's manifest.

    Raises:
        RunError: when there is no run in ``folder``, or its manifest cannot be read.
    """
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(
            f"there is no readable run in {folder} ({error}).", "Name a folder below runs/."
        ) from error
    if not isinstance(manifest, dict):
        raise RunError(f"the manifest of {folder} is not an object.", "Start a new run.")
    return manifest


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Replace a small JSON file in one step."""
    draft = path.with_name(path.name + ".new")
    draft.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(draft, path)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the run; the system lets go of it when the process ends, however it ends."""
    with (folder / "manifest.json").open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(
                f"another process is playing the run {folder.name}.", "Wait until it ends."
            ) from None
        yield


class Run:
    """One process's work on one run directory.

    Args:
        folder: made by ``create_run``.
        player: who plays; must be the one that the plan was made for.
        venue: where the episodes take place.
        now: the clock, for status.json only.
        notify: called after every row and on every tick, for a progress display.
    """

    def __init__(
        self,
        folder: Path,
        player: Player,
        venue: Venue,
        now: Callable[[], datetime],
        notify: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._folder, self._player, self._venue = folder, player, venue
        self._now, self._notify = now, notify
        slots = read_slots(folder)
        settled = [row for row in read_rows(folder) if row.settled]
        keys = {row.slot for row in settled}
        self._owed = [slot for slot in slots if slot.key not in keys]
        self._stop = Event()
        self._errors_in_a_row = 0
        self.progress = Progress(planned=len(slots))
        for row in settled:
            self.progress.add(row)

    def interrupt(self) -> None:
        """Ask the run to stop after the actions in flight; safe in a signal handler."""
        self.progress.state = "interrupted"
        self._stop.set()

    def play(self, concurrency: int = 1) -> RunState:
        """Play everything owed, ``concurrency`` episodes at a time, and return how it ended.

        Raises:
            RunError: when another process is playing this run.
        """
        with _alone(self._folder):
            rows = Log(self._folder / "episodes.jsonl")
            try:
                with ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="episode") as pool:
                    for row in self._outcomes(pool, concurrency):
                        rows.append(row.model_dump())
                        self._count(row)
            finally:
                rows.close()
                if self.progress.state == "running":
                    complete = self.progress.settled == self.progress.planned
                    self.progress.state = "complete" if complete else "resumable"
                self._tick()
        return self.progress.state

    def _outcomes(self, pool: ThreadPoolExecutor, concurrency: int) -> Iterator[EpisodeRow]:
        """Yield rows as episodes end, keeping ``concurrency`` of them in flight."""
        owed = iter(self._owed)
        flying: set[Future[EpisodeRow]] = set()
        self._tick()
        ticked = self._now()
        while True:
            while len(flying) < concurrency and not self._stop.is_set():
                slot = next(owed, None)
                if slot is None:
                    break
                flying.add(pool.submit(self._episode, slot))
            if not flying:
                return
            done, flying = wait(flying, timeout=STATUS_EVERY_S, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
            if (self._now() - ticked).total_seconds() >= STATUS_EVERY_S:
                self._tick()
                ticked = self._now()

    def _episode(self, slot: Slot) -> EpisodeRow:
        """Play and score one slot; whatever goes wrong becomes an error row."""
        journal = Journal(journal_path(self._folder, slot))
        usage = Usage()
        try:
            seat, ticket = self._venue.open(slot, journal.ticket)
            journal.keep_ticket(ticket)
            hand = self._player.sit(slot, journal)
            try:
                record = play(hand, seat, journal, self._stop.is_set)
            finally:
                usage = hand.usage
            if record.ending == "interrupted":
                return error_row(slot, self._player.name, "interrupted", "the run was stopped", usage)
            verdict = self._venue.judge(slot, record, ticket)
            return scored_row(slot, self._player.name, record, verdict, usage)
        except CapError as error:
            return self._failed(slot, "cost_cap", f"cap: {error}", usage)
        except AlmanacError as error:
            kind = "provider" if isinstance(error, GatewayError) else type(error).__name__
            return self._failed(slot, "unfinished", f"{kind}: {error}", usage)
        except Exception as error:  # one broken episode must not take the others with it
            return self._failed(slot, "unfinished", f"{type(error).__name__}: {error}", usage)
        finally:
            journal.close()

    def _failed(self, slot: Slot, ending: Ending, finding: str, usage: Usage) -> EpisodeRow:
        return error_row(slot, self._player.name, ending, finding, usage)

    def _count(self, row: EpisodeRow) -> None:
        self.progress.add(row)
        if row.settled:
            self._errors_in_a_row = 0
        elif row.ending != "interrupted":
            self._errors_in_a_row += 1
            self.progress.last_error = row.findings[0]
        if row.ending == "cost_cap":
            self.progress.state = "capped"
            self._stop.set()
        elif self._errors_in_a_row >= MAX_ERRORS_IN_A_ROW:
            self._stop.set()
        self._notify(self.progress)

    def _tick(self) -> None:
        write_json(self._folder / "status.json", self.progress.document(self._now()))
        self._notify(self.progress)
