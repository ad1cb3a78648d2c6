"""What a dry run says of cost and contamination."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cards.card import Card
from cards.dates import parse_interval
from cards.store import historical
from environments.task import Options, TaskRow
from evaluation.contamination import exposure
from evaluation.episode import Slot
from evaluation.forecast import course_of, forecast
from gateway.cutoffs import cutoff_for
from gateway.prices import Price
from tests.evaluation.stand_in import first_message, one_of_each_setting, reference_moves

FAMILIES = ("law", "pgm", "drone", "organism")


def slot_of(row: TaskRow, protocol: str) -> Slot:
    words = {"task": row.id, "family": row.family, "setting": row.setting, "protocol": protocol}
    return Slot.model_validate({"key": "0" * 64, "repetition": 0, **words})


@pytest.mark.parametrize("name", FAMILIES)
def test_the_sizes_are_those_of_real_openings_and_plays(name: str) -> None:
    """A forecast rests on what conversations are like: four characters a token, within a factor of two."""
    for task in one_of_each_setting(name):
        for protocol in task.row.protocols:
            course = course_of(slot_of(task.row, protocol), task.row.limits_under(protocol))
            options = Options(setting=task.row.setting, protocol=protocol)
            _, record = reference_moves(task, options)
            asked = [event for event in record.events if event.tool != "read_observations"]
            assert course.replies[0] <= max(2, len(asked))
            assert len(asked) <= course.replies[1]
            prompt = 4000 if not task.row.setting.startswith("probe-") else 400
            opening = (len(first_message(task, options)) + prompt) / 4
            assert opening / 2 < course.opening < opening * (2 if prompt == 4000 else 4)


def test_a_forecast_is_a_range_and_has_no_price_where_none_is_known() -> None:
    """The dry run prints a cost range; a model without a known price has none, never zero."""
    task = one_of_each_setting("pgm")[0]
    slots = [slot_of(task.row, protocol) for protocol in task.row.protocols] * 10
    priced = forecast(slots, {task.row.id: task.row}, Price(1.0, 4.0))
    assert priced.calls == (20, 10 * 4 + 10 * 30)
    assert priced.usd is not None
    assert 0 < priced.usd[0] < priced.usd[1]
    assert priced.usd[0] == pytest.approx((priced.tokens_in[0] + 4 * priced.tokens_out[0]) / 1e6)
    assert replace(priced, usd=None) == forecast(slots, {task.row.id: task.row}, None)


def card(preprint: str | None = None, journal: str | None = None, year: int = 2026) -> Card:
    """Return a card with other dates."""
    document = historical()[0].model_dump()
    document["source"] |= {"year": year, "dates": {"first_preprint": preprint, "journal_online": journal}}
    return Card.model_validate(document)


@pytest.mark.parametrize(
    ("family", "made_from", "cutoff", "verdict"),
    [
        ("law", card("2026-04-03", "2026-06"), "2025-12", "clean"),
        ("law", card("2026-04-03", "2026-06"), "2026-03", "exposed"),  # within the guard of thirty days
        ("law", card(None, "2026-06"), "2026-04", "clean"),
        ("law", card("2026-04-03", "2026-06"), "2026-05", "exposed"),
        ("law", card("2026-04-03", "2026-06"), None, "unknown"),
        ("law", card(year=1889), "2024-06", "exposed"),
        ("law", card(year=-250), None, "exposed"),
        ("law", card(year=2026), "2024-06", "clean"),
        ("law", card(year=2026), "2026-04", "exposed"),
        ("law", None, "2024-06", "unknown"),
        ("drone", None, "2024-06", "clean"),
        ("drone", None, "2026-07", "exposed"),
        ("drone", None, None, "unknown"),
        ("pgm", None, None, "clean"),
        ("organism", None, "2026-11", "clean"),
    ],
)
def test_contamination_follows_from_dates_and_the_cutoff(
    family: str, made_from: Card | None, cutoff: str | None, verdict: str
) -> None:
    """Evaluation 3: clean, exposed or unknown, from stored dates and the cutoff; drawn worlds are clean."""
    assert exposure(family, made_from, parse_interval(cutoff) if cutoff else None) == verdict


def test_cutoffs_come_from_the_table_and_unknown_stays_unknown() -> None:
    """A model that is not listed has no cutoff; none is guessed."""
    known = cutoff_for("openai", "gpt-4o-mini")
    assert known is not None
    assert parse_interval(known).high.year == 2023
    assert cutoff_for("openai", "gpt-99") is None
