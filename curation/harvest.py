"""Collect listings, dates and sources: the part of harvest that touches the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from cards.dates import DateInterval
from cards.errors import SourceError
from curation.arrivals import Arrivals
from curation.arxiv_source import ArxivSource, day_windows
from curation.crossref import Crossref
from curation.date_gate import arxiv_month, related
from curation.paper import Paper
from curation.shelf import Shelf

RECHECK = timedelta(days=7)
"""A paper without a journal record is asked for again after this time."""


MAX_FAILURES = 3
"""Papers in a row whose requests failed before the rest is left to the next run."""


@dataclass(frozen=True)
class Collection:
    """What to collect, from where, and into which arrivals.

    ``after`` is the window's lower bound. ``first`` and ``last`` are the UTC days to list; without
    them, or without ``arxiv``, only the dates of known papers are looked up.
    """

    arrivals: Arrivals
    now: datetime
    after: DateInterval
    arxiv: ArxivSource | None = None
    crossref: Crossref | None = None
    categories: tuple[str, ...] = ()
    first: date | None = None
    last: date | None = None


@dataclass
class CollectReport:
    """What a collection found: counts, and one line for each thing that is still owed."""

    complete: int = 0
    papers: int = 0
    fetched: int = 0
    pending: list[str] = field(default_factory=list)


def collect(job: Collection) -> CollectReport:
    """List the windows, look up dates, and fetch the sources of papers that pass the date gate.

    What is already recorded is not asked for again, so that a finished window costs no request. What
    cannot be had stays pending, with a reason, and is tried again by the next run.
    """
    report = CollectReport()
    _list_windows(job, report)
    shelf = Shelf(job.arrivals, job.after)
    failures = 0
    for key in shelf.keys():  # noqa: SIM118  a shelf is not a dict
        report.papers += 1
        try:
            _look_up_dates(job, shelf, shelf.paper(key))
            report.fetched += _fetch_source(job, shelf, shelf.paper(key))
            failures = 0
        except SourceError as error:
            report.pending.append(f"{key}: {error}")
            failures += 1
        if failures == MAX_FAILURES:
            report.pending.append("every later paper: the services do not answer; run again later")
            break
    return report


def _list_windows(job: Collection, report: CollectReport) -> None:
    if job.arxiv is None or job.first is None or job.last is None:
        return
    for window in day_windows(job.first, job.last, job.categories):
        record = job.arrivals.window(window.name)
        if record is None or not record["complete"]:
            record = job.arxiv.listing(window, job.arrivals, job.now)
            job.arrivals.put_window(window.name, record)
        report.complete += record["complete"]
        if not record["complete"]:
            report.pending.append(f"{window.name}: {record['reason']}")


def _look_up_dates(job: Collection, shelf: Shelf, paper: Paper) -> None:
    """Ask for the paper's own record, or by its title, then for every record named as the same work."""
    if job.crossref is None or not _dates_due(job, shelf, paper):
        return
    if paper.doi:
        own = job.crossref.work(paper.doi)
        replies = {f"doi:{paper.doi}": own}
        records = [own] if own else []
    else:
        records = job.crossref.search(paper.title, paper.authors[0] if paper.authors else "")
        replies = {f"title:{number}": record for number, record in enumerate(records)} or {"title": None}
    known = {str(record.get("DOI", "")).casefold() for record in records} | {(paper.doi or "").casefold()}
    for name in sorted({name for record in records for name in related(record)}):
        if name.startswith("10.") and name.casefold() not in known and not arxiv_month(name):
            replies[f"doi:{name}"] = job.crossref.work(name)
    seen = job.now.isoformat()
    rows = [
        {"paper": paper.key, "asked": asked, "reply": reply, "seen": seen} for asked, reply in replies.items()
    ]
    # All at once: a paper with only some of its replies would not be asked about again for a week.
    job.arrivals.append("dates", *rows)
    for row in rows:
        shelf.add_dates(row)


def _dates_due(job: Collection, shelf: Shelf, paper: Paper) -> bool:
    if paper.verdict.stage == "date_gate" and paper.verdict.outcome == "rejected":
        return False
    asked = shelf.last_asked(paper.key)
    overdue = asked is not None and job.now - datetime.fromisoformat(asked) >= RECHECK
    return asked is None or (overdue and paper.verdict.outcome == "awaiting_journal")


def _fetch_source(job: Collection, shelf: Shelf, paper: Paper) -> int:
    """Fetch the source of a paper that passed the gate and has none yet; return how many were fetched."""
    wanted = paper.verdict.reason == "source_pending" and not shelf.asked_for_source(paper.key)
    if job.arxiv is None or not wanted:
        return 0
    listing_id, _, version = paper.key.removeprefix("arxiv:").rpartition("v")
    answer = job.arxiv.source(listing_id, int(version))
    found = answer.status_code == 200 and bool(answer.content)
    row = {
        "paper": paper.key,
        "sha256": job.arrivals.put(answer.content) if found else None,
        "status": answer.status_code,
        "seen": job.now.isoformat(),
    }
    job.arrivals.append("contents", row)
    shelf.add_content(row)
    return int(found)
