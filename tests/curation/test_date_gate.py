"""The date gate, on the traps that real records hold."""

from __future__ import annotations

from typing import Any

import pytest

from cards.dates import DatedFact, parse_interval
from cards.errors import InputError
from curation.date_gate import (
    arxiv_month,
    crossref_facts,
    judge,
    metadata_facts,
    related,
    without_vaguer,
)
from tests.fakes.crossref_server import article

AFTER = parse_interval("2026-03-31")


def fact(kind: Any, date: str, record_type: str = "journal-article", source: str = "test") -> DatedFact:
    return DatedFact(kind, parse_interval(date), source, date, record_type)


def verdict(*facts: DatedFact) -> tuple[str, str]:
    decided = judge(facts, AFTER)
    return decided.outcome, decided.reason


def test_both_dates_after_the_window_pass() -> None:
    """A paper whose preprint and journal article are both later is eligible."""
    facts = (fact("preprint_v1", "2026-05-26", ""), fact("published_online", "2026-09-14"))
    assert verdict(*facts) == ("eligible", "in_window")


def test_a_doi_registered_before_the_window_counts_as_public() -> None:
    """A DOI created in February but issued in April was public in February for all we know."""
    record = article("10.1/a", "T", "J", issued=[2026, 4], created=[2026, 2, 11])
    assert verdict(*crossref_facts(record)) == ("rejected", "earlier_preprint")


def test_a_print_year_alone_counts_from_its_first_day() -> None:
    """A partial date is an interval, and its lower end decides."""
    assert verdict(fact("published_print", "2026")) == ("rejected", "before_window")
    assert verdict(fact("published_print", "2026-04")) == ("eligible", "in_window")


def test_a_new_journal_article_of_an_old_preprint_is_refused() -> None:
    """A journal article of June 2026 whose arXiv preprint is of 2020 does not pass, however it is told."""
    journal = article("10.3390/x", "T", "J", issued=[2026, 6])
    journal["relation"] = {
        "has-preprint": [{"id-type": "doi", "id": "10.48550/arXiv.2007.11383", "asserted-by": "subject"}]
    }
    assert verdict(*crossref_facts(journal)) == ("rejected", "earlier_preprint")
    told = metadata_facts([{"kind": "issued", "date": "2026-06", "record_type": "journal-article"}])
    assert verdict(*told, *arxiv_month("2007.11383")) == ("rejected", "earlier_preprint")


def test_without_a_journal_record_a_paper_waits() -> None:
    """A posted record is no journal record, and a preprint alone awaits its journal."""
    facts = (fact("preprint_v1", "2026-05-26", ""), fact("posted", "2026-05-27", "posted-content"))
    assert verdict(*facts) == ("awaiting_journal", "no_journal_record")


def test_a_paper_without_any_date_is_refused() -> None:
    """What has no date cannot pass."""
    assert verdict() == ("rejected", "no_date")


def test_the_last_day_of_the_window_is_too_early() -> None:
    """Not later than window.after means refused."""
    assert verdict(fact("published_online", "2026-03-31"))[0] == "rejected"
    assert verdict(fact("published_online", "2026-04-01"))[0] == "eligible"


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("2007.11383", "2020-07-01..2020-07-31"),
        ("arXiv:2610.10000v2", "2026-10-01..2026-10-31"),
        ("https://arxiv.org/abs/2606.24159v1", "2026-06-01..2026-06-30"),
        ("10.48550/arXiv.0704.0001", "2007-04-01..2007-04-30"),
        ("hep-th/9901001", "1999-01-01..1999-01-31"),
        ("10.3390/fluids11060155", None),
        ("2613.00001", None),
    ],
)
def test_an_arxiv_id_carries_its_month(text: str, month: str | None) -> None:
    """The id alone bounds the first submission; what is no arXiv id says nothing."""
    assert [str(fact.interval) for fact in arxiv_month(text)] == ([month] if month else [])


def test_a_known_day_replaces_its_month_but_an_earlier_month_stays() -> None:
    """The 23rd is not the 1st; but an id that is older than the claimed first version keeps its say."""
    day = fact("preprint_v1", "2026-06-23", "")
    assert without_vaguer([day, *arxiv_month("2606.24159")]) == (day,)
    assert len(without_vaguer([day, *arxiv_month("2007.11383")])) == 2


def test_dates_that_crossref_does_not_know_are_passed_over() -> None:
    """Crossref writes [[null]]; that is no date, and no failure."""
    record: dict[str, Any] = {"DOI": "10.1/a", "type": "journal-article", "issued": {"date-parts": [[None]]}}
    assert crossref_facts(record) == []
    assert crossref_facts({"issued": "2026", "created": {"date-parts": "x"}, "relation": []}) == []


def test_related_records_are_named() -> None:
    """Preprints, versions and identical works are followed; citations are not."""
    record = {
        "relation": {
            "has-preprint": [{"id": "10.20944/preprints202604.1373", "id-type": "doi"}],
            "cites": [{"id": "10.1/old", "id-type": "doi"}],
        }
    }
    assert list(related(record)) == ["10.20944/preprints202604.1373"]


def test_a_kind_of_date_that_nobody_knows_is_refused() -> None:
    """A typing error in a metadata file must not make a date disappear."""
    with pytest.raises(InputError, match="'publised' is no kind of date"):
        metadata_facts([{"kind": "publised", "date": "2026-06"}])
