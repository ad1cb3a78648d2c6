"""Shelf: the arrivals, read once and stated as papers with their date verdicts. Pure: reads files only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cards.dates import DateInterval
from curation.arrivals import Arrivals
from curation.date_gate import (
    arxiv_month,
    crossref_facts,
    judge,
    listing_facts,
    metadata_facts,
    without_vaguer,
)
from curation.paper import DateVerdict, Listing, Paper

_DISCIPLINES = {
    "astro-ph": "astronomy",
    "q-bio": "biology",
    "eess": "engineering",
    "physics.ao-ph": "earth",
    "physics.geo-ph": "earth",
    "physics.chem-ph": "chemistry",
}


class Shelf:
    """All papers of the arrivals.

    Args:
        after: the window's lower bound.
        journals: the allow-list; a paper of one of them is in track ``journal``.
    """

    def __init__(self, arrivals: Arrivals, after: DateInterval, journals: Sequence[str] = ()) -> None:
        self._after = after
        self._allowed = {name.casefold() for name in journals}
        self._listings = {listing.key: listing for listing in _latest(arrivals)}
        self._described = {row["paper"]: row for row in arrivals.rows("sources")}
        self._contents: dict[str, Mapping[str, Any]] = {
            row["paper"]: row for row in arrivals.rows("contents")
        }
        self._looked_up: dict[str, list[Mapping[str, Any]]] = {}
        for row in arrivals.rows("dates"):
            self.add_dates(row)

    def add_dates(self, row: Mapping[str, Any]) -> None:
        """Take note of one more reply of the date registry."""
        self._looked_up.setdefault(row["paper"], []).append(row)

    def add_content(self, row: Mapping[str, Any]) -> None:
        """Take note of a fetched (or missing) source."""
        self._contents[row["paper"]] = row

    def last_asked(self, key: str) -> str | None:
        """Return when the dates of a paper were last asked for."""
        return max((row["seen"] for row in self._looked_up.get(key, ())), default=None)

    def asked_for_source(self, key: str) -> bool:
        """Return whether a source was asked for and answered, with bytes or with their absence."""
        return key in self._contents

    def keys(self) -> list[str]:
        """Return the keys of all papers, sorted."""
        return sorted([*self._listings, *self._described])

    def papers(self) -> list[Paper]:
        """Return all papers, sorted by key."""
        return [self.paper(key) for key in self.keys()]

    def paper(self, key: str) -> Paper:
        """Return one paper as the arrivals now state it."""
        records = [row["reply"] for row in self._looked_up.get(key, ()) if row["reply"]]
        if key in self._described:
            paper = self._from_folder(self._described[key], records)
        else:
            paper = self._from_arxiv(self._listings[key], records)
        in_list = paper.journal.casefold() in self._allowed
        return paper.model_copy(update={"track": "journal"}) if in_list else paper

    def _from_arxiv(self, listing: Listing, records: Sequence[Mapping[str, Any]]) -> Paper:
        known = listing_facts(listing) + [fact for record in records for fact in crossref_facts(record)]
        facts = without_vaguer(known)
        content = self._contents.get(listing.key)
        name = f"{listing.id}v{listing.version}"
        return Paper(
            key=listing.key,
            origin="arxiv",
            title=listing.title,
            authors=listing.authors,
            journal=_journal(records) or listing.journal_ref,
            doi=listing.doi,
            arxiv=name,
            address=f"https://arxiv.org/abs/{name}",
            discipline=_discipline(listing.primary),
            facts=facts,
            content=content["sha256"] if content else None,
            content_name=name.replace("/", "_"),
            verdict=_with_source(judge(facts, self._after), listing, content),
        )

    def _from_folder(self, row: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Paper:
        metadata = row["metadata"]
        known = metadata_facts(metadata["dates"]) + arxiv_month(metadata["arxiv"] or "")
        known += [fact for record in records for fact in crossref_facts(record)]
        facts = without_vaguer(known)
        return Paper(
            key=row["paper"],
            origin="folder",
            title=metadata["title"],
            authors=tuple(metadata["authors"]),
            journal=metadata["journal"] or _journal(records),
            doi=metadata["doi"],
            arxiv=metadata["arxiv"],
            licence=metadata["licence"],
            address=metadata["address"],
            discipline=metadata["discipline"],
            facts=facts,
            content=row["sha256"],
            content_name=row["name"],
            verdict=judge(facts, self._after),
        )


def _with_source(verdict: DateVerdict, listing: Listing, content: Mapping[str, Any] | None) -> DateVerdict:
    """Refuse what was withdrawn (arXiv has no flag for it) and what has no source to read."""
    if "withdrawn" in listing.comment.casefold():
        return DateVerdict(outcome="rejected", stage="harvest", reason="withdrawn")
    if verdict.outcome != "eligible":
        return verdict
    if content is None:
        return DateVerdict(outcome="rejected", stage="harvest", reason="source_pending")
    if content["sha256"] is None:
        detail = f"status {content['status']}"
        return DateVerdict(outcome="rejected", stage="harvest", reason="no_source", detail=detail)
    return verdict


def _latest(arrivals: Arrivals) -> Iterable[Listing]:
    """Return the newest version of every id over all complete windows."""
    latest: dict[str, Listing] = {}
    for record in arrivals.windows():
        for raw in record["entries"] if record["complete"] else ():
            listing = Listing.model_validate(raw)
            if listing.id not in latest or latest[listing.id].version < listing.version:
                latest[listing.id] = listing
    return latest.values()


def _journal(records: Sequence[Mapping[str, Any]]) -> str:
    titles = (
        str(title)
        for record in records
        if record.get("type") == "journal-article"
        for title in record.get("container-title") or ()
    )
    return next(titles, "")


def _discipline(category: str) -> str:
    return _DISCIPLINES.get(category) or _DISCIPLINES.get(category.partition(".")[0], "physics")
