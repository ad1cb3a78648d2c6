"""Operators on binary numbers of some fifty decimal digits.

A number is mpmath's raw form (sign, mantissa, exponent, bit count); working on it directly costs a third
of the time of mpmath's own number class. Each function takes raw numbers, returns a raw number rounded
to ``PRECISION`` bits, and returns None where the operator is undefined.

What float64 would overflow is undefined here too, and what it would flush to zero is zero here too, so
that both evaluators speak of the same partial functions.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from mpmath import libmp

Raw: TypeAlias = tuple[int, int, int, int]
"""(sign, mantissa, exponent, bits of the mantissa); zero has mantissa 0."""

DIGITS = 50
"""Decimal digits to which trees are compared."""
PRECISION = 186
"""Working precision in bits: 50 decimal digits and five more against rounding."""

_NEAREST = "n"
_MAX_EXPONENT = 1024
_MIN_EXPONENT = -1074
ZERO: Raw = libmp.fzero
ONE: Raw = libmp.fone


def from_float(value: float) -> Raw:
    """Return the decimal that ``repr(value)`` shows, not its binary neighbour: 0.1 is one tenth."""
    if value == int(value) and abs(value) < 2**53:
        return _raw(libmp.from_int(int(value)))
    return _raw(libmp.from_str(repr(value), PRECISION, _NEAREST))


def from_binary(value: float) -> Raw:
    """Return exactly the binary number that a float64 coordinate is."""
    return _raw(libmp.from_float(value))


def to_float(value: Raw) -> float:
    """Return the nearest float64."""
    return float(libmp.to_float(value))


def settle(value: Raw | None) -> Raw | None:
    """Apply float64's range: None when the value overflows, zero when it underflows."""
    if value is None or not value[1]:
        return value if value is None or value == ZERO else None
    magnitude = value[2] + value[3]
    if magnitude > _MAX_EXPONENT:
        return None
    return value if magnitude >= _MIN_EXPONENT else ZERO


def _raw(value: Any) -> Raw:
    """Name the type of what mpmath, which is untyped, returned."""
    return value  # type: ignore[no-any-return]


def add(*args: Raw) -> Raw:
    """Return the sum."""
    total = args[0]
    for term in args[1:]:
        total = libmp.mpf_add(total, term, PRECISION, _NEAREST)
    return total


def sub(x: Raw, y: Raw) -> Raw:
    """Return x − y."""
    return _raw(libmp.mpf_sub(x, y, PRECISION, _NEAREST))


def mul(*args: Raw) -> Raw:
    """Return the product."""
    total = args[0]
    for factor in args[1:]:
        total = libmp.mpf_mul(total, factor, PRECISION, _NEAREST)
    return total


def div(x: Raw, y: Raw) -> Raw | None:
    """Return x / y; undefined for y = 0."""
    return _raw(libmp.mpf_div(x, y, PRECISION, _NEAREST)) if y[1] else None


def neg(x: Raw) -> Raw:
    """Return −x."""
    return _raw(libmp.mpf_neg(x))


def _whole(x: Raw) -> bool:
    return x[2] >= 0 or not x[1]


def power(base: Raw, exponent: Raw) -> Raw | None:
    """Return base to the exponent.

    Undefined for a negative base with an exponent that is not whole, and for 0 to a power ≤ 0.
    """
    if not base[1]:
        return ZERO if exponent[1] and not exponent[0] else None
    if not exponent[1]:
        return ONE
    if _whole(exponent):
        return _whole_power(base, exponent)
    if base[0]:
        return None
    return _by_logarithm(base, exponent)


def _whole_power(base: Raw, exponent: Raw) -> Raw | None:
    if exponent[2] + exponent[3] <= 10:
        return _raw(libmp.mpf_pow_int(base, libmp.to_int(exponent), PRECISION, _NEAREST))
    magnitude = _by_logarithm(libmp.mpf_abs(base), exponent)
    odd = exponent[2] == 0
    return neg(magnitude) if magnitude is not None and base[0] and odd else magnitude


def _by_logarithm(base: Raw, exponent: Raw) -> Raw | None:
    """Return exp(exponent · log base) with the bits that the product's size costs added."""
    guard = PRECISION + 16 + max(0, exponent[2] + exponent[3])
    logarithm = libmp.mpf_log(base, guard, _NEAREST)
    return exp(_raw(libmp.mpf_mul(logarithm, exponent, guard, _NEAREST)))


def exp(x: Raw) -> Raw | None:
    """Return e to the x; undefined where it overflows."""
    if x[1] and x[2] + x[3] > 11:
        return ZERO if x[0] else None
    return _raw(libmp.mpf_exp(x, PRECISION, _NEAREST))


def sqrt(x: Raw) -> Raw | None:
    """Return the square root; undefined for x < 0."""
    return None if x[0] else _raw(libmp.mpf_sqrt(x, PRECISION, _NEAREST))


