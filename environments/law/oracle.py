"""The oracle: exact responses rounded to what the instrument can show."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np
from numpy.typing import NDArray

from cards.operators import BoolArray
from environments.law.definition import FloatArray, LawDefinition, Measured, Variant

IntArray = NDArray[np.int64]

_TENS = np.array([float(10**k) for k in range(23)])
"""The powers of ten that float64 holds exactly."""
_MOST_COUNT = 2.0**30  # up to here a quotient is known to 2^-22 …
_TIE = 1e-6  # … which is less than this


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
    """Quantise an array of responses, in float64 wherever that gives the same bits as decimals do."""
    with np.errstate(all="ignore"):  # at the ends of float64's range decimals have the last word
        if observable.resolution is not None:
            read, sure = _multiples(values, observable.resolution)
        elif observable.significant_digits is not None:
            read, sure = _rounded(values, observable.significant_digits)
        else:
            return values + 0.0
    for index in np.flatnonzero(~sure):
        read[index] = quantise(float(values[index]), observable)
    return read


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


def _multiples(values: FloatArray, resolution: float) -> tuple[FloatArray, BoolArray]:
    _, digits, exponent = Decimal(repr(float(resolution))).normalize().as_tuple()
    unit = float("".join(map(str, digits)))
    return _scaled(values / resolution, unit, np.full(values.shape, int(exponent)))


def _rounded(values: FloatArray, digits: int) -> tuple[FloatArray, BoolArray]:
    size = np.where(values == 0, 1.0, np.abs(values))
    exponent = np.floor(np.log10(size)).astype(np.int64) - digits + 1
    return _scaled(values / 10.0**exponent, 1.0, exponent)


def _scaled(counts: FloatArray, unit: float, exponent: IntArray) -> tuple[FloatArray, BoolArray]:
    """Return each count rounded, times unit · 10^exponent, and a mask of where float64 is exact.

    There a count is far from a tie, and both operands of the one last operation are whole numbers that
    float64 holds, so that its result is the float nearest to the decimal.
    """
    whole = np.rint(counts)
    product = whole * unit
    far_from_tie = np.abs(np.abs(counts - whole) - 0.5) > _TIE
    within = (np.abs(counts) < _MOST_COUNT) & (np.abs(product) < 2.0**53) & (np.abs(exponent) < len(_TENS))
    power = _TENS[np.minimum(np.abs(exponent), len(_TENS) - 1)]
    return np.where(exponent < 0, product / power, product * power) + 0.0, far_from_tie & within


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
