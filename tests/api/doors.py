"""Real doors on loopback over a small release, for the tests of the doors."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import uvicorn

from api.serve import _listen
from cards.errors import InputError
from cards.store import historical
from environments.families import family
from environments.task import Task, TaskRow

CARD = "kepler"
PARAMS = {"tier": "medium", "tau": 0.9, "fixed_budget": 4, "call_cap": 64, "eval_points": 256}


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Shelf:
    """One unpublished release in memory, with the words that the doors use of a release."""

    held: list[Task]
    version: str = "2026.11.0"
    manifest_sha256: str = "ab" * 32
    manifest: Any = field(default_factory=lambda: SimpleNamespace(window=SimpleNamespace(model_dump=dict)))

    def rows(self) -> list[TaskRow]:
        return [task.row for task in self.held]

    def task(self, identity: str) -> Task:
        found = next((task for task in self.held if task.row.id == identity), None)
        if found is None:
            raise InputError(
                f"there is no task {identity}.", "The release's tasks are listed in tasks.jsonl."
            )
        return found

    def of(self, variant: str, setting: str) -> Task:
        return next(t for t in self.held if t.facets["variant"] == variant and t.row.setting == setting)


def shelf() -> Shelf:
    card = next(card for card in historical() if card.id == CARD)
    return Shelf(list(family("law").build([card], PARAMS, b"k" * 32)))


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application on a free port of loopback until the block ends."""
    listening = _listen(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", access_log=False, server_header=False, date_header=False)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
