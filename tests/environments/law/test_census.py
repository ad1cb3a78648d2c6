"""The generator over the whole Historical collection, every pair checked again by independent code."""

from __future__ import annotations

import time
from collections import Counter
from functools import cache

import pytest

from cards.card import Card
from cards.infix import print_infix
from cards.store import historical
from environments.law.generate import Pair, make_pair
from environments.law.propose import KINDS, TIERS
from environments.seeding import derive
from tests.environments.law.independent import objections

ALL_KINDS = {*KINDS["easy"], *KINDS["medium"]}
SEEDS = 20
MAY_ADMIT_NONE = 0.05
LEAST_FORMS = 4
LEAST_SHARE = 0.1
MOST_SECONDS = 1.0


def seed(number: int) -> bytes:
    """Return the item seed of one trial."""
    return derive(b"census of the generator", str(number))


def wrong(card: Card, pair: Pair) -> list[str]:
    """Return what independent code objects to in a structural pair."""
    if pair.definition.pair_class != "structural":
        return []
    original = {item.name: item.relation for item in card.observables}
    return objections(pair.definition, original, card.values())


def form(pair: Pair) -> str:
    """Return the parametric form of a pair: two pairs of one form differ in constants only."""
    return "; ".join(print_infix(tree) for tree in pair.definition.relations.values())


@cache
def pairs(count: int) -> list[tuple[Card, str, int, Pair, float]]:
    """Return (card, tier, seed number, pair, CPU seconds), ``count`` seeds of each card and tier."""
    made = []
    for card in historical():
        for tier in TIERS:
            for number in range(count):
                start = time.process_time()
                pair = make_pair(card, seed(number), tier, others=historical())
                made.append((card, tier, number, pair, time.process_time() - start))
    return made


@pytest.mark.parametrize("card", historical(), ids=lambda card: card.id)
def test_a_pair_of_every_card_stands_up_to_independent_checks(card: Card) -> None:
    """Units, finiteness, range, influence and distinctness hold when other code looks."""
    pair = make_pair(card, seed(0), "medium", others=historical())
    assert pair.tier == "medium"
    assert wrong(card, pair) == []


@pytest.mark.nightly
@pytest.mark.timeout(5400)
def test_every_structural_pair_passes_independent_checks() -> None:
    """Twenty seeds of every card and tier: all emitted structural pairs pass, none is excepted."""
    found = {(c.id, tier, n): wrong(c, pair) for c, tier, n, pair, _ in pairs(SEEDS)}
    assert {key: trouble for key, trouble in found.items() if trouble} == {}


@pytest.mark.nightly
@pytest.mark.timeout(5400)
def test_nearly_every_card_yields_medium_pairs_of_many_forms() -> None:
    """At least 95 % of cards yield medium pairs, and each such card at least four structural forms."""
    forms: dict[str, set[str]] = {}
    for card, tier, _, pair, _ in pairs(SEEDS):
        if tier == pair.tier == "medium" and pair.definition.pair_class == "structural":
            forms.setdefault(card.id, set()).add(form(pair))
    assert len(forms) >= (1 - MAY_ADMIT_NONE) * len(historical())
    assert {card: len(found) for card, found in forms.items() if len(found) < LEAST_FORMS} == {}


@pytest.mark.nightly
@pytest.mark.timeout(5400)
def test_no_kind_of_mutation_is_rare() -> None:
    """Each of the five kinds occurs in at least a tenth of all pairs."""
    counts = Counter(
        kind for *_, pair, _ in pairs(SEEDS) for kind in {m.kind for m in pair.definition.mutations}
    )
    assert set(counts) == ALL_KINDS
    assert min(counts.values()) >= LEAST_SHARE * len(pairs(SEEDS)), counts


@pytest.mark.nightly
@pytest.mark.timeout(5400)
def test_a_pair_takes_less_than_a_second() -> None:
    """On average over all cards, seeds and tiers, in CPU time of one core."""
    seconds = [taken for *_, taken in pairs(SEEDS)]
    assert sum(seconds) / len(seconds) < MOST_SECONDS
