"""Crossref: the dates of a DOI, or of a title, each reply kept raw.

Base address, session and contact are arguments; the session obeys the service's rate headers.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from cards.errors import SourceError
from curation.polite import PoliteSession

SEARCH_ROWS = 5


@dataclass(frozen=True)
class Crossref:
    """One Crossref-like service (works at /works/DOI and /works?query…)."""

    base_url: str
    session: PoliteSession
    mailto: str = ""

    def work(self, doi: str) -> dict[str, Any] | None:
        """Return the raw record of a DOI, or None when the service has none.

        Raises:
            SourceError: when the service does not answer usably.
        """
        message = self._message(f"/works/{quote(doi, safe='')}", {})
        return message if message is None or isinstance(message, dict) else None

    def search(self, title: str, author: str) -> list[dict[str, Any]]:
        """Return the raw records whose title equals ``title`` but for case, accents and signs.

        A record that names authors must name ``author`` among them; "Editorial" has many.

        Raises:
            SourceError: when the service does not answer usably.
        """
        query = {"query.bibliographic": title, "rows": str(SEARCH_ROWS)}
        if author:
            query["query.author"] = author
        message = self._message("/works", query)
        items = message.get("items", []) if isinstance(message, dict) else []
        wanted = _plain(title)
        return [
            item
            for item in items
            if isinstance(item, dict)
            and any(_plain(str(name)) == wanted for name in item.get("title") or [])
            and _by(author, item)
        ]

    def _message(self, path: str, query: dict[str, str]) -> Any:
        if self.mailto:
            query = {**query, "mailto": self.mailto}
        answer = self.session.get(f"{self.base_url}{path}" + (f"?{urlencode(query)}" if query else ""))
        if answer.status_code == 404:
            return None
        if answer.status_code != 200:
            raise SourceError(f"{path} was answered with status {answer.status_code}.", "Try again later.")
        try:
            body = json.loads(answer.content)
        except (ValueError, RecursionError):
            raise SourceError(f"{path} was not answered with JSON.", "Try again later.") from None
        return body.get("message") if isinstance(body, dict) else None


def _by(author: str, record: dict[str, Any]) -> bool:
    families = [
        str(person.get("family", "")) for person in record.get("author") or [] if isinstance(person, dict)
    ]
    return (
        not families
        or not author
        or any(_plain(name) and _plain(name) in _plain(author) for name in families)
    )


def _plain(title: str) -> str:
    folded = unicodedata.normalize("NFKD", title).casefold()
    return re.sub(r"[^a-z0-9]+", "", folded)
