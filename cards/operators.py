"""The one table of operators: arity, meaning, where defined, dimensions, and how each is written.

Everything that needs to know an operator (reader, evaluators, unit walker, printers, equality) reads
``OPERATORS``. Numbers are real, angles are radians, ``round`` is half-to-even, ``cbrt`` is the real
root, ``mod`` takes the sign of the divisor, ``step(x)`` is 1 for x > 0 and 0 otherwise.

Source: arXiv 2610.37919, appendix A.2 (arities and limits; the list of operators is ours).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cards import precise
from cards.expression import Apply, Number, Tree

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

Dimension = Literal[
    "sum",  # arguments of equal dimensions; the result has the same
    "product",
    "quotient",
    "power",  # a dimensional base needs a constant rational exponent
    "sqrt",
    "cbrt",
    "dimensionless",  # arguments and result are pure numbers
    "same",  # the argument's dimensions are kept
    "atan2",  # arguments of equal dimensions; the result is a pure number
    "mod",  # arguments of equal dimensions; the result has the same
    "sign",  # any argument; the result is a pure number
]

Notation = Literal["sum", "product", "difference", "quotient", "power", "negation", "function"]
"""How the infix form writes the operator."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator, all that any part needs to know of it.

    Attributes:
        max_args: None for a variadic operator.
        numpy: float64 arrays in, one array out; nonsense where ``defined`` is False.
        defined: mask of the points at which the arguments lie in the operator's real domain. A result
            that is not finite (overflow) is undefined as well; that is the evaluator's check.
        high_precision: the same function on raw binary numbers of ``cards.precise``; None where
            undefined, by the same rule as ``defined``.
        partials: derivatives by each argument (float64 arrays), given arguments and value; a switching
            operator has the derivative of the piece it is in.
        switching: argument trees in, trees out whose change of sign, or for ``whole`` of integer part,
            changes the piece; None for an operator without switching surfaces.
        whole: the surfaces of ``switching`` lie at every integer, not at zero alone.
        singular: argument trees in, trees out at whose zeros the operator is undefined, begins to be
            undefined, or is not smooth; None for an operator that is smooth everywhere.
        poles: argument trees in, trees out at whose zeros the operator is undefined although it may be
            defined all around; None for an operator without poles.
    """

    name: str
    min_args: int
    max_args: int | None
    numpy: Callable[..., Any]
    defined: Callable[..., Any]
    dimension: Dimension
    sympy: str
    notation: Notation
    latex: str
    high_precision: Callable[..., precise.Real]
    partials: Callable[..., Sequence[Any]]
    switching: Callable[..., list[Tree]] | None = None
    whole: bool = False
    singular: Callable[..., list[Tree]] | None = None
    poles: Callable[..., list[Tree]] | None = None

    def takes(self, count: int) -> bool:
        """Return whether the operator accepts this many arguments."""
        return count >= self.min_args and (self.max_args is None or count <= self.max_args)

    def arity(self) -> str:
        """Return the arity in words, for messages."""
        if self.max_args is None:
            return f"at least {self.min_args} arguments"
        return f"{self.min_args} argument{'s' if self.min_args > 1 else ''}"


def everywhere(*args: Any) -> Any:
    """Return a mask that is True: the operator is defined for all real arguments."""
    return np.True_


def _power_defined(base: Any, exponent: Any) -> Any:
    whole = np.floor(exponent) == exponent
    return (base > 0) | ((base < 0) & whole) | ((base == 0) & (exponent > 0))


def _step(x: Any) -> Any:
    return np.where(x > 0, 1.0, 0.0)


def _product_partials(args: Sequence[Any], value: Any) -> list[Any]:
    """Multiply, for each factor, all before it by all after it: linear in the number of factors."""
    one = np.ones_like(value)
    before = list(accumulate(args[:-1], np.multiply, initial=one))
    after = list(accumulate(reversed(args[1:]), np.multiply, initial=one))
    return [left * right for left, right in zip(before, reversed(after), strict=True)]


def _power_partials(args: Sequence[Any], value: Any) -> list[Any]:
    base, exponent = args
    by_base = exponent * np.power(base, exponent - 1.0)
    positive = base > 0
    by_exponent = np.where(positive, value * np.log(np.where(positive, base, 1.0)), 0.0)
    return [np.where(exponent == 0, 0.0, by_base), by_exponent]


def _chosen(args: Sequence[Any], value: Any) -> list[Any]:
    """Derivatives of min and max: 1 for the first argument that attains the value, else 0."""
    free = np.ones_like(value, dtype=bool)
    partials = []
    for argument in args:
        hit = free & (argument == value)
        partials.append(np.where(hit, 1.0, 0.0))
        free = free & ~hit
    return partials


def _tournament(op: str) -> Callable[..., list[Tree]]:
    """Compare halves, and halves of halves: the signs tell which argument of min or max is attained."""

    def compare(*args: Tree) -> list[Tree]:
        if len(args) == 1:
            return []
        half = len(args) // 2
        left, right = args[:half], args[half:]
        best = [side[0] if len(side) == 1 else Apply(op, side) for side in (left, right)]
        return [Apply("sub", (best[0], best[1])), *compare(*left), *compare(*right)]

    return compare


def _unary(derivative: Callable[[Any, Any], Any]) -> Callable[[Sequence[Any], Any], list[Any]]:
    return lambda args, value: [derivative(args[0], value)]


def _flat(args: Sequence[Any], value: Any) -> list[Any]:
    return [np.zeros_like(value) for _ in args]


def _itself(*args: Tree) -> list[Tree]:
    return list(args)


def _unit_interval(x: Tree) -> list[Tree]:
    return [Apply("sub", (Number(1.0), x)), Apply("add", (Number(1.0), x))]


def _power_poles(base: Tree, exponent: Tree) -> list[Tree]:
    return [base] if isinstance(exponent, Number) and exponent.value <= 0 else []


def _power_singular(base: Tree, exponent: Tree) -> list[Tree]:
    whole = isinstance(exponent, Number) and exponent.value.is_integer()
    return [] if whole else [base]


def _function(
    name: str,
    numpy: Callable[..., Any],
    derivative: Callable[[Any, Any], Any],
    *,
    sympy: str | None = None,
    latex: str | None = None,
    defined: Callable[..., Any] = everywhere,
    dimension: Dimension = "dimensionless",
    singular: Callable[..., list[Tree]] | None = None,
    poles: Callable[..., list[Tree]] | None = None,
) -> Operator:
    """Make the row of a smooth function of one argument."""
    return Operator(
        name=name,
        min_args=1,
        max_args=1,
        numpy=numpy,
        defined=defined,
        dimension=dimension,
        sympy=sympy or name,
        notation="function",
        latex=latex or rf"\{name}\left({{0}}\right)",
        high_precision=getattr(precise, name),
        partials=_unary(derivative),
        singular=singular,
        poles=poles,
    )


def _logarithm(name: str, numpy: Callable[..., Any], unit: float, latex: str) -> Operator:
    return _function(
        name,
        numpy,
        lambda x, v: 1.0 / (x * unit),
        sympy="log",
        latex=latex,
        defined=lambda x: x > 0,
        singular=_itself,
        poles=_itself,
    )


def _switch(
    name: str,
    numpy: Callable[..., Any],
    surfaces: Callable[..., list[Tree]],
    *,
    dimension: Dimension,
    latex: str,
    derivative: Callable[[Any, Any], Any] | None = None,
    whole: bool = False,
    sympy: str | None = None,
) -> Operator:
    """Make the row of a function of one argument that has switching surfaces."""
    return Operator(
        name=name,
        min_args=1,
        max_args=1,
        numpy=numpy,
        defined=everywhere,
        dimension=dimension,
        sympy=sympy or name,
        notation="function",
        latex=latex,
        high_precision=getattr(precise, f"{name}_"),
        partials=_unary(derivative) if derivative else _flat,
        switching=surfaces,
        whole=whole,
    )


def _extremum(name: str, numpy: Callable[..., Any], sympy: str) -> Operator:
    return Operator(
        name=name,
        min_args=2,
        max_args=None,
        numpy=lambda *args: reduce(numpy, args),
        defined=everywhere,
        dimension="sum",
        sympy=sympy,
        notation="function",
        latex=rf"\{name}\left({{0}}\right)",
        high_precision=getattr(precise, f"{name}_"),
        partials=_chosen,
        switching=_tournament(name),
    )


_ARITHMETIC = [
    Operator(
        "add", 2, None, lambda *args: reduce(np.add, args), everywhere, "sum", "Add", "sum", "",
        precise.add, lambda args, value: [np.ones_like(value) for _ in args],
    ),
    Operator(
        "sub", 2, 2, np.subtract, everywhere, "sum", "Add", "difference", "",
        precise.sub, lambda args, value: [np.ones_like(value), -np.ones_like(value)],
    ),
    Operator(
        "mul", 2, None, lambda *args: reduce(np.multiply, args), everywhere, "product", "Mul", "product", "",
        precise.mul, _product_partials,
    ),
    Operator(
        "div", 2, 2, np.divide, lambda x, y: y != 0, "quotient", "Mul", "quotient", r"\frac{{{0}}}{{{1}}}",
        precise.div, lambda args, value: [1.0 / args[1], -value / args[1]],
        singular=lambda x, y: [y], poles=lambda x, y: [y],
    ),
    Operator(
        "pow", 2, 2, np.power, _power_defined, "power", "Pow", "power", "", precise.power, _power_partials,
        singular=_power_singular, poles=_power_poles,
    ),
    Operator(
        "neg", 1, 1, np.negative, everywhere, "same", "Mul", "negation", "",
        precise.neg, lambda args, value: [-np.ones_like(value)],
    ),
    Operator(
        "atan2", 2, 2, np.arctan2, everywhere, "atan2", "atan2", "function",
        r"\operatorname{{atan2}}\left({0}\right)", precise.atan2,
        lambda args, value: [
            args[1] / (args[0] ** 2 + args[1] ** 2), -args[0] / (args[0] ** 2 + args[1] ** 2)
        ],
        switching=lambda y, x: [y],
    ),
    Operator(
        "mod", 2, 2, np.mod, lambda x, y: y != 0, "mod", "Mod", "function",
        r"\operatorname{{mod}}\left({0}\right)", precise.mod,
        lambda args, value: [np.ones_like(value), -np.floor(args[0] / args[1])],
        switching=lambda x, y: [Apply("div", (x, y))], whole=True, poles=lambda x, y: [y],
    ),
]  # fmt: skip

_SMOOTH = [
    _function(
        "sqrt", np.sqrt, lambda x, v: 0.5 / v, defined=lambda x: x >= 0, singular=_itself, dimension="sqrt",
        latex=r"\sqrt{{{0}}}",
    ),
    _function(
        "cbrt", np.cbrt, lambda x, v: 1.0 / (3.0 * v * v), dimension="cbrt", latex=r"\sqrt[3]{{{0}}}",
        sympy="real_root", singular=_itself,
    ),
    _function("exp", np.exp, lambda x, v: v),
    _logarithm("log", np.log, 1.0, r"\ln\left({0}\right)"),
    _logarithm("log10", np.log10, math.log(10.0), r"\log_{{10}}\left({0}\right)"),
    _logarithm("log2", np.log2, math.log(2.0), r"\log_{{2}}\left({0}\right)"),
    _function("sin", np.sin, lambda x, v: np.cos(x)),
    _function("cos", np.cos, lambda x, v: -np.sin(x)),
    _function(
        "tan", np.tan, lambda x, v: 1.0 + v * v,
        singular=lambda x: [Apply("cos", (x,))], poles=lambda x: [Apply("cos", (x,))],
    ),
    _function(
        "asin", np.arcsin, lambda x, v: 1.0 / np.sqrt(1.0 - x * x), defined=lambda x: np.abs(x) <= 1,
        singular=_unit_interval, latex=r"\arcsin\left({0}\right)",
    ),
    _function(
        "acos", np.arccos, lambda x, v: -1.0 / np.sqrt(1.0 - x * x), defined=lambda x: np.abs(x) <= 1,
        singular=_unit_interval, latex=r"\arccos\left({0}\right)",
    ),
    _function("atan", np.arctan, lambda x, v: 1.0 / (1.0 + x * x), latex=r"\arctan\left({0}\right)"),
    _function("sinh", np.sinh, lambda x, v: np.cosh(x)),
    _function("cosh", np.cosh, lambda x, v: np.sinh(x)),
    _function("tanh", np.tanh, lambda x, v: 1.0 - v * v),
]  # fmt: skip

_SWITCHING = [
    _extremum("min", np.minimum, "Min"),
    _extremum("max", np.maximum, "Max"),
    _switch(
        "abs", np.abs, _itself, dimension="same", derivative=lambda x, v: np.sign(x), sympy="Abs",
        latex=r"\left|{0}\right|",
    ),
    _switch(
        "floor", np.floor, _itself, dimension="dimensionless", whole=True,
        latex=r"\left\lfloor {0}\right\rfloor",
    ),
    _switch(
        "ceil", np.ceil, _itself, dimension="dimensionless", whole=True, sympy="ceiling",
        latex=r"\left\lceil {0}\right\rceil",
    ),
    _switch(
        "round", np.rint, lambda x: [Apply("add", (x, Number(0.5)))], dimension="dimensionless", whole=True,
        latex=r"\operatorname{{round}}\left({0}\right)",
    ),
    _switch(
        "sign", np.sign, _itself, dimension="sign", latex=r"\operatorname{{sgn}}\left({0}\right)"
    ),
    _switch(
        "step", _step, _itself, dimension="sign", sympy="Heaviside", latex=r"\theta\left({0}\right)"
    ),
]  # fmt: skip

OPERATORS: Mapping[str, Operator] = {row.name: row for row in _ARITHMETIC + _SMOOTH + _SWITCHING}
"""Every operator by name."""
