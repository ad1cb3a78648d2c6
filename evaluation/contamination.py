"""Whether a model may have read what a task is made from: one verdict for each task and model.

Source: arXiv 2610.37919, section 3.2 (a law counts for a model whose knowledge ends before it was public).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Literal, get_args

from cards.card import Card
from cards.dates import GUARD_DAYS, DateInterval, parse_interval

Exposure = Literal["clean", "exposed", "unknown"]
EXPOSURES: tuple[Exposure, ...] = get_args(Exposure)

FIRST_MODELS = 2018
"""No language model is older; what was printed before is known to all of them."""

DRAWN: frozenset[str] = frozenset({"pgm", "organism"})
"""Families whose tasks are drawn from the release's secret key and were never public."""

PUBLISHED: Mapping[str, str] = {"drone": "2026-07"}
"""Families whose scenarios stand in a paper, with its month: whoever has read it knows what decides."""


def exposure(family: str, card: Card | None, cutoff: DateInterval | None) -> Exposure:
    """Return the verdict on one task.

    Args:
        family: the task's family.
        card: the card that it was made from; None where there is none, or it is not at hand.
        cutoff: when the model's knowledge ends; None where that is not known.
    """
    if family in DRAWN:
        return "clean"
    public = _public_of(card) if card is not None else PUBLISHED.get(family)
    if public is None:
        return "unknown"
    if isinstance(public, int):
        return _by_year(public, cutoff)
    return _by_date(parse_interval(public).low, cutoff)


def _public_of(card: Card) -> str | int:
    """Return the earliest date text of a card's source, or its year where no date is known."""
    dates = [text for text in (card.source.dates.first_preprint, card.source.dates.journal_online) if text]
    return min(dates, key=lambda text: parse_interval(text).low) if dates else card.source.year


def _by_year(year: int, cutoff: DateInterval | None) -> Exposure:
    # Years before the calendar's first are no dates, but old enough.
    return "exposed" if year < FIRST_MODELS else _by_date(date(year, 1, 1), cutoff)


def _by_date(public: date, cutoff: DateInterval | None) -> Exposure:
    if public.year < FIRST_MODELS:
        return "exposed"
    if cutoff is None:
        return "unknown"
    return "clean" if public > cutoff.high + timedelta(days=GUARD_DAYS) else "exposed"
