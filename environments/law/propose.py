"""Which changes could be made to a card, in an order that the seed decides.

Source: arXiv 2610.37919, section 3.2; tiers as NewtonBench's levels of difficulty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from cards.card import Card, Input
from cards.expression import names
from environments.law.groups import Group, groups
from environments.law.mutate import Change, hidden_values, middle, written_out
from environments.law.shapes import NONLINEAR, SHAPES
from environments.law.study import Study

TIERS = ("easy", "medium", "hard")
KINDS: Mapping[str, tuple[str, ...]] = {
    "easy": ("exponent", "coefficient"),
    "medium": ("transform", "interaction", "correction"),
    "hard": ("transform", "correction"),
}
"""The kinds of a tier; for hard, of the change that joins an interaction."""

_EXPONENTS = ((0.1, 0.35), (0.35, 0.7), (0.7, 1.3))
_SHARES = ((0.15, 0.4), (0.4, 0.8), (0.8, 1.5))
_TERMS = ((0.1, 0.3), (0.3, 0.7), (0.7, 1.3))
_FACTORS = ((1.3, 1.6), (1.6, 2.3), (2.3, 3.2))
"""Ranges of strength, weak to strong; the first that a player can see clearly is taken."""

Ladder = tuple[tuple[Change, ...], ...]
"""The same changes at growing strength."""


class Proposals:
    """All ladders of one card, drawn from one generator.

    Args:
        rng: decides the strengths and the order of everything.
    """

    def __init__(self, study: Study, rng: np.random.Generator) -> None:
        self._card, self._study, self._rng = study.card, study, rng
        self._targets = _targets(study.card)
        self._groups = groups(study.card, study.sample)
        self._tops = {group: self._top(group) for group in self._groups}

    def of_tier(self, tier: str) -> list[list[Ladder]]:
        """Return the ladders of a tier by kind; kinds and ladders in seeded order.

        easy: one exponent or one coefficient. medium: one transformation, interaction or correction.
        hard: an interaction and a transformation or correction, over at least two inputs.
        """
        kinds = [KINDS[tier][int(i)] for i in self._rng.permutation(len(KINDS[tier]))]
        made = [self._shuffled(self.of_kind(kind)) for kind in kinds]
        if tier != "hard":
            return made
        interactions = self._shuffled(self.of_kind("interaction"))
        return [_joined(interactions, others) for others in made]

    def of_kind(self, kind: str) -> list[Ladder]:
        """Return the ladders of one kind, in a fixed order."""
        makers = {
            "coefficient": self._coefficients,
            "exponent": self._exponents,
            "transform": self._transforms,
            "interaction": self._interactions,
            "correction": self._corrections,
        }
        return makers[kind]()

    def _coefficients(self) -> list[Ladder]:
        used = _used(self._card)
        hidden = {name: v for name, v in hidden_values(self._card).items() if name in used and v != 0}
        if hidden:
            return [
                _ladder(Change("coefficient", name, 0.0), [two_digits(value * f) for f in self._ratios()])
                for name, value in hidden.items()
            ]
        return [_ladder(Change("coefficient", target, 0.0), self._ratios()) for target in self._targets]

    def _exponents(self) -> list[Ladder]:
        used = _used(self._card)
        return [
            _ladder(Change("exponent", item.name, 0.0, (item.name,)), self._strengths(_EXPONENTS))
            for item in self._card.inputs
            if item.name in used and item.low > 0
        ]

    def _interactions(self) -> list[Ladder]:
        return [
            _ladder(
                Change("interaction", target, 0.0, (first.name, second.name), sign), self._strengths(_SHARES)
            )
            for target in self._targets
            for first, second in permutations(self._card.inputs, 2)
            for sign in (1, -1)
            if _fit_for_group(first, second, sign)
        ]

    def _transforms(self) -> list[Ladder]:
        return [
            _ladder(self._grouped("transform", target, shape, group), self._strengths(_SHARES))
            for target in self._targets
            for group in self._groups
            for shape in NONLINEAR
            if self._tops[group] <= SHAPES[shape].top
        ]

    def _corrections(self) -> list[Ladder]:
        found = []
        for target in self._targets:
            typical = self._typical(target)
            for group in self._groups:
                for shape in SHAPES:
                    trivial = shape == "linear" and group == Group(((target, 1),), bare=group.bare)
                    if typical > 0 and self._tops[group] <= SHAPES[shape].top and not trivial:
                        change = self._grouped("correction", target, shape, group)
                        rungs = [two_digits(s * typical) for s in self._strengths(_TERMS)]
                        found.append(_ladder(change, rungs))
        return found

    def _grouped(self, kind: str, target: str, shape: str, group: Group) -> Change:
        inputs = tuple(item.name for item in self._card.inputs if item.name in dict(group.powers))
        return Change(kind, target, 0.0, inputs, shape=shape, group=group)

    def _typical(self, target: str) -> float:
        """Return the usual size of a quantity, which a correction's coefficient is a share of."""
        for item in self._card.inputs:
            if item.name == target:
                return abs(middle(item))
        hidden = hidden_values(self._card)
        size = abs(hidden[target]) if target in hidden else np.median(np.abs(self._study.original[target]))
        return float(size)

    def _top(self, group: Group) -> float:
        columns = dict(self._study.sample)
        if not group.bare:
            columns = {
                item.name: columns[item.name] / middle(item) for item in self._card.inputs if middle(item)
            }
        return float(np.max(group.values({**self._card.values(), **columns})))

    def _strengths(self, ranges: Sequence[tuple[float, float]]) -> list[float]:
        direction = 1.0 if self._rng.random() < 0.7 else -1.0
        return [two_digits(direction * self._rng.uniform(low, high)) for low, high in ranges]

    def _ratios(self) -> list[float]:
        up = self._rng.random() < 0.5
        return [two_digits(f if up else 1 / f) for f in (self._rng.uniform(*ends) for ends in _FACTORS)]

    def _shuffled(self, items: Sequence[Ladder]) -> list[Ladder]:
        return [items[int(index)] for index in self._rng.permutation(len(items))]


def _joined(interactions: Sequence[Ladder], others: Sequence[Ladder]) -> list[Ladder]:
    if not others:
        return []
    pairs = ((first, others[index % len(others)]) for index, first in enumerate(interactions))
    return [tuple(a + b for a, b in zip(first, second, strict=True)) for first, second in pairs]


def _targets(card: Card) -> list[str]:
    """Inputs and hidden parameters that occur, and the observable where there is only one."""
    used = _used(card)
    constant = {p.name for p in card.parameters if p.constant}
    hidden = [name for name in hidden_values(card) if name not in constant]
    quantities = [name for name in (*(item.name for item in card.inputs), *hidden) if name in used]
    return quantities + ([card.observables[0].name] if len(card.observables) == 1 else [])


def _used(card: Card) -> frozenset[str]:
    return frozenset().union(*(names(tree) for tree in written_out(card).values()))


def _fit_for_group(first: Input, second: Input, sign: int) -> bool:
    if sign > 0 and first.name > second.name:
        return False  # the product of two groups reads the same both ways
    positive = first.low >= 0 and second.low >= 0
    return positive and (sign > 0 or second.low > 0)


def _ladder(change: Change, values: Sequence[float]) -> Ladder:
    return tuple((replace(change, value=value),) for value in values)


def two_digits(value: float) -> float:
    """Round to two significant digits, so that a player can name the value exactly."""
    return float(f"{value:.2g}")
