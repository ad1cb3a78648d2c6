"""Buy: the parts of a cut that touch the world, composed of settings, clients and curation's functions.

Whatever is bought is an arrival: kept whole in the store before anything is made of it, and never bought
again. Stages replay it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from api.models import gateways
from api.workspace import Workspace
from cards.canonical import canonical_json
from cards.dates import parse_interval
from cards.errors import OwedCallError
from curation.arrivals import Arrivals
from curation.buy import buy, left_out
from curation.cut_record import CutRecord
from curation.rows import write_bytes
from curation.workbench import Workbench

Stage = Literal["extract", "review"]

LEFT_OUT = "left_out.json"
SHOWN = 5
TIMEOUT_SECONDS = 60.0
CROSSREF_SECONDS = 0.05
"""Shortest time between two requests to Crossref; its rate headers may lengthen it."""


@dataclass
class Buyer:
    """What one cut may buy; with ``offline`` nothing but the papers of a folder.

    ``pending`` collects a line for everything that could not be had and waits for the next cut.
    """

    workspace: Workspace
    params: Mapping[str, Any]
    clock: Callable[[], datetime]
    offline: bool = False
    pending: list[str] = field(default_factory=list)

    def collect(self, record: CutRecord, source: Path | None) -> None:
        """Collect a folder's papers, listings, dates and sources into the store's arrivals.

        They are dated by the cut's due time rather than by the clock, so that a run that was broken off
        and one that was not record the same.
        """
        arrivals = Arrivals(self.workspace.arrivals)
        now = min(self.clock(), datetime.fromisoformat(record.due))
        if source is not None:
            from curation.folder_source import collect_folder

            collect_folder(source, arrivals, now)
        if not self.offline:
            self._collect_online(record, arrivals, now)

    @property
    def asks(self) -> bool:
        """Whether a model may be asked at all."""
        return not self.offline and bool(self.workspace.settings.base_url)

    def stages(self) -> tuple[Stage, ...]:
        """Return the stages whose replies are bought."""
        wanted: list[Stage] = []
        if self.params["extract"]["extractor"] == "model" and self.params["extract"]["model"]:
            wanted.append("extract")
        if self.params["review"]["model"]:
            wanted.append("review")
        return tuple(wanted) if self.asks else ()

    def leave_out(self, pinned: Path, key: bytes) -> None:
        """Record in the pin the papers that nobody may be asked about; a rebuild leaves them unread too."""
        path = pinned / LEFT_OUT
        path.unlink(missing_ok=True)
        if self.asks:
            return
        models = gateways(self.workspace, self.params, buy=False)
        keys = sorted(left_out(Workbench(pinned, self.params, key, models), Arrivals(pinned)))
        if keys:
            write_bytes(path, canonical_json(keys) + b"\n")
            self.pending += [f"{name}: not read, no model may be asked" for name in keys]

    def buy(self, stage: Stage, clone: Path, key: bytes) -> None:
        """Ask a model for every reply that ``stage`` needs and the call store lacks.

        Raises:
            OwedCallError: when a reply could not be had; what was bought is kept, the next run goes on.
        """
        models = gateways(self.workspace, self.params, buy=True)
        try:
            owed = buy(stage, Workbench(clone, self.params, key, models))
        finally:
            for gateway in models.values():
                gateway.close()
        if owed:
            message = f"{len(owed)} replies are still owed for {stage}: {'; '.join(owed[:SHOWN])}"
            raise OwedCallError(message, "Run `almanac cut` again; it buys only what is missing.")

    def _collect_online(self, record: CutRecord, arrivals: Arrivals, now: datetime) -> None:
        from curation.arxiv_source import ArxivSource
        from curation.crossref import Crossref
        from curation.harvest import Collection, collect

        settings = self.workspace.settings
        categories = tuple(self.params["sources"]["categories"] or ())
        with _sessions(self.workspace) as (listing, registry):
            report = collect(
                Collection(
                    arrivals=arrivals,
                    now=now,
                    after=parse_interval(str(self.params["window"]["after"])),
                    arxiv=ArxivSource(settings.arxiv_url, listing),
                    crossref=Crossref(settings.crossref_url, registry, settings.contact),
                    categories=categories,
                    first=date.fromisoformat(record.first) if record.first and categories else None,
                    last=date.fromisoformat(record.last) if record.last and categories else None,
                )
            )
        self.pending += report.pending


@contextmanager
def _sessions(workspace: Workspace) -> Iterator[tuple[Any, Any]]:
    """Yield polite sessions for arXiv and Crossref: paced over all processes, with a contact."""
    import httpx2

    from curation.polite import Pace, PoliteSession, Time

    settings = workspace.settings
    contact = f" (mailto:{settings.contact})" if settings.contact else ""
    agent = {"User-Agent": f"almanac/{version('almanac-bench')}{contact}"}
    clock, rng = Time(time.time, time.sleep), random.Random()
    with httpx2.Client(headers=agent, timeout=TIMEOUT_SECONDS) as client:
        arxiv = Pace(workspace.store / "arxiv.pace", settings.arxiv_seconds, clock)
        crossref = Pace(workspace.store / "crossref.pace", CROSSREF_SECONDS, clock)
        yield PoliteSession(client, arxiv, rng), PoliteSession(client, crossref, rng)
