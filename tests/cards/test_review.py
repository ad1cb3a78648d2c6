"""Reviews as data."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from cards.review import FieldVerdict, Review


def test_fields_are_listed_by_verdict_in_order() -> None:
    """Code decides by verdict per field; the order of the review is kept."""
    review = Review(
        card_id="c-1",
        model="m",
        verdicts=(
            FieldVerdict(field="parameters.k.value", verdict="contradicted", quote="k = 2"),
            FieldVerdict(field="inputs.x.unit", verdict="supported", quote="in metres"),
            FieldVerdict(field="parameters.b.value", verdict="contradicted", quote="b = 3"),
        ),
    )
    assert review.fields("contradicted") == ("parameters.k.value", "parameters.b.value")
    assert review.fields("absent") == ()


def test_a_review_is_frozen_and_admits_no_other_verdict() -> None:
    """Verdicts are supported, contradicted or absent, and nothing edits a review afterwards."""
    with pytest.raises(ValidationError):
        FieldVerdict(field="x", verdict="probably")  # type: ignore[arg-type]
    verdict = FieldVerdict(field="x", verdict="absent")
    with pytest.raises(ValidationError):
        verdict.verdict = "supported"