def cbrt(x: Raw) -> Raw:
    """Return the real cube root of any real number."""
    if not x[1]:
        return ZERO
    root = _raw(libmp.mpf_cbrt(libmp.mpf_abs(x), PRECISION, _NEAREST))
    return neg(root) if x[0] else root


def log(x: Raw) -> Raw | None:
    """Return the natural logarithm; undefined for x ≤ 0."""
    return None if x[0] or not x[1] else _raw(libmp.mpf_log(x, PRECISION, _NEAREST))


def log10(x: Raw) -> Raw | None:
    """Return the decimal logarithm; undefined for x ≤ 0."""
    return _scaled_log(x, libmp.mpf_ln10(PRECISION + 16, _NEAREST))


def log2(x: Raw) -> Raw | None:
    """Return the binary logarithm; undefined for x ≤ 0."""
    return _scaled_log(x, libmp.mpf_ln2(PRECISION + 16, _NEAREST))


def _scaled_log(x: Raw, unit: Raw) -> Raw | None:
    if x[0] or not x[1]:
        return None
    return _raw(libmp.mpf_div(libmp.mpf_log(x, PRECISION + 16, _NEAREST), unit, PRECISION, _NEAREST))


def sin(x: Raw) -> Raw:
    """Return the sine of an angle in radians."""
    return _raw(libmp.mpf_sin(x, PRECISION, _NEAREST))


def cos(x: Raw) -> Raw:
    """Return the cosine of an angle in radians."""
    return _raw(libmp.mpf_cos(x, PRECISION, _NEAREST))


def tan(x: Raw) -> Raw:
    """Return the tangent of an angle in radians."""
    return _raw(libmp.mpf_tan(x, PRECISION, _NEAREST))


def _beyond_one(x: Raw) -> bool:
    return bool(libmp.mpf_gt(libmp.mpf_abs(x), ONE))


def asin(x: Raw) -> Raw | None:
    """Return the angle in [−π/2, π/2] whose sine is x; undefined for |x| > 1."""
    return None if _beyond_one(x) else _raw(libmp.mpf_asin(x, PRECISION, _NEAREST))


def acos(x: Raw) -> Raw | None:
    """Return the angle in [0, π] whose cosine is x; undefined for |x| > 1."""
    return None if _beyond_one(x) else _raw(libmp.mpf_acos(x, PRECISION, _NEAREST))


def atan(x: Raw) -> Raw:
    """Return the angle in (−π/2, π/2) whose tangent is x."""
    return _raw(libmp.mpf_atan(x, PRECISION, _NEAREST))


def atan2(y: Raw, x: Raw) -> Raw:
    """Return the angle of the point (x, y) in (−π, π]; 0 at the origin."""
    if not x[1] and not y[1]:
        return ZERO
    return _raw(libmp.mpf_atan2(y, x, PRECISION, _NEAREST))


def sinh(x: Raw) -> Raw | None:
    """Return the hyperbolic sine; undefined where it overflows."""
    return None if x[2] + x[3] > 11 else _raw(libmp.mpf_sinh(x, PRECISION, _NEAREST))


def cosh(x: Raw) -> Raw | None:
    """Return the hyperbolic cosine; undefined where it overflows."""
    return None if x[2] + x[3] > 11 else _raw(libmp.mpf_cosh(x, PRECISION, _NEAREST))


def tanh(x: Raw) -> Raw:
    """Return the hyperbolic tangent."""
    return _raw(libmp.mpf_tanh(x, PRECISION, _NEAREST))


def mod(x: Raw, y: Raw) -> Raw | None:
    """Return x − y·⌊x / y⌋, which has the sign of y; undefined for y = 0."""
    return _raw(libmp.mpf_mod(x, y, PRECISION, _NEAREST)) if y[1] else None


def min_(*args: Raw) -> Raw:
    """Return the smallest argument."""
    least = args[0]
    for other in args[1:]:
        least = other if libmp.mpf_lt(other, least) else least
    return least


def max_(*args: Raw) -> Raw:
    """Return the largest argument."""
    most = args[0]
    for other in args[1:]:
        most = other if libmp.mpf_gt(other, most) else most
    return most


def abs_(x: Raw) -> Raw:
    """Return the absolute value."""
    return _raw(libmp.mpf_abs(x))


def floor_(x: Raw) -> Raw:
    """Return the largest whole number ≤ x."""
    return _raw(libmp.mpf_floor(x))


def ceil_(x: Raw) -> Raw:
    """Return the smallest whole number ≥ x."""
    return _raw(libmp.mpf_ceil(x))


def round_(x: Raw) -> Raw:
    """Return the nearest whole number, ties to even."""
    return _raw(libmp.mpf_nint(x))


def sign_(x: Raw) -> Raw:
    """Return −1, 0 or 1."""
    if not x[1]:
        return ZERO
    return neg(ONE) if x[0] else ONE


def step_(x: Raw) -> Raw:
    """Return 1 for x > 0, else 0."""
    return ONE if x[1] and not x[0] else ZERO
