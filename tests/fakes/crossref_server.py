"""A Crossref-like server on loopback: works by DOI and by title, with its rate headers."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


def article(doi: str, title: str, journal: str, **dates: list[int]) -> dict[str, Any]:
    """Return a journal-article record; ``published_online=[2026, 6, 12]`` and the like give its dates."""
    record: dict[str, Any] = {
        "DOI": doi,
        "type": "journal-article",
        "title": [title],
        "container-title": [journal],
    }
    record |= {name.replace("_", "-"): {"date-parts": [parts]} for name, parts in dates.items()}
    return record


class CrossrefServer:
    """The server, as a context manager.

    Attributes:
        records: raw records by DOI.
        requests: the paths asked for, oldest first.
    """

    def __init__(self, records: Mapping[str, dict[str, Any]]) -> None:
        self.records = dict(records)
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """The address to configure."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str) -> tuple[int, dict[str, Any] | None]:
        """Return status and body of one request."""
        parts = urlsplit(path)
        if parts.path == "/works":
            asked = parse_qs(parts.query)["query.bibliographic"][0].casefold().split()
            items = [
                record
                for record in self.records.values()
                if any(word in str(record["title"]).casefold() for word in asked)
            ]
            return 200, {"status": "ok", "message": {"items": items}}
        record = self.records.get(unquote(parts.path.removeprefix("/works/")))
        return (404, None) if record is None else (200, {"status": "ok", "message": record})

    def __enter__(self) -> CrossrefServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(owner: CrossrefServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            owner.requests.append(self.path)
            status, body = owner.answer(self.path)
            data = json.dumps(body).encode() if body is not None else b"Resource not found."
            self.send_response(status)
            self.send_header("X-Rate-Limit-Limit", "500")
            self.send_header("X-Rate-Limit-Interval", "1s")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the tests' output clean."""

    return Handler
