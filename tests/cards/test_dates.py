"""Dates as intervals and who may be examined: the requirements of the date gate."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cards.dates import (
    DatedFact,
    DateInterval,
    earliest_public,
    eligible,
    from_parts,
    journal_date,
    parse_interval,
)
from cards.errors import InputError

CUTOFF = parse_interval("2026-01")


def fact(kind: str, text: str, record_type: str = "journal-article") -> DatedFact:
    return DatedFact(kind, parse_interval(text), "crossref", text, record_type)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
        ("2026-04", date(2026, 4, 1), date(2026, 4, 30)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2026-04-07", date(2026, 4, 7), date(2026, 4, 7)),
        ("2026-04-07T23:59:59Z", date(2026, 4, 7), date(2026, 4, 7)),
        ("2026-04..2026-06-02", date(2026, 4, 1), date(2026, 6, 2)),
    ],
)
def test_a_partial_date_is_the_interval_of_its_days(text: str, low: date, high: date) -> None:
    """Every known date is an interval; 2026-04 is [2026-04-01, 2026-04-30]."""
    assert parse_interval(text) == DateInterval(low, high)


@pytest.mark.parametrize(
    "text", ["2025-02-31", "2026-13", "2026-00", "0000", "", "April 2026", "2026-4-31", "2027..2026", "26-04"]
)
def test_days_that_do_not_exist_are_refused(text: str) -> None:
    """2025-02-31, which stands in a published table of cutoffs, is refused and never moved to March."""
    with pytest.raises(InputError):
        parse_interval(text)


def test_crossref_parts_are_read_like_texts() -> None:
    """Crossref gives dates as lists; the same rules hold, and a missing year is refused."""
    assert from_parts([2026, 4]) == parse_interval("2026-04")
    assert from_parts([2026, 4, 7]) == parse_interval("2026-04-07")
    assert from_parts([2026]) == parse_interval("2026")
    for parts in ([], [None], [2025, 2, 31], [2026, 1, 1, 1]):
        with pytest.raises(InputError):
            from_parts(parts)


def test_registered_in_february_issued_in_april() -> None:
    """Real trap: a DOI registered in February makes the paper public from February on, not from April."""
    facts = [fact("created", "2026-02-10"), fact("issued", "2026-04")]
    assert earliest_public(facts) == date(2026, 2, 10)
    assert eligible(facts, parse_interval("2026-01-20")).verdict == "too_early"
    assert eligible(facts, parse_interval("2025-12")).verdict == "eligible"


def test_print_year_only_counts_from_the_first_of_january() -> None:
    """Real trap: a bare print year may mean January; the lower bound decides."""
    facts = [fact("published_print", "2026")]
    assert earliest_public(facts) == date(2026, 1, 1)
    assert eligible(facts, CUTOFF).verdict == "too_early"
    assert eligible(facts, parse_interval("2025-11")).verdict == "eligible"


def test_an_old_preprint_makes_a_new_journal_paper_too_early() -> None:
    """Real trap: a journal paper of June 2026 whose preprint is of 2020 was public since 2020."""
    facts = [fact("preprint_v1", "2020-03-02", "preprint"), fact("published_online", "2026-06-15")]
    outcome = eligible(facts, CUTOFF)
    assert outcome.verdict == "too_early"
    assert "2020-03-02" in outcome.reason


def test_a_restated_old_law_cannot_be_told_by_dates() -> None:
    """Real trap: a 2026 paper that restates an old law passes every date; so dates alone never accept.

    The date gate says only ``eligible``; originality is the reviewer's field (cards/review.py).
    """
    facts = [fact("preprint_v1", "2026-05-20", "preprint"), fact("published_online", "2026-07-01")]
    assert eligible(facts, CUTOFF).verdict == "eligible"


def test_without_a_journal_record_the_law_waits() -> None:
    """No record of type journal-article: awaiting_journal; a registration or a preprint is none."""
    preprint = fact("preprint_v1", "2026-05-20", "preprint")
    for other in (
        fact("created", "2026-06-01"),
        fact("posted", "2026-06-01", "posted-content"),
        fact("issued", "2026-06-01", "proceedings-article"),
    ):
        assert journal_date([preprint, other]) is None
        assert eligible([preprint, other], CUTOFF).verdict == "awaiting_journal"


def test_the_guard_is_counted_from_the_upper_bound_of_the_cutoff() -> None:
    """Cutoff 2026-01 plus 30 days ends on 2026-03-02; that day is too early, the next is not."""
    for day, verdict in (("2026-03-02", "too_early"), ("2026-03-03", "eligible")):
        assert eligible([fact("published_online", day)], CUTOFF).verdict == verdict
    assert eligible([fact("published_online", "2026-02-01")], CUTOFF, guard_days=0).verdict == "eligible"


def test_no_date_at_all_is_an_error() -> None:
    """A paper without any date is never let through silently."""
    with pytest.raises(InputError):
        eligible([], CUTOFF)


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(0, 400))
def test_one_more_fact_never_makes_a_law_younger(day: date, guard: int) -> None:
    """earliest_public is a minimum: a further fact can only move it back."""
    facts = [fact("published_online", "2026-06-15")]
    more = [*facts, fact("posted", day.isoformat(), "posted-content")]
    assert earliest_public(more) <= earliest_public(facts)
    if eligible(facts, CUTOFF, guard).verdict == "too_early":
        assert eligible(more, CUTOFF, guard).verdict == "too_early"
