"""The oracle: exact responses rounded to what the instrument can show."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np

from environments.law.definition import FloatArray, LawDefinition, Measured, Variant


def quantise(value: float, observable: Measured) -> float:
    """Round to the declared resolution or number of significant digits, ties to even.

    The rounding is done on the shortest decimal that names the float, and the result is the float
    nearest to the rounded decimal: no floating residue is left. Exact when nothing is declared.

    Source: arXiv 2610.37919, appendix A.1, equation 3.
    """
    if observable.resolution is not None:
        return _to_multiple(value, observable.resolution)
    if observable.significant_digits is not None:
        return _to_digits(value, observable.significant_digits)
    return value + 0.0


def quantise_all(values: FloatArray, observable: Measured) -> FloatArray:
    """Quantise an array of responses."""
    return np.array([quantise(float(value), observable) for value in values], dtype=np.float64)


def observe(
    definition: LawDefinition,
    points: Mapping[str, FloatArray],
    variant: Variant | None = None,
    rng: np.random.Generator | None = None,
) -> dict[str, FloatArray]:
    """Return what the instrument shows of every observable at the given points.

    Args:
        rng: the source of the noise that the definition declares; without it readings have none.

    Raises:
        ExpressionError: when a relation is undefined at one of them.
    """
    exact = definition.respond(points, variant)
    if rng is not None and definition.noise > 0:
        for item in definition.observables:
            spread = definition.noise * definition.scale_of_error(item, exact[item.name])
            exact[item.name] = exact[item.name] + spread * rng.standard_normal(len(spread))
    return {item.name: quantise_all(exact[item.name], item) for item in definition.observables}


def step_of(observable: Measured, values: FloatArray) -> FloatArray | None:
    """Return the distance between neighbouring readings at each value; None when readings are exact."""
    if observable.resolution is not None:
        return np.full_like(values, observable.resolution)
    if observable.significant_digits is not None:
        size = np.maximum(np.abs(values), np.finfo(np.float64).tiny)
        step: FloatArray = 10.0 ** (np.floor(np.log10(size)) - observable.significant_digits + 1)
        return step
    return None


def _to_multiple(value: float, resolution: float) -> float:
    number, step = Decimal(repr(float(value))), Decimal(repr(float(resolution)))
    if number == 0:
        return 0.0
    context = Context(prec=max(40, number.adjusted() - step.adjusted() + 30))
    count = context.divide(number, step)
    whole = count.to_integral_value(rounding=ROUND_HALF_EVEN, context=context)
    return float(context.multiply(whole, step)) + 0.0


def _to_digits(value: float, digits: int) -> float:
    number = Decimal(repr(float(value)))
    if number == 0:
        return 0.0
    return float(Context(prec=digits, rounding=ROUND_HALF_EVEN).plus(number))
