"""arXiv: listings of one window by the ``arxiv`` package, and e-print sources.

The package alone would take "Rate exceeded." with status 200, an HTML page or a cut-off feed for an
empty listing. So it runs on our own session, which looks at every page before the package does, and a
window counts as complete only when the number of unique ids equals the announced total.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from cards.errors import SourceError
from curation.arrivals import Arrivals
from curation.paper import Listing
from curation.polite import Fetched, PoliteSession

if TYPE_CHECKING:
    import arxiv

PAGE_SIZE = 500
WINDOW_LIMIT = 1000
"""A window that announces more entries is split in two."""
SETTLING = timedelta(hours=6)
"""A day's listing is final this long after the day ended (UTC)."""
_ATOM = "{http://www.w3.org/2005/Atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_ID = re.compile(r"(?P<id>.+?)v(?P<version>\d+)\Z")


@dataclass(frozen=True)
class Window:
    """The submissions of one category in [start, end], to the minute, UTC."""

    category: str
    start: datetime
    end: datetime

    @property
    def name(self) -> str:
        """The window's file name."""
        return f"{self.category}_{self.start:%Y%m%d%H%M}_{self.end:%Y%m%d%H%M}"

    @property
    def query(self) -> str:
        """The query; only ``submittedDate`` filters by date reliably."""
        return f"cat:{self.category} AND submittedDate:[{self.start:%Y%m%d%H%M} TO {self.end:%Y%m%d%H%M}]"

    def halves(self) -> tuple[Window, Window] | None:
        """Return two windows that make up this one, or None for a single minute."""
        minutes = int((self.end - self.start) / timedelta(minutes=1))
        if minutes < 1:
            return None
        middle = self.start + timedelta(minutes=minutes // 2)
        return (
            Window(self.category, self.start, middle),
            Window(self.category, middle + timedelta(minutes=1), self.end),
        )


def day_windows(first: date, last: date, categories: tuple[str, ...]) -> Iterator[Window]:
    """Yield one window per category and UTC day, both ends included."""
    for offset in range((last - first).days + 1):
        start = datetime.combine(first + timedelta(days=offset), datetime.min.time(), UTC)
        for category in categories:
            yield Window(category, start, start + timedelta(hours=23, minutes=59))


class TooManyError(Exception):
    """The window holds more entries than one query should return."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self.total = total


class FeedSession:
    """What the arxiv client takes for its HTTP session: it refuses pages that are not listings."""

    def __init__(self, session: PoliteSession, arrivals: Arrivals, limit: int) -> None:
        self._session = session
        self._arrivals = arrivals
        self._limit = limit
        self._seen = 0
        self.total: int | None = None
        self.pages: list[str] = []

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> Fetched:
        """Fetch a page, look at it, and keep its bytes.

        Raises:
            SourceError: when no attempt brings a listing page.
            TooManyError: when the window must be split.
        """
        answer = self._session.get(url, fault=self._fault)
        if answer.status_code != 200:
            raise SourceError(
                f"the listing was answered with status {answer.status_code}.", "Check the query."
            )
        self.pages.append(self._arrivals.put(answer.content))
        total, entries = _page(answer.content)
        if total > self._limit:
            raise TooManyError(total)
        self.total = total
        self._seen += entries
        return answer

    def _fault(self, answer: Fetched) -> str | None:
        try:
            total, entries = _page(answer.content)
        except SourceError as error:
            return error.message
        if entries == 0 and self._seen < min(total, self._limit):
            return f"an empty page after {self._seen} of {total} entries"
        return None


def _page(content: bytes) -> tuple[int, int]:
    """Return (announced total, entries on this page) of a listing page."""
    if b"<!DOCTYPE" in content[:2000] or b"<!ENTITY" in content:
        raise SourceError("the answer declares a document type, so it is no listing.")
    try:
        root = ElementTree.fromstring(content)  # noqa: S314  entities are refused above
    except ElementTree.ParseError as error:
        raise SourceError(f"the answer is not XML ({error}): {content[:60]!r}.") from None
    if root.tag != f"{_ATOM}feed":
        raise SourceError(f"the answer is a {root.tag!r}, not an Atom feed.")
    announced = (root.findtext(_TOTAL) or "").strip()
    if not announced.isdigit():
        raise SourceError("the listing does not announce its total.")
    entries = root.findall(f"{_ATOM}entry")
    for entry in entries:
        if "/api/errors" in (entry.findtext(f"{_ATOM}id") or ""):
            raise SourceError(
                f"arXiv reports an error: {(entry.findtext(f'{_ATOM}summary') or '').strip()[:200]!r}."
            )
    return int(announced), len(entries)


@dataclass(frozen=True)
class ArxivSource:
    """One arXiv-like service at ``base_url`` (listing at /api/query, sources at /src/ID)."""

    base_url: str
    session: PoliteSession
    page_size: int = PAGE_SIZE
    window_limit: int = WINDOW_LIMIT

    def listing(self, window: Window, arrivals: Arrivals, now: datetime) -> dict[str, Any]:
        """Ask for one window and return its record, complete or pending with a reason."""
        feed = FeedSession(self.session, arrivals, self.window_limit)
        try:
            entries = list(self._entries(window, feed))
        except TooManyError as many:
            return self._split(window, arrivals, now, many.total)
        except SourceError as error:
            return _record(window, feed, (), str(error), now)
        unique = {entry.key: entry for entry in entries}
        reason = ""
        if len({entry.id for entry in unique.values()}) != feed.total:
            reason = f"{len(unique)} unique entries of {feed.total} announced"
        elif now < window.end + SETTLING:
            reason = f"the window ends at {window.end:%Y-%m-%d %H:%M} UTC and may still grow"
        return _record(window, feed, tuple(unique.values()), reason, now)

    def source(self, listing_id: str, version: int) -> Fetched:
        """Fetch the e-print source of one version; its status says whether there is one.

        Raises:
            SourceError: when the service does not answer.
        """
        return self.session.get(f"{self.base_url}/src/{listing_id}v{version}")

    def _split(self, window: Window, arrivals: Arrivals, now: datetime, total: int) -> dict[str, Any]:
        halves = window.halves()
        feed = FeedSession(self.session, arrivals, self.window_limit)
        if halves is None:
            return _record(window, feed, (), f"{total} entries in one minute cannot be listed", now)
        parts = [self.listing(half, arrivals, now) for half in halves]
        record = _record(window, feed, (), "; ".join(part["reason"] for part in parts if part["reason"]), now)
        record["pages"] = [page for part in parts for page in part["pages"]]
        record["entries"] = [entry for part in parts for entry in part["entries"]]
        return record

    def _entries(self, window: Window, feed: FeedSession) -> Iterator[Listing]:
        import arxiv

        client = arxiv.Client(page_size=self.page_size, delay_seconds=0.0, num_retries=0)
        client.query_url_format = f"{self.base_url}/api/query?{{}}"
        client._session = feed  # the package's one seam for a session
        search = arxiv.Search(
            query=window.query,
            max_results=None,
            sort_by=arxiv.SortCriterion.SubmittedDate,
            sort_order=arxiv.SortOrder.Ascending,
        )
        try:
            for result in client.results(search):
                yield _listing(result)
        except arxiv.ArxivError as error:
            raise SourceError(f"the listing could not be read ({error}).", "Try again later.") from None


def _record(
    window: Window, feed: FeedSession, entries: tuple[Listing, ...], reason: str, now: datetime
) -> dict[str, Any]:
    return {
        "window": window.name,
        "query": window.query,
        "complete": not reason,
        "reason": reason,
        "pages": list(feed.pages),
        "entries": [entry.model_dump(mode="json") for entry in entries],
        "seen": now.isoformat(),
    }


def _listing(result: arxiv.Result) -> Listing:
    short = result.get_short_id()
    match = _ID.match(short)
    if match is None:
        raise SourceError(f"{result.entry_id!r} is not an arXiv id with a version.")
    return Listing(
        id=match["id"],
        version=int(match["version"]),
        title=" ".join(result.title.split()),
        authors=tuple(" ".join(author.name.split()) for author in result.authors),
        published=result.published.isoformat(),
        updated=result.updated.isoformat(),
        comment=result.comment or "",
        journal_ref=result.journal_ref or "",
        doi=result.doi or None,
        primary=result.primary_category,
        categories=tuple(result.categories),
    )
