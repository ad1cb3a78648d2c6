"""The date gate: is everything about this paper later than the window's lower bound?

Source: arXiv 2610.37919, section 3.2. The trap that it exists for: a journal article of this year
whose preprint is years old.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from cards.dates import (
    DatedFact,
    DateInterval,
    Kind,
    earliest_public,
    from_parts,
    journal_date,
    parse_interval,
)
from cards.errors import InputError
from curation.paper import DateVerdict, Listing

_CROSSREF: Mapping[str, Kind] = {
    "posted": "posted",
    "published-online": "published_online",
    "published-print": "published_print",
    "issued": "issued",
    "created": "created",
}
_SAME_WORK = (
    "has-preprint",
    "is-preprint-of",
    "has-version",
    "is-version-of",
    "is-same-as",
    "is-identical-to",
)
ARXIV_ID = "arxiv id"
_LEAD, _VERSION = r"(?:arxiv[.:/]|arxiv\.org/abs/|^)", r"(?:v\d+)?$"
_NEW_ID = re.compile(_LEAD + r"(\d{2})(\d{2})\.\d{4,5}" + _VERSION, re.IGNORECASE)
_OLD_ID = re.compile(_LEAD + r"[a-z-]+(?:\.[a-z]{2})?/(\d{2})(\d{2})\d{3}" + _VERSION, re.IGNORECASE)


def judge(facts: Sequence[DatedFact], after: DateInterval) -> DateVerdict:
    """Decide on a paper by its dates alone; ``after`` is the window's lower bound."""
    if not facts:
        return _verdict("rejected", "no_date", "no date is known")
    first, journal = earliest_public(facts), journal_date(facts)
    if first <= after.high:
        late_journal = journal is not None and journal.low > after.high
        reason = "earlier_preprint" if late_journal else "before_window"
        return _verdict("rejected", reason, f"public from {first}, not after {after.high}")
    if journal is None:
        return _verdict("awaiting_journal", "no_journal_record", f"public from {first}")
    return _verdict("eligible", "in_window", f"public from {first}, journal {journal}")


def _verdict(
    outcome: Literal["eligible", "rejected", "awaiting_journal"], reason: str, detail: str
) -> DateVerdict:
    return DateVerdict(outcome=outcome, reason=reason, detail=detail)


def listing_facts(listing: Listing) -> list[DatedFact]:
    """Return what an arXiv listing says of dates: the submission of the first version."""
    return [DatedFact("preprint_v1", parse_interval(listing.published), "arxiv", listing.published)]


def arxiv_month(text: str) -> list[DatedFact]:
    """Return the month that an arXiv id, DOI or address carries, as a fact; empty for anything else."""
    match = _NEW_ID.search(text) or _OLD_ID.search(text)
    if match is None:
        return []
    short, month = int(match[1]), int(match[2])
    year = 1900 + short if short >= 91 else 2000 + short
    try:
        interval = from_parts([year, month])
    except InputError:
        return []
    return [DatedFact("preprint_v1", interval, ARXIV_ID, text)]


def without_vaguer(facts: Iterable[DatedFact]) -> tuple[DatedFact, ...]:
    """Return the facts once each, without a month from an arXiv id where the day in it is known.

    Otherwise the first of the month would count as the earliest public date of a paper of the 23rd.
    """
    distinct = list(dict.fromkeys(facts))
    days = [fact.interval for fact in distinct if fact.kind == "preprint_v1" and fact.source != ARXIV_ID]
    return tuple(
        fact
        for fact in distinct
        if fact.source != ARXIV_ID
        or not any(fact.interval.low <= day.low and day.high <= fact.interval.high for day in days)
    )


def crossref_facts(record: Mapping[str, Any]) -> list[DatedFact]:
    """Return every date of a raw Crossref record, and of arXiv preprints that it names."""
    kind_of_record = str(record.get("type", ""))
    source = f"crossref {record.get('DOI', '')}".strip()
    facts = []
    for field, kind in _CROSSREF.items():
        value = record.get(field)
        for parts in (value.get("date-parts") or []) if isinstance(value, Mapping) else []:
            try:
                interval = from_parts(parts)
            except (InputError, TypeError, ValueError):
                continue  # Crossref writes [[null]] where it knows no date
            facts.append(DatedFact(kind, interval, source, str(parts), kind_of_record))
    return facts + [fact for name in related(record) for fact in arxiv_month(name)]


def related(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids (DOIs, arXiv ids, addresses) that a Crossref record names as the same work."""
    relation = record.get("relation")
    if not isinstance(relation, Mapping):
        return
    for kind in _SAME_WORK:
        for item in relation.get(kind) or []:
            if isinstance(item, Mapping) and isinstance(item.get("id"), str):
                yield item["id"]


def metadata_facts(dates: Iterable[Mapping[str, Any]]) -> list[DatedFact]:
    """Return the dates of a metadata file.

    Raises:
        InputError: for an unknown kind or a date that cannot be read.
    """
    kinds: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}
    facts = []
    for entry in dates:
        kind = kinds.get(str(entry.get("kind")))
        if kind is None:
            raise InputError(f"{entry.get('kind')!r} is no kind of date.", f"Kinds: {', '.join(kinds)}.")
        raw = str(entry.get("date", ""))
        source = str(entry.get("source", "metadata"))
        facts.append(DatedFact(kind, parse_interval(raw), source, raw, str(entry.get("record_type", ""))))
    return facts
