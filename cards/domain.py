"""The box that a relation lives on: names, intervals, scales, integer flags, constraints.

Low-discrepancy points in it are made here and nowhere else, so that acceptance, equality and the
worlds speak of the same domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from cards.errors import InputError
from cards.evaluate import evaluate_partial
from cards.expression import Tree
from cards.operators import BoolArray, FloatArray

_COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
_MOST_DRAWN = 1 << 20


@dataclass(frozen=True, slots=True)
class Interval:
    """One input's closed interval, and how it is sampled.

    ``scale`` "log" needs low > 0. ``integer`` inputs take whole values only.
    """

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    integer: bool = False

    def middle(self) -> float:
        """Return the arithmetic middle, or the geometric one for a log scale (unrounded)."""
        if self.scale == "log":
            return float((self.low * self.high) ** 0.5)
        return 0.5 * (self.low + self.high)


@dataclass(frozen=True, slots=True)
class Constraint:
    """``left`` (op) ``right`` must hold; both are trees over inputs and parameters."""

    left: Tree
    op: Literal["<", "<=", ">", ">="]
    right: Tree


@dataclass(frozen=True)
class Domain:
    """Intervals by input name (in the card's order), constraints, and the values of told parameters."""

    intervals: Mapping[str, Interval]
    constraints: Sequence[Constraint] = ()
    constants: Mapping[str, float] = field(default_factory=dict)


def points(domain: Domain, n: int, seed: int = 0) -> dict[str, FloatArray]:
    """Return n points of a scrambled Sobol sequence inside the domain, by input name.

    Log scales are uniform in the logarithm, integer inputs take each whole value in [low, high] with
    equal weight, and points that violate a constraint are left out. The first k of n points are the
    points that ``points(domain, k, seed)`` gives.

    Returns:
        Arrays of shape (n,) in the inputs' units, in the domain's order.

    Raises:
        InputError: the constraints leave (almost) nothing of the box.
    """
    size = 1 << max(0, n - 1).bit_length()
    while size <= _MOST_DRAWN:
        columns = stretch(domain, unit_points(domain, size, seed))
        inside = np.flatnonzero(satisfied(domain, columns))
        if inside.size >= n:
            return {name: column[inside[:n]] for name, column in columns.items()}
        size *= 2
    raise InputError(
        f"the constraints leave fewer than {n} of {_MOST_DRAWN} points of the box.",
        "Loosen the constraints or narrow the intervals.",
    )


def satisfied(domain: Domain, columns: Mapping[str, FloatArray | float]) -> BoolArray:
    """Return a mask of the points at which every constraint is defined and holds."""
    shape = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
    holds: BoolArray = np.ones(shape, dtype=np.bool_)
    known = {**domain.constants, **columns}
    for constraint in domain.constraints:
        left, left_defined = evaluate_partial(constraint.left, known)
        right, right_defined = evaluate_partial(constraint.right, known)
        holds &= left_defined & right_defined & _COMPARE[constraint.op](left, right)
    return holds


def contains(domain: Domain, values: Mapping[str, float]) -> str | None:
    """Return None for a point inside the domain, else the reason in words.

    A point names every input once, each with a finite number in its closed interval, whole where the
    input is an integer, and satisfies all constraints.
    """
    for name in values:
        if name not in domain.intervals:
            return f"unknown input {name[:64]!r}; the inputs are {', '.join(domain.intervals)}"
    for name, interval in domain.intervals.items():
        if name not in values:
            return f"the input {name!r} is missing"
        reason = _outside(values[name], interval)
        if reason is not None:
            return f"{name} {reason}"
    for constraint in domain.constraints:
        single = Domain(domain.intervals, (constraint,), domain.constants)
        if not satisfied(single, values):
            from cards.infix import print_constraint  # which itself needs Constraint

            return f"the constraint {print_constraint(constraint)} does not hold"
    return None


def _outside(value: float, interval: Interval) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "is not a number"
    if not interval.low <= value <= interval.high:  # also refuses NaN
        return f"lies outside [{interval.low:g}, {interval.high:g}]"
    if interval.integer and value != int(value):
        return "must be a whole number"
    return None


def stretch(domain: Domain, unit: FloatArray) -> dict[str, FloatArray]:
    """Map points of the unit cube, shape (n, number of inputs), onto the box; constraints are ignored."""
    return {
        name: _spread(unit[:, i], interval) for i, (name, interval) in enumerate(domain.intervals.items())
    }


def unit_points(domain: Domain, n: int, seed: int = 0) -> FloatArray:
    """Return n scrambled Sobol points of the domain's unit cube, shape (n, number of inputs)."""
    return _sobol(len(domain.intervals), 1 << max(0, n - 1).bit_length(), seed)[:n].copy()


@lru_cache(maxsize=64)
def _sobol(inputs: int, size: int, seed: int) -> FloatArray:
    from scipy.stats import qmc  # a second of import time, needed only here

    unit: FloatArray = qmc.Sobol(inputs, rng=np.random.default_rng(seed)).random(size)
    unit.setflags(write=False)
    return unit


def _spread(unit: FloatArray, interval: Interval) -> FloatArray:
    low, high = interval.low, interval.high
    if interval.integer:
        low, high = np.ceil(low), np.floor(high)
    if interval.integer and interval.scale == "linear":
        spread = np.floor(low + unit * (high - low + 1.0))
    elif interval.scale == "log":
        spread = low * np.exp(unit * (np.log(high) - np.log(low)))
    else:
        spread = low + unit * (high - low)
    values: FloatArray = np.clip(np.rint(spread) if interval.integer else spread, low, high)
    return values
