"""Review: a second model, blind to the extractor's reasons, judges a draft field by field.

Source: arXiv 2610.37919, section 3.2. What follows from the verdicts is decided by ``decide``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from cards.card import Card
from cards.errors import GatewayError
from cards.finding import Finding
from cards.infix import print_infix
from cards.review import FieldVerdict, Originality, Review
from curation.document import Document, locate
from curation.draft import Draft
from curation.extract import UNUSABLE, Ask, ModelExtractor, shown
from curation.paper import Paper
from gateway.prompt import Prompt
from gateway.request import Message, Sampling, StructuredRequest


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class VerdictWire(_Wire):
    """The reviewer's word on one field."""

    field: str
    verdict: Literal["supported", "contradicted", "absent"]
    quote: str
    comment: str


class ReviewReply(_Wire):
    """The reviewer's answer as it goes over the wire."""

    verdicts: list[VerdictWire]
    originality: Originality
    originality_quote: str


class Reviewed(BaseModel):
    """A draft with its reviews, oldest first; ``draft`` is the revised one where there was a revision."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    draft: Draft
    reviews: tuple[Review, ...]
    trouble: str = ""
    """Why there is no usable review, where there is none."""


@dataclass(frozen=True)
class Reviewer:
    """Review by a language model through ``ask``."""

    name: str
    prompt: Prompt
    ask: Ask

    def review(self, draft: Draft, paper: Paper, document: Document, attempt: int = 0) -> Review:
        """Return the verdicts on every field of the draft's card.

        A verdict without a quote that the paper holds counts as ``absent``; a field without a verdict
        too.

        Raises:
            OwedCallError, GatewayError: as ``ModelExtractor.drafts``.
        """
        assert draft.card is not None, "only a draft with a card is reviewed"
        listed = claims(draft.card)
        lines = "\n".join(f"{field}: {claim}" for field, claim in listed.items())
        question = f"{shown(paper, document)}\n\n<claims>\n{lines}\n</claims>"
        reply = self.ask(
            StructuredRequest(
                purpose="review",
                subject=draft.key,
                prompt=self.prompt,
                messages=(Message("system", self.prompt.text), Message("user", question)),
                schema=ReviewReply,
                sampling=Sampling(temperature=0.0, max_tokens=6_000),
            )
        )
        given = {item.field: item for item in reply.value.verdicts}
        return Review(
            card_id=draft.card.id,
            model=self.name,
            verdicts=tuple(_verdict(field, given.get(field), document) for field in listed),
            originality=reply.value.originality,
            attempt=attempt,
            call=reply.key,
        )


def review_draft(
    draft: Draft, paper: Paper, document: Document, reviewer: Reviewer, extractor: ModelExtractor | None
) -> Reviewed:
    """Review a draft; where a field is contradicted and the one revision is unused, revise and review again.

    Raises:
        OwedCallError, GatewayError: as ``ModelExtractor.drafts``.
    """
    try:
        first = reviewer.review(draft, paper, document)
        against = contradictions(first)
        if not against or draft.revised or extractor is None:
            return Reviewed(key=draft.key, draft=draft, reviews=(first,))
        revised = extractor.revise(draft, against, paper, document)
        if revised.faults or revised.card is None:
            return Reviewed(key=draft.key, draft=revised, reviews=(first,))
        second = reviewer.review(revised, paper, document, attempt=1)
        return Reviewed(key=draft.key, draft=revised, reviews=(first, second))
    except GatewayError as error:
        if error.reason not in UNUSABLE:
            raise
        return Reviewed(key=draft.key, draft=draft, reviews=(), trouble=error.message[:300])


def claims(card: Card) -> dict[str, str]:
    """Return what the card says, field by field, in sentences that a reviewer can compare with the paper."""
    observable = card.observables[0]
    listed = {"relation": f"{observable.name} = {print_infix(observable.relation)}"}
    listed[f"observables.{observable.name}.unit"] = (
        f"{observable.symbol}, {observable.description}, in {observable.unit}"
    )
    for item in card.inputs:
        listed[f"inputs.{item.name}.unit"] = f"{item.symbol}, {item.description}, in {item.unit}"
        listed[f"inputs.{item.name}.domain"] = (
            f"{item.symbol} from {item.low!r} to {item.high!r}{_of(item.unit)}"
        )
    for parameter in card.parameters:
        if parameter.source != "a unit":
            listed[f"parameters.{parameter.name}.value"] = (
                f"{parameter.symbol}, {parameter.description}, is {parameter.value!r}{_of(parameter.unit)}"
            )
    for index, condition in enumerate(card.conditions):
        listed[f"conditions[{index}]"] = " ".join(condition.split())
    return listed


def _of(unit: str) -> str:
    return "" if unit == "1" else f" {unit}"


def is_numeric(field: str) -> bool:
    """Return whether a field holds numbers, so that an ``absent`` verdict on it forbids acceptance."""
    return field.endswith((".domain", ".value"))


def contradictions(review: Review) -> list[Finding]:
    """Return the contradicted fields as findings, with the reviewer's quote."""
    return [
        Finding(
            check="contradicted",
            path=item.field,
            message=f"the paper says {item.quote[:200]!r} ({item.comment[:200]})",
        )
        for item in review.verdicts
        if item.verdict == "contradicted"
    ]


def _verdict(field: str, given: VerdictWire | None, document: Document) -> FieldVerdict:
    if given is None:
        return FieldVerdict(field=field, verdict="absent", comment="no verdict was given")
    if given.verdict != "absent" and locate(given.quote, document.text) is None:
        comment = f"{given.verdict}, but the quote is not in the paper: {given.comment}"
        return FieldVerdict(field=field, verdict="absent", quote=given.quote, comment=comment)
    return FieldVerdict(field=field, verdict=given.verdict, quote=given.quote, comment=given.comment)
