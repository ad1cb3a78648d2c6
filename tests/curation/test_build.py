"""Build: cards become tasks, the same for the same key, and different for another."""

from __future__ import annotations

from typing import Any

import pytest

from cards.card import Card
from cards.errors import InputError
from cards.store import historical
from curation.build import build_tasks

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
PARAMS: dict[str, Any] = {"release": {"families": ["law"]}, "law": {"tier": "medium", "eval_points": 64}}


@pytest.fixture(scope="module")
def cards() -> list[Card]:
    return historical()[:2]


def test_every_card_gives_four_tasks(cards: list[Card]) -> None:
    """Two twins in two settings for each card, ordered by opaque id."""
    tasks = build_tasks(cards, PARAMS, KEY)
    assert len(tasks) == 8
    assert [task.row.id for task in tasks] == sorted(task.row.id for task in tasks)
    assert len({task.cluster for task in tasks}) == 2


def test_the_key_alone_decides(cards: list[Card]) -> None:
    """The same key gives equal tasks whatever the order of the cards; another key shares no id."""
    first = build_tasks(cards, PARAMS, KEY)
    assert first == build_tasks(list(reversed(cards)), PARAMS, KEY)
    assert not {t.row.id for t in first} & {t.row.id for t in build_tasks(cards, PARAMS, OTHER)}


def test_an_unknown_family_is_refused(cards: list[Card]) -> None:
    """A family that does not exist is named, with those that do."""
    with pytest.raises(InputError, match="alchemy"):
        build_tasks(cards, {"release": {"families": ["alchemy"]}}, KEY)
