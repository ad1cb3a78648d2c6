"""Operators on binary numbers of some fifty decimal digits, each result correctly rounded by MPFR.

A number has float64's range: what float64 would overflow is infinite here too, and what it would flush to
zero is zero here too, so that both evaluators speak of the same partial functions. A function that is
undefined at its arguments returns NaN or an infinity; variadic operators are given as functions of two.

Source: MPFR, through gmpy2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import gmpy2

Real: TypeAlias = gmpy2.mpfr
"""A binary number; its own precision is what it was made with."""

DIGITS = 50
"""Decimal digits to which trees are compared."""
PRECISION = 400
"""Working precision in bits: 50 decimal digits, and 70 that may be lost.

The cube root of what two equal terms leave is not 1e-19 then but 1e-40.
"""

_FLOAT = gmpy2.context(precision=PRECISION, emin=-1073, emax=1024)
"""Values of trees: float64's range, as MPFR writes exponents."""
_WIDE = gmpy2.context(precision=PRECISION)
"""Constants and differences, which may leave that range."""

ZERO: Real = gmpy2.mpfr(0)
ONE: Real = gmpy2.mpfr(1)
_ROUNDING: Real = gmpy2.mpfr("1e-100")
_NAN: Real = gmpy2.mpfr("nan")


def from_float(value: float) -> Real:
    """Return the decimal that ``repr(value)`` shows, not its binary neighbour: 0.1 is one tenth."""
    return gmpy2.mpfr(repr(value), PRECISION)


def from_binary(value: float) -> Real:
    """Return exactly the binary number that a float64 coordinate is."""
    return _WIDE.plus(value)  # 15 times as fast as gmpy2.mpfr(value)


def to_float(value: Real) -> float:
    """Return the nearest float64."""
    return float(value)


def is_whole(value: Real) -> bool:
    """Whether a number is a whole one."""
    return bool(value == _WIDE.rint(value))


def first_undefined(values: Iterable[Real]) -> int | None:
    """Return the number of the first value that is NaN or infinite, if there is one."""
    if all(map(gmpy2.is_finite, values)):
        return None
    return next(i for i, value in enumerate(values) if not gmpy2.is_finite(value))


wide_add = _WIDE.add
wide_sub = _WIDE.sub
wide_mul = _WIDE.mul
wide_div = _WIDE.div

add = _FLOAT.add
sub = _FLOAT.sub
mul = _FLOAT.mul
div = _FLOAT.div
neg = _FLOAT.minus
sqrt = _FLOAT.sqrt
cbrt = _FLOAT.cbrt
exp = _FLOAT.exp
log = _FLOAT.log
log10 = _FLOAT.log10
log2 = _FLOAT.log2
sin = _FLOAT.sin
cos = _FLOAT.cos
tan = _FLOAT.tan
asin = _FLOAT.asin
acos = _FLOAT.acos
atan = _FLOAT.atan
sinh = _FLOAT.sinh
cosh = _FLOAT.cosh
tanh = _FLOAT.tanh
min_ = _FLOAT.minnum
max_ = _FLOAT.maxnum
abs_ = _FLOAT.abs
round_ = _FLOAT.rint  # ties to even, as the context rounds


def power(base: Real, exponent: Real) -> Real:
    """Return base to the exponent; 0 to a power ≤ 0 is undefined, also 0 to the 0."""
    return _FLOAT.pow(base, exponent) if base or exponent > 0 else _NAN


def atan2(y: Real, x: Real) -> Real:
    """Return the angle of the point (x, y) in (−π, π]; 0 at the origin, and no zero has a sign."""
    return _FLOAT.atan2(y or ZERO, x or ZERO)


def floor_(x: Real) -> Real:
    """Return the largest whole number ≤ x; what lies within rounding of a whole number is that number."""
    near = round_(x)
    return near if abs_(sub(x, near)) < _ROUNDING else _FLOAT.rint_floor(x)


def ceil_(x: Real) -> Real:
    """Return the smallest whole number ≥ x; what lies within rounding of a whole number is that number."""
    near = round_(x)
    return near if abs_(sub(x, near)) < _ROUNDING else _FLOAT.rint_ceil(x)


def mod(x: Real, y: Real) -> Real:
    """Return x − y·⌊x / y⌋, which has the sign of y or is 0; undefined for y = 0."""
    rest = _FLOAT.fmod(x, y)
    if not gmpy2.is_finite(rest):
        return rest
    if rest and (rest < 0) != (y < 0):
        rest = add(rest, y)
    least, size = mul(abs_(x), _ROUNDING), abs_(y)
    return rest if least > size or least <= abs_(rest) <= sub(size, least) else ZERO


def sign_(x: Real) -> Real:
    """Return −1, 0 or 1."""
    return ZERO if not x else neg(ONE) if x < 0 else ONE


def step_(x: Real) -> Real:
    """Return 1 for x > 0, else 0."""
    return ONE if x > 0 else ZERO
