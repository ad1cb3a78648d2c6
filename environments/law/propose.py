"""Which changes could be made to a card, in an order that the seed decides.

Source: arXiv 2610.37919, section 3.2; tiers as NewtonBench's levels of difficulty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from cards.card import Card, Input
from cards.expression import names
from environments.law.mutate import Change

TIERS = ("easy", "medium", "hard")

_EXPONENTS = ((0.1, 0.35), (0.35, 0.7), (0.7, 1.3))
_INTERACTIONS = ((0.15, 0.4), (0.4, 0.8), (0.8, 1.5))
_FACTORS = ((1.3, 1.6), (1.6, 2.3), (2.3, 3.2))
"""Ranges of strength, weak to strong; the first that a player can see clearly is taken."""

Ladder = tuple[tuple[Change, ...], ...]
"""The same changes at growing strength."""


def ladders(card: Card, tier: str, rng: np.random.Generator) -> list[Ladder]:
    """Return the ladders of a tier in seeded order.

    easy: one exponent or one coefficient. medium: one interaction. hard: an interaction and a second
    structural change, over at least two inputs.
    """
    if tier == "easy":
        return _shuffled([*_exponents(card, rng), *_coefficients(card, rng)], rng)
    if tier == "medium":
        return _shuffled(_interactions(card, rng), rng)
    return _shuffled(_doubles(card, rng), rng)


def structural_first(found: Sequence[Ladder]) -> list[Ladder]:
    """Return the ladders with plain coefficient changes last, else in their order."""
    return sorted(found, key=lambda ladder: ladder[0][0].kind == "coefficient")


def _exponents(card: Card, rng: np.random.Generator) -> list[Ladder]:
    used = _used(card)
    found = []
    for item in card.inputs:
        if item.name in used and item.low > 0:
            found.append(_ladder("exponent", item.name, (item.name,), 1, _strengths(_EXPONENTS, rng)))
    return found


def _interactions(card: Card, rng: np.random.Generator) -> list[Ladder]:
    found = []
    for target in _targets(card):
        for first, second in permutations(card.inputs, 2):
            for sign in (1, -1):
                if _fit_for_group(first, second, sign):
                    inputs = (first.name, second.name)
                    found.append(_ladder("interaction", target, inputs, sign, _strengths(_INTERACTIONS, rng)))
    return found


def _coefficients(card: Card, rng: np.random.Generator) -> list[Ladder]:
    used = _used(card)
    hidden = [p for p in card.parameters if not p.told and p.name in used and p.value != 0]
    if hidden:
        values = {p.name: [two_digits(p.value * ratio) for ratio in _ratios(rng)] for p in hidden}
        return [_ladder("coefficient", name, (), 1, rungs) for name, rungs in values.items()]
    return [
        _ladder("coefficient", p.name, (), 1, [two_digits(p.value * f) for f in _ratios(rng)]) for p in hidden
    ]
    return [_ladder("coefficient", target, (), 1, _ratios(rng)) for target in _targets(card)]


def _doubles(card: Card, rng: np.random.Generator) -> list[Ladder]:
    interactions = _shuffled(_interactions(card, rng), rng)
    others = _shuffled([*_exponents(card, rng), *interactions], rng)
    found = []
    for index, first in enumerate(interactions):
        second = others[index % len(others)]
        if first[0][0].inputs != second[0][0].inputs or first[0][0].target != second[0][0].target:
            found.append(tuple(a + b for a, b in zip(first, second, strict=True)))
    return found


def _targets(card: Card) -> list[str]:
    """Inputs and hidden parameters that occur, and the observable where there is only one."""
    used = _used(card)
    hidden = [p.name for p in card.parameters if not p.told and not p.constant]
    quantities = [name for name in (*(item.name for item in card.inputs), *hidden) if name in used]
    return quantities + ([card.observables[0].name] if len(card.observables) == 1 else [])


def _used(card: Card) -> frozenset[str]:
    return frozenset().union(*(names(item.relation) for item in card.observables))


def _fit_for_group(first: Input, second: Input, sign: int) -> bool:
    if sign > 0 and first.name > second.name:
        return False  # the product of two groups reads the same both ways
    positive = first.low >= 0 and second.low >= 0
    return positive and (sign > 0 or second.low > 0)


def _ladder(kind: str, target: str, inputs: tuple[str, ...], sign: int, values: Sequence[float]) -> Ladder:
    return tuple((Change(kind, target, value, inputs, sign),) for value in values)


def _strengths(ranges: Sequence[tuple[float, float]], rng: np.random.Generator) -> list[float]:
    direction = 1.0 if rng.random() < 0.7 else -1.0
    return [two_digits(direction * rng.uniform(low, high)) for low, high in ranges]


def _ratios(rng: np.random.Generator) -> list[float]:
    up = rng.random() < 0.5
    return [two_digits(f if up else 1 / f) for f in (rng.uniform(low, high) for low, high in _FACTORS)]


def two_digits(value: float) -> float:
    """Round to two significant digits, so that a player can name the value exactly."""
    return float(f"{value:.2g}")


def _shuffled(items: Sequence[Ladder], rng: np.random.Generator) -> list[Ladder]:
    return [items[int(index)] for index in rng.permutation(len(items))]


def steps(found: Sequence[Ladder]) -> Iterator[tuple[Change, ...]]:
    """Yield every rung of every ladder, ladder by ladder, weak to strong."""
    for ladder in found:
        yield from ladder
