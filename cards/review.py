"""The review of an extracted card: one verdict per field, each with the reviewer's own quote.

Source: arXiv 2610.37919, section 3.2 (a separate reviewer checks accuracy and completeness). What
follows from the verdicts is decided by code, elsewhere.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Verdict = Literal["supported", "contradicted", "absent"]
Originality = Literal["new", "cited", "assumed", "unclear"]


class FieldVerdict(BaseModel):
    """What the reviewer found in the paper about one field of the card.

    ``field`` is a path into the card (``parameters.k.value``); ``quote`` is verbatim paper text,
    empty only where the verdict is ``absent``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    field: str = Field(min_length=1)
    verdict: Verdict
    quote: str = ""
    comment: str = ""


class Review(BaseModel):
    """One reviewer's verdicts on one card; ``originality`` says whether the relation is the paper's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    card_id: str
    model: str
    verdicts: tuple[FieldVerdict, ...]
    originality: Originality = "unclear"
    attempt: int = Field(default=0, ge=0)
    call: str = ""
    """Key of the model's reply in the call store; empty for a person's review."""

    def fields(self, verdict: Verdict) -> tuple[str, ...]:
        """Return the fields with this verdict, in the review's order."""
        return tuple(item.field for item in self.verdicts if item.verdict == verdict)
