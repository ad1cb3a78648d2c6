"""Dimensionless groups of a card, found by themselves: the null space of its dimension matrix.

A group is a product of whole powers of inputs and parameters that has no unit (Buckingham's Π). It may
stand *bare*, or with every input divided by the middle of its domain: then the parameters cancel, and
what is left is a product of visible ratios. A ratio of one input to its own middle is a group too.

Source: E. Buckingham, Physical Review 4, 345 (1914); the use in counterfactuals is ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from cards.card import Card
from cards.dimensions import DIMENSIONLESS, Unit
from cards.operators import FloatArray
from cards.units import parse_unit

LARGEST_POWER = 4
MOST_NAMES = 6
"""Quantities in one group; a longer one is nothing that a person would look for."""
MOST_GROUPS = 12
"""Groups of one card that mutations are made of, the simplest ones."""
_BARE_LOW, _BARE_HIGH = 0.02, 20.0
"""Between these lies the median of a group that may stand bare: elsewhere its functions are flat."""
_BARE_TOP = 200.0


@dataclass(frozen=True)
class Group:
    """A product of powers without a unit.

    ``bare``: of the quantities themselves; else of inputs over the middles of their domains.
    """

    powers: tuple[tuple[str, int], ...]
    bare: bool

    def values(self, columns: Mapping[str, FloatArray | float]) -> FloatArray:
        """Return the group at some points, given bare quantities or ratios by name."""
        with np.errstate(all="ignore"):
            parts = [np.asarray(columns[name], dtype=np.float64) ** power for name, power in self.powers]
            return np.asarray(math.prod(parts[1:], start=parts[0]), dtype=np.float64)


def null_space(rows: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """Return a basis of the vectors that a matrix of exact fractions maps to zero."""
    matrix = [list(row) for row in rows]
    width = len(matrix[0]) if matrix else 0
    pivots: list[int] = []
    for column in range(width):
        lead = len(pivots)
        found = next((r for r in range(lead, len(matrix)) if matrix[r][column]), None)
        if found is None:
            continue
        matrix[lead], matrix[found] = matrix[found], matrix[lead]
        matrix[lead] = [value / matrix[lead][column] for value in matrix[lead]]
        for r, row in enumerate(matrix):
            if r != lead and row[column]:
                matrix[r] = [a - row[column] * b for a, b in zip(row, matrix[lead], strict=True)]
        pivots.append(column)
    basis = []
    for free in (column for column in range(width) if column not in pivots):
        vector = [Fraction(int(column == free)) for column in range(width)]
        for r, pivot in enumerate(pivots):
            vector[pivot] = -matrix[r][free]
        basis.append(vector)
    return basis


def dimensionless(units: Mapping[str, Unit]) -> list[dict[str, int]]:
    """Return products of whole powers without a unit, the simplest first.

    All small combinations of a basis of the null space; opposite signs count once.
    """
    names = list(units)
    if not names:
        return []
    rows = [[units[name].exponents[place] for name in names] for place in range(len(DIMENSIONLESS.exponents))]
    basis = [_whole(vector) for vector in null_space(rows)]
    found: dict[tuple[int, ...], None] = {}
    for vector in _combinations(basis):
        powers = _whole([Fraction(value) for value in vector])
        if next(value for value in powers if value) < 0:
            powers = [-value for value in powers]
        if max(map(abs, powers)) <= LARGEST_POWER and sum(map(bool, powers)) <= MOST_NAMES:
            found[tuple(powers)] = None
    ordered = sorted(found, key=lambda powers: (sum(map(bool, powers)), sum(map(abs, powers)), powers))
    return [{name: power for name, power in zip(names, powers, strict=True) if power} for powers in ordered]


def groups(card: Card, sample: Mapping[str, FloatArray]) -> list[Group]:
    """Return the groups that a card's mutations may be made of, the simplest first.

    Args:
        sample: points of the domain, by input.
    """
    units = {item.name: parse_unit(item.unit) for item in card.inputs}
    units |= {item.name: parse_unit(item.unit) for item in card.parameters}
    usable = {item.name for item in card.inputs if item.low >= 0}
    usable |= {p.name for p in card.parameters if p.value > 0 and not p.constant and p.relation is None}
    found = dimensionless({name: unit for name, unit in units.items() if name in usable})
    found += [{item.name: 1} for item in card.inputs if item.name in usable]
    made: dict[Group, None] = {}
    for powers in found:
        for group in _standing(card, powers, units, sample):
            made.setdefault(group)
    return list(made)[:MOST_GROUPS]


def _standing(
    card: Card, powers: Mapping[str, int], units: Mapping[str, Unit], sample: Mapping[str, FloatArray]
) -> Iterator[Group]:
    inputs = {item.name: powers[item.name] for item in card.inputs if item.name in powers}
    if not inputs or not _positive(card, inputs):
        return
    bare = Group(tuple(powers.items()), bare=True)
    scale = math.prod(units[name].scale ** power for name, power in powers.items())
    plain = all(
        sum(units[name].exponents[place] * power for name, power in powers.items()) == 0
        for place in range(len(DIMENSIONLESS.exponents))
    )
    if plain and Unit(scale, DIMENSIONLESS.exponents).same_scale(DIMENSIONLESS):
        values = bare.values({**card.values(), **sample})
        if _BARE_LOW <= np.median(values) <= _BARE_HIGH and np.max(values) <= _BARE_TOP:
            yield bare
    yield Group(tuple(inputs.items()), bare=False)


def _positive(card: Card, inputs: Mapping[str, int]) -> bool:
    """An input that can be zero may not be divided by."""
    return all(item.low > 0 or inputs[item.name] > 0 for item in card.inputs if item.name in inputs)


def _whole(vector: Sequence[Fraction]) -> list[int]:
    scale = math.lcm(*(value.denominator for value in vector))
    whole = [int(value * scale) for value in vector]
    return [value // max(1, math.gcd(*whole)) for value in whole]


def _combinations(basis: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield non-zero combinations with factors -1, 0 and 1; of a large basis only single and double ones."""
    if len(basis) <= 4:
        choices = list(product((-1, 0, 1), repeat=len(basis)))
    else:
        choices = [
            tuple(sign if k == j else int(k == i) for k in range(len(basis)))
            for i in range(len(basis))
            for j in range(i, len(basis))
            for sign in (1, -1)
        ]
    for factors in choices:
        vector = [
            sum(f * v for f, v in zip(factors, column, strict=True)) for column in zip(*basis, strict=True)
        ]
        if any(vector):
            yield vector
