"""The unit as a value: a scale and a vector of exact exponents over the base dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

BASES: tuple[tuple[str, str], ...] = (
    ("mass", "kg"),
    ("length", "m"),
    ("time", "s"),
    ("current", "A"),
    ("temperature", "K"),
    ("amount", "mol"),
    ("luminosity", "cd"),
    ("magnitude", "mag"),
    ("dex", "dex"),
)
"""Dimension and base unit of each place in an exponent vector; mag and dex stand for themselves."""

SCALE_TOLERANCE = 1e-12
"""Relative difference above which two scales differ; float products of exact factors stay below it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: ``scale`` base units with the given exponents (same order as ``BASES``).

    ``label`` is what the author wrote; it serves messages only and takes no part in comparison.
    """

    scale: float
    exponents: tuple[Fraction, ...]
    label: str = field(default="", compare=False)

    @property
    def dimensionless(self) -> bool:
        """Whether all exponents are zero (a percent is dimensionless, of scale 0.01)."""
        return not any(self.exponents)

    def same_dimension(self, other: Unit) -> bool:
        """Return whether both have the same exponents."""
        return self.exponents == other.exponents

    def same_scale(self, other: Unit) -> bool:
        """Return whether both scales agree to a relative 1e-12."""
        return math.isclose(self.scale, other.scale, rel_tol=SCALE_TOLERANCE)

    def __mul__(self, other: Unit) -> Unit:
        exponents = tuple(a + b if b else a for a, b in zip(self.exponents, other.exponents, strict=True))
        return Unit(self.scale * other.scale, exponents)

    def __truediv__(self, other: Unit) -> Unit:
        exponents = tuple(a - b if b else a for a, b in zip(self.exponents, other.exponents, strict=True))
        return Unit(self.scale / other.scale, exponents)

    def __pow__(self, power: Fraction) -> Unit:
        """Return the unit to a rational power.

        Raises:
            OverflowError: when the scale leaves the range of a float.
        """
        whole = power.denominator == 1
        scale = self.scale ** (power.numerator if whole else float(power))
        return Unit(scale, tuple(exponent * power if exponent else exponent for exponent in self.exponents))

    def labelled(self, label: str) -> Unit:
        """Return the same unit with what the author wrote."""
        return Unit(self.scale, self.exponents, label)

    def __str__(self) -> str:
        """Return the unit for a message, as written and in base units: ``km (1000 m)``."""
        plain = _in_base_units(self)
        return f"{self.label} ({plain})" if self.label and self.label != plain else plain


DIMENSIONLESS = Unit(1.0, (Fraction(0),) * len(BASES))


def _in_base_units(unit: Unit) -> str:
    factors = [
        base if exponent == 1 else f"{base}^{_power(exponent)}"
        for (_, base), exponent in zip(BASES, unit.exponents, strict=True)
        if exponent
    ]
    if not factors:
        return "dimensionless" if unit.same_scale(DIMENSIONLESS) else f"{unit.scale:.6g}, dimensionless"
    if unit.same_scale(DIMENSIONLESS):
        return " ".join(factors)
    return " ".join((f"{unit.scale:.6g}", *factors))


def _power(exponent: Fraction) -> str:
    return str(exponent) if exponent.denominator == 1 else f"({exponent})"
