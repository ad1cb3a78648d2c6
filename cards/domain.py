"""The box that a relation lives on: names, intervals, scales, integer flags, constraints.

Low-discrepancy points in it are made here and nowhere else, so that acceptance, equality and the
worlds speak of the same domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cards.expression import Tree


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
