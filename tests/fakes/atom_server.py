"""An arXiv-like server on loopback: the Atom query API and e-print sources, with faults on demand.

It understands ``cat:X AND submittedDate:[A TO B]``, start and max_results, and pages as arXiv does.
"""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_QUERY = re.compile(r"cat:(\S+) AND submittedDate:\[(\d{12}) TO (\d{12})\]")


@dataclass(frozen=True)
class Preprint:
    """One paper on the fake arXiv; ``source`` is what /src/ answers with, None for 404."""

    id: str
    title: str
    published: datetime
    source: bytes | None
    version: int = 1
    authors: tuple[str, ...] = ("A. Writer",)
    categories: tuple[str, ...] = ("physics.flu-dyn",)
    doi: str | None = None
    comment: str = ""
    updated: datetime | None = None

    @classmethod
    def of_tex(cls, listing_id: str, title: str, published: datetime, tex: str, doi: str | None) -> Preprint:
        """Return a paper whose source is one gzipped TeX file, as arXiv keeps single files."""
        return cls(listing_id, title, published, gzip.compress(tex.encode(), mtime=0), doi=doi)


@dataclass(frozen=True)
class Answer:
    """What the server sends instead of the right answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    close: bool = False


class AtomServer:
    """The server, as a context manager.

    Attributes:
        papers: what it lists.
        requests: the paths asked for, oldest first.
        times: when each request arrived (seconds since the epoch).
        hidden: ids that it counts in the total but leaves out of pages, as arXiv sometimes does.
    """

    def __init__(self, papers: Iterable[Preprint]) -> None:
        self.papers = list(papers)
        self.requests: list[str] = []
        self.agents: list[str] = []
        self.times: list[float] = []
        self.hidden: set[str] = set()
        self._faults: list[Answer] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """The address to configure."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def inject(self, faults: Iterable[Answer]) -> None:
        """Use these answers for the next requests, in order."""
        self._faults.extend(faults)

    def answer(self, path: str) -> Answer:
        """Return the answer to one request."""
        if self._faults:
            return self._faults.pop(0)
        parts = urlsplit(path)
        if parts.path == "/api/query":
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            return Answer(body=self._feed(query), headers={"Content-Type": "application/atom+xml"})
        if parts.path.startswith("/src/"):
            wanted = unquote(parts.path.removeprefix("/src/"))
            for paper in self.papers:
                if f"{paper.id}v{paper.version}" == wanted and paper.source is not None:
                    return Answer(body=paper.source)
        return Answer(status=404, body=b"not found")

    def _feed(self, query: dict[str, str]) -> bytes:
        match = _QUERY.fullmatch(query["search_query"])
        found = self._matching(match) if match else []
        start, count = int(query["start"]), int(query["max_results"])
        page = [paper for paper in found[start : start + count] if paper.id not in self.hidden]
        entries = "".join(_entry(paper) for paper in page)
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" '
            'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" '
            'xmlns:arxiv="http://arxiv.org/schemas/atom">\n'
            f"<id>urn:query</id><title>query</title><updated>2026-06-01T00:00:00Z</updated>"
            f"<opensearch:totalResults>{len(found)}</opensearch:totalResults>"
            f"<opensearch:startIndex>{start}</opensearch:startIndex>"
            f"<opensearch:itemsPerPage>{count}</opensearch:itemsPerPage>{entries}</feed>"
        ).encode()

    def _matching(self, match: re.Match[str]) -> list[Preprint]:
        category = match[1]
        first, last = (
            datetime.strptime(text, "%Y%m%d%H%M").replace(tzinfo=UTC) for text in (match[2], match[3])
        )
        found = [
            paper
            for paper in self.papers
            if category in paper.categories and first <= paper.published.replace(second=0) <= last
        ]
        return sorted(found, key=lambda paper: paper.published)

    def __enter__(self) -> AtomServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _entry(paper: Preprint) -> str:
    name = f"{paper.id}v{paper.version}"
    authors = "".join(f"<author><name>{escape(author)}</name></author>" for author in paper.authors)
    categories = "".join(
        f'<category term="{c}" scheme="http://arxiv.org/schemas/atom"/>' for c in paper.categories
    )
    doi = f"<arxiv:doi>{escape(paper.doi)}</arxiv:doi>" if paper.doi else ""
    comment = f"<arxiv:comment>{escape(paper.comment)}</arxiv:comment>" if paper.comment else ""
    updated = paper.updated or paper.published
    return (
        f"<entry><id>http://arxiv.org/abs/{name}</id><title>{escape(paper.title)}</title>"
        f"<updated>{updated:%Y-%m-%dT%H:%M:%SZ}</updated><published>{paper.published:%Y-%m-%dT%H:%M:%SZ}</published>"
        f"<summary>An abstract.</summary>{authors}{doi}{comment}"
        f'<link href="http://arxiv.org/abs/{name}" rel="alternate" type="text/html"/>'
        f'<link title="pdf" href="http://arxiv.org/pdf/{name}" rel="related" type="application/pdf"/>'
        f'<arxiv:primary_category term="{paper.categories[0]}"/>{categories}</entry>'
    )


def _handler(owner: AtomServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            owner.requests.append(self.path)
            owner.agents.append(self.headers.get("User-Agent", ""))
            owner.times.append(datetime.now(UTC).timestamp())
            answer = owner.answer(self.path)
            if answer.close:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the tests' output clean."""

    return Handler
