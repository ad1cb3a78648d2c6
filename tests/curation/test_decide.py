"""Decide: exactly four ends, each by code."""

from __future__ import annotations

from typing import Any

import pytest

from cards.finding import Finding
from cards.review import FieldVerdict, Review
from curation.decide import by_review, decide_all
from curation.document import Document
from curation.draft import Draft
from curation.extract import judge
from curation.paper import DateVerdict
from curation.review import Reviewed, claims
from tests.curation.rig import document, paper, relation, with_parameter


def draft(key: str = "folder:dust", item: Any = None) -> Draft:
    made = Draft(key=f"{key}#0", paper=key, extractor="reader")
    return judge(item or relation(), paper(key), document(), made)


def review(originality: Any = "new", **verdicts: Any) -> Review:
    card = draft().card
    assert card is not None
    named = {name.replace("__", "."): verdict for name, verdict in verdicts.items()}
    fields = tuple(
        FieldVerdict(field=field, verdict=named.get(field, "supported"), quote="q") for field in claims(card)
    )
    return Review(card_id=card.id, model="referee", verdicts=fields, originality=originality)


def end(item: Draft, *reviews: Review, **of_paper: Any) -> tuple[str, str, str]:
    """Return (outcome, stage, reason) of one draft of one paper."""
    seen = {item.key: Reviewed(key=item.key, draft=item, reviews=reviews)} if reviews else {}
    outcomes = decide_all([paper(**of_paper)], {"folder:dust": document()}, [item], seen, ())
    if outcomes.cards:
        return "accepted", "", ""
    row = outcomes.rejects[0]
    return row["outcome"], row["stage"], row["reason"]


@pytest.mark.parametrize(
    ("seen", "decision"),
    [
        (review(), ("accepted", "supported")),
        (review(inputs__r__domain="contradicted"), ("rejected", "contradicted")),
        (review(parameters__p__value="absent"), ("rejected", "absent_number")),
        (review(**{"conditions[0]": "absent"}), ("accepted", "supported")),
        (review(relation="absent"), ("needs_person", "absent_relation")),
        (review("cited"), ("rejected", "cited_relation")),
        (review("assumed"), ("needs_person", "assumed_relation")),
        (review("unclear"), ("needs_person", "unclear_relation")),
        (review("assumed", parameters__p__value="contradicted"), ("rejected", "contradicted")),
    ],
)
def test_code_decides_by_the_verdicts(seen: Review, decision: tuple[str, str]) -> None:
    """Contradicted or a number absent: rejected; cited: dropped; assumed or unclear: a person."""
    decided = by_review(seen)
    assert (decided.outcome, decided.reason) == decision


def test_the_last_review_counts() -> None:
    """After a revision the second review decides."""
    assert end(draft(), review(inputs__r__domain="contradicted"), review())[0] == "accepted"


def test_faults_reject_before_any_review() -> None:
    """A draft with a fault is rejected by the check's name, whatever a reviewer says."""
    faulty = draft(item=with_parameter("p", quote=""))
    assert end(faulty, review()) == ("rejected", "check", "value_without_quote")


def test_nothing_is_accepted_unreviewed() -> None:
    """Without a reviewer a sound draft goes to a person."""
    assert end(draft()) == ("needs_person", "review", "no_review")


def test_a_paper_without_a_relation_is_rejected_at_extract() -> None:
    """The stage and the reason say where a candidate ended."""
    empty = Draft(key="folder:dust#0", paper="folder:dust", extractor="reader")
    empty = empty.model_copy(update={"findings": (Finding(check="no_relation", message="none"),)})
    assert end(empty) == ("rejected", "extract", "no_relation")


@pytest.mark.parametrize(
    ("verdict", "decision"),
    [
        (DateVerdict(outcome="rejected", reason="before_window"), ("rejected", "date_gate", "before_window")),
        (
            DateVerdict(outcome="awaiting_journal", reason="no_journal_record"),
            ("awaiting_journal", "date_gate", "no_journal_record"),
        ),
        (
            DateVerdict(outcome="rejected", stage="harvest", reason="withdrawn"),
            ("rejected", "harvest", "withdrawn"),
        ),
    ],
)
def test_the_date_gate_has_the_first_word(verdict: DateVerdict, decision: tuple[str, str, str]) -> None:
    """A paper that did not pass is listed with its reason even if a draft lay about."""
    assert end(draft(), review(), verdict=verdict) == decision


def test_a_paper_that_cannot_be_read_is_rejected_at_parse() -> None:
    """The finding of the parser is the reason."""
    trouble = Finding(check="pdf_only", message="a PDF")
    unread = Document(paper="folder:dust", route="none", text="", findings=(trouble,))
    outcomes = decide_all([paper()], {"folder:dust": unread}, [], {}, ())
    assert (outcomes.rejects[0]["stage"], outcomes.rejects[0]["reason"]) == ("parse", "pdf_only")


def test_a_paper_left_out_has_no_row() -> None:
    """What nobody was asked about is not decided."""
    outcomes = decide_all([paper()], {"folder:dust": document()}, [], {}, ())
    assert (outcomes.cards, outcomes.rejects) == ([], [])


def test_the_second_card_of_one_relation_is_a_duplicate() -> None:
    """Two papers with the same relation make one family; the later is rejected."""
    one, two = draft("folder:dust"), draft("folder:later")
    seen = {item.key: Reviewed(key=item.key, draft=item, reviews=(review(),)) for item in (one, two)}
    papers = [paper("folder:dust"), paper("folder:later")]
    outcomes = decide_all(papers, {}, [one, two], seen, ())
    assert [row["paper"]["key"] for row in outcomes.cards] == ["folder:dust"]
    assert (outcomes.rejects[0]["paper"], outcomes.rejects[0]["reason"]) == ("folder:later", "duplicate")


def test_reject_rows_hold_no_text_of_the_paper() -> None:
    """A reject row names the paper and the reason; no quote, no relation."""
    outcomes = decide_all([paper()], {}, [draft(item=with_parameter("p", quote=""))], {}, ())
    assert set(outcomes.rejects[0]) == {
        "paper",
        "candidate",
        "title",
        "doi",
        "arxiv",
        "outcome",
        "stage",
        "reason",
    }
