"""Dates as intervals, the earliest public date, and who may be examined with a law.

A law is fair game for a player only when nothing about it was public before the player's knowledge
ended. Every known date is kept raw with its source, as an interval: a partial date ``2026-04`` is
[2026-04-01, 2026-04-30]. Eligibility is computed per player and never stored.

Source: arXiv 2610.37919, section 3.2 (both the preprint and the journal date after the cutoff).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from cards.errors import InputError

GUARD_DAYS = 30
"""Days between the end of a player's knowledge and the earliest public date, by default."""

Kind = Literal[
    "preprint_v1", "preprint_other", "posted", "published_online", "published_print", "issued", "created"
]
_JOURNAL_KINDS = frozenset({"published_online", "published_print", "issued"})
_YEARS = range(1500, 2500)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:T.*)?\Z")


@dataclass(frozen=True, slots=True, order=True)
class DateInterval:
    """A closed interval of days in which something happened."""

    low: date
    high: date

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InputError(f"a date interval from {self.low} to {self.high} is reversed.")

    def __str__(self) -> str:
        return f"{self.low}" if self.low == self.high else f"{self.low}..{self.high}"


@dataclass(frozen=True, slots=True)
class DatedFact:
    """One date as one source gave it.

    ``record_type`` is the source's own word for the record (Crossref's ``journal-article``).
    """

    kind: Kind
    interval: DateInterval
    source: str
    raw: str
    record_type: str = ""


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whether a law may be put to a player whose knowledge ends at a given time, and why."""

    verdict: Literal["eligible", "too_early", "awaiting_journal"]
    reason: str


def parse_interval(text: str) -> DateInterval:
    """Read ``2026``, ``2026-04``, ``2026-04-01``, an ISO time stamp, or ``low..high`` of these.

    Raises:
        InputError: for anything else, and for days that do not exist (2025-02-31).
    """
    low, separator, high = text.strip().partition("..")
    if separator:
        return DateInterval(parse_interval(low).low, parse_interval(high).high)
    match = _DATE.match(low)
    if match is None:
        raise InputError(f"{text!r} is not a date.", "Write 2026, 2026-04, 2026-04-01 or 2026-04..2026-06.")
    year, month, day = (int(part) if part else None for part in match.groups())
    return _interval(text, year or 0, month, day)


def from_parts(parts: Sequence[int | None]) -> DateInterval:
    """Read a date given as [year], [year, month] or [year, month, day], as Crossref gives it.

    Raises:
        InputError: when there is no year or the day does not exist.
    """
    if not parts or len(parts) > 3 or parts[0] is None:
        raise InputError(f"{list(parts)!r} is not a date.", "A date has a year, then a month, then a day.")
    year, month, day = (*parts, None, None)[:3]
    return _interval(str(list(parts)), int(year or 0), month, day)


def _interval(text: str, year: int, month: int | None, day: int | None) -> DateInterval:
    if year not in _YEARS:
        raise InputError(f"{text!r} is not a date: year {year} is out of range.")
    try:
        if month is None:
            return DateInterval(date(year, 1, 1), date(year, 12, 31))
        if day is None:
            return DateInterval(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))
        return DateInterval(date(year, month, day), date(year, month, day))
    except ValueError as trouble:
        raise InputError(
            f"{text!r} is a day that does not exist ({trouble}).",
            "Correct it at its source or give the month only.",
        ) from None


def earliest_public(facts: Iterable[DatedFact]) -> date:
    """Return the minimum of all lower bounds: the first day on which the law may have been public.

    A registration date counts like any other: what is not proven to be later is taken as earlier.

    Raises:
        InputError: when there is no fact at all.
    """
    lows = [fact.interval.low for fact in facts]
    if not lows:
        raise InputError("no date is known.", "A paper without any date cannot pass the date gate.")
    return min(lows)


def journal_date(facts: Iterable[DatedFact]) -> DateInterval | None:
    """Return the earliest publication interval of the journal record, or None without such a record.

    Only records of type ``journal-article`` count; ``created`` and ``posted`` are not publication.
    """
    intervals = [
        fact.interval
        for fact in facts
        if fact.kind in _JOURNAL_KINDS and fact.record_type == "journal-article"
    ]
    return min(intervals, default=None)


def eligible(facts: Sequence[DatedFact], cutoff: DateInterval, guard_days: int = GUARD_DAYS) -> Eligibility:
    """Decide whether a law may be put to a player whose knowledge ends within ``cutoff``.

    ``too_early`` wins over ``awaiting_journal``: a law that was public in time never becomes eligible.

    Raises:
        InputError: when no date is known.
    """
    first = earliest_public(facts)
    end = cutoff.high + timedelta(days=guard_days)
    if first <= end:
        return Eligibility(
            "too_early",
            f"public from {first} at the earliest; the player's knowledge reaches to {cutoff.high}, "
            f"with a guard of {guard_days} days to {end}",
        )
    journal = journal_date(facts)
    if journal is None:
        return Eligibility(
            "awaiting_journal", f"public from {first}; no journal record yet, to be asked for again"
        )
    if journal.low <= cutoff.high:
        return Eligibility(
            "too_early", f"the journal record may be of {journal.low}, not after {cutoff.high}"
        )
    return Eligibility("eligible", f"public from {first}, journal {journal}, both after {end}")
