"""Decide: a candidate ends as accepted, rejected (stage, reason), awaiting_journal or needs_person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from cards.card import Card
from cards.review import Review
from curation.checks import duplicate_of
from curation.document import Document
from curation.draft import Draft
from curation.paper import Paper
from curation.review import Reviewed, is_numeric

Outcome = Literal["accepted", "rejected", "awaiting_journal", "needs_person"]


class Decision(BaseModel):
    """What became of one candidate, at which stage, and the reason code."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Outcome
    stage: Literal["harvest", "date_gate", "parse", "extract", "check", "review", "decide"]
    reason: str


@dataclass
class Outcomes:
    """The rows of the two outputs."""

    cards: list[dict[str, Any]] = field(default_factory=list)
    rejects: list[dict[str, Any]] = field(default_factory=list)


def decide_all(
    papers: Sequence[Paper],
    documents: Mapping[str, Document],
    drafts: Sequence[Draft],
    reviewed: Mapping[str, Reviewed],
    earlier: Sequence[Card],
) -> Outcomes:
    """Decide on every paper and every draft.

    A paper that passed the gate and was read, but has no draft, was left out of this cut and has no row.
    ``earlier`` are cards that a new one must not repeat.
    """
    outcomes = Outcomes()
    accepted = list(earlier)
    for paper in papers:
        early = _before_reading(paper, documents.get(paper.key))
        if early is not None:
            outcomes.rejects.append(_reject(paper, paper.key, early))
            continue
        for draft in (draft for draft in drafts if draft.paper == paper.key):
            seen = reviewed.get(draft.key)
            final = seen.draft if seen is not None else draft
            decision = _decide(final, seen, accepted)
            if decision.outcome == "accepted" and final.card is not None:
                accepted.append(final.card)
                outcomes.cards.append(_card(paper, final, seen))
            else:
                outcomes.rejects.append(_reject(paper, draft.key, decision))
    return outcomes


def _before_reading(paper: Paper, document: Document | None) -> Decision | None:
    verdict = paper.verdict
    if verdict.outcome != "eligible":
        return Decision(outcome=verdict.outcome, stage=verdict.stage, reason=verdict.reason)
    faults = [finding for finding in document.findings if finding.severity == "error"] if document else []
    return Decision(outcome="rejected", stage="parse", reason=faults[0].check) if faults else None


def _decide(draft: Draft, seen: Reviewed | None, accepted: Sequence[Card]) -> Decision:
    if draft.faults:
        reason = draft.faults[0].check
        stage: Literal["extract", "check"] = "extract" if draft.relation is None else "check"
        return Decision(outcome="rejected", stage=stage, reason=reason)
    if draft.card is None:
        return Decision(outcome="rejected", stage="check", reason="card_shape")
    if duplicate_of(draft.card, accepted) is not None:
        return Decision(outcome="rejected", stage="check", reason="duplicate")
    if seen is None or not seen.reviews:
        return Decision(outcome="needs_person", stage="review", reason="no_review")
    return by_review(seen.reviews[-1])


def by_review(review: Review) -> Decision:
    """Decide on a draft without faults by its last review.

    Any contradicted field rejects, as does an absent numeric one; a cited relation is dropped; one that
    the paper assumes, or whose origin is unclear, goes to a person.
    """
    if review.fields("contradicted"):
        return Decision(outcome="rejected", stage="review", reason="contradicted")
    if any(is_numeric(name) for name in review.fields("absent")):
        return Decision(outcome="rejected", stage="review", reason="absent_number")
    if review.originality == "cited":
        return Decision(outcome="rejected", stage="review", reason="cited_relation")
    if review.originality != "new":
        return Decision(outcome="needs_person", stage="review", reason=f"{review.originality}_relation")
    if "relation" in review.fields("absent"):
        return Decision(outcome="needs_person", stage="review", reason="absent_relation")
    return Decision(outcome="accepted", stage="review", reason="supported")


def _card(paper: Paper, draft: Draft, seen: Reviewed | None) -> dict[str, Any]:
    assert draft.card is not None, "only a card is accepted"
    return {
        "card": draft.card.model_dump(mode="json"),
        "paper": {
            "key": paper.key,
            "title": paper.title,
            "doi": paper.doi,
            "arxiv": paper.arxiv,
            "journal": paper.journal,
            "licence": paper.licence,
            "dates": paper.dates().model_dump(mode="json"),
            "track": paper.track,
        },
        "extractor": draft.extractor,
        "review_model": seen.reviews[-1].model if seen and seen.reviews else None,
        "revised": draft.revised,
    }


def _reject(paper: Paper, candidate: str, decision: Decision) -> dict[str, Any]:
    return {
        "paper": paper.key,
        "candidate": candidate,
        "title": paper.title,
        "doi": paper.doi,
        "arxiv": paper.arxiv,
        **decision.model_dump(),
    }
