"""Dimensional analysis of expression trees, with scale: kilometres against metres do not pass.

The door to units: ``parse_unit`` reads a string, ``infer`` walks a tree by the dimension rules of
the operator table. A tree runs on numbers as declared, so that nothing is converted behind the
scenes: sums, comparisons and the declared unit must agree in dimension and in scale.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from cards.dimensions import DIMENSIONLESS, Unit
from cards.errors import UnitError
from cards.expression import Apply, Number, Tree, Variable
from cards.operators import OPERATORS, Dimension
from cards.unit_text import parse_unit

__all__ = ["Unit", "infer", "matches", "parse_unit"]

MAX_POWER = 64
"""Largest exponent of a dimensional base."""
MAX_DENOMINATOR = 10_000
"""Largest denominator of a dimensional base's exponent: decimals of four places, and all plain fractions."""


def infer(tree: Tree, units: Mapping[str, Unit], constants: Mapping[str, float] | None = None) -> Unit:
    """Return the unit of an expression; numbers are dimensionless.

    Args:
        units: the unit of every variable.
        constants: values of the dimensionless parameters that may stand in an exponent.

    Raises:
        UnitError: with the path of the node, what was expected and what was found; its ``check`` is
            ``unit_dimension`` or ``unit_scale``.
    """
    return _Walker(units, constants or {}).visit(tree, "")


def matches(found: Unit, expected: Unit, what: str, path: str = "") -> None:
    """Demand that ``found`` is ``expected`` in dimension and in scale.

    Raises:
        UnitError: that names both; ``check`` says which of the two failed.
    """
    if not found.same_dimension(expected):
        raise UnitError(
            f"{what} has the unit {found}, expected {expected}.",
            "Correct the relation or the declared unit.",
            path=path,
            check="unit_dimension",
        )
    if not found.same_scale(expected):
        ratio = found.scale / expected.scale
        raise UnitError(
            f"{what} has the unit {found}, expected {expected}: the same dimension, "
            f"but off by a factor of {ratio:.6g}.",
            "Use one unit throughout, or carry the factor as a told parameter with its unit.",
            path=path,
            check="unit_scale",
        )


@dataclass(frozen=True)
class _Walker:
    units: Mapping[str, Unit]
    constants: Mapping[str, float]

    def visit(self, tree: Tree, path: str) -> Unit:
        if isinstance(tree, Number):
            return DIMENSIONLESS
        if isinstance(tree, Variable):
            if tree.name not in self.units:
                raise UnitError(
                    f"the name {tree.name!r} has no unit.", "Declare it.", path=path, check="unit_dimension"
                )
            return self.units[tree.name]
        rule = _RULES[OPERATORS[tree.op].dimension]
        try:
            return rule(self, tree, path)
        except OverflowError:
            raise UnitError(
                f"the scale of {tree.op} is out of range.", path=path, check="unit_scale"
            ) from None

    def arguments(self, tree: Apply, path: str) -> list[Unit]:
        return [self.visit(argument, _below(path, index)) for index, argument in enumerate(tree.args)]

    def equal(self, tree: Apply, path: str) -> Unit:
        """Demand that all arguments share dimension and scale; return that unit."""
        first, *others = self.arguments(tree, path)
        for index, other in enumerate(others, start=1):
            what = f"argument {index + 1} of {tree.op}"
            matches(other, first, f"{what} (it must agree with argument 1)", _below(path, index))
        return first

    def angle(self, tree: Apply, path: str) -> Unit:
        self.equal(tree, path)
        return DIMENSIONLESS

    def plain(self, tree: Apply, path: str) -> Unit:
        """Demand that every argument is a pure number (an angle in radians is one)."""
        for index, unit in enumerate(self.arguments(tree, path)):
            expected = "a pure number (angles in rad)"
            if not unit.dimensionless or not unit.same_scale(DIMENSIONLESS):
                raise UnitError(
                    f"the argument of {tree.op} has the unit {unit}, expected {expected}.",
                    "Divide by a reference quantity of the same unit.",
                    path=_below(path, index),
                    check="unit_scale" if unit.dimensionless else "unit_dimension",
                )
        return DIMENSIONLESS

    def product(self, tree: Apply, path: str) -> Unit:
        first, *others = self.arguments(tree, path)
        for other in others:
            first = first * other
        return first

    def quotient(self, tree: Apply, path: str) -> Unit:
        left, right = self.arguments(tree, path)
        return left / right

    def same(self, tree: Apply, path: str) -> Unit:
        return self.arguments(tree, path)[0]

    def anything(self, tree: Apply, path: str) -> Unit:
        self.arguments(tree, path)
        return DIMENSIONLESS

    def root(self, degree: int) -> Callable[[Apply, str], Unit]:
        return lambda tree, path: self.arguments(tree, path)[0] ** Fraction(1, degree)

    def power(self, tree: Apply, path: str) -> Unit:
        base, exponent = self.arguments(tree, path)
        matches(exponent, DIMENSIONLESS, "the exponent", _below(path, 1))
        if base.dimensionless and base.same_scale(DIMENSIONLESS):
            return DIMENSIONLESS
        constant = _rational(tree.args[1], self.constants)
        if constant is None:
            raise UnitError(
                f"a base with the unit {base} needs a constant rational exponent.",
                "Write a number, mark the parameter in it as constant, or divide the base by a reference.",
                path=_below(path, 1),
                check="unit_dimension",
            )
        if abs(constant) > MAX_POWER:
            raise UnitError(
                f"the exponent {float(constant):g} of {base} is beyond {MAX_POWER}.",
                path=_below(path, 1),
                check="unit_dimension",
            )
        return base**constant


_RULES: Mapping[Dimension, Callable[[_Walker, Apply, str], Unit]] = {
    "sum": _Walker.equal,
    "mod": _Walker.equal,
    "product": _Walker.product,
    "quotient": _Walker.quotient,
    "power": _Walker.power,
    "dimensionless": _Walker.plain,
    "same": _Walker.same,
    "sqrt": lambda walker, tree, path: walker.root(2)(tree, path),
    "cbrt": lambda walker, tree, path: walker.root(3)(tree, path),
    "atan2": _Walker.angle,
    "sign": _Walker.anything,
}
"""What each dimension rule of the operator table means."""

_EXACT: Mapping[str, Callable[..., Fraction]] = {
    "add": lambda *values: sum(values, Fraction(0)),
    "sub": operator.sub,
    "mul": lambda *values: math.prod(values, start=Fraction(1)),
    "div": operator.truediv,
    "neg": operator.neg,
}


def _rational(tree: Tree, constants: Mapping[str, float]) -> Fraction | None:
    """Return the value of a constant expression as an exact fraction, None when it is not constant."""
    if isinstance(tree, Number):
        return _fraction(tree.value)
    if isinstance(tree, Variable):
        return _fraction(constants[tree.name]) if tree.name in constants else None
    if tree.op not in _EXACT:
        return None
    values = [_rational(argument, constants) for argument in tree.args]
    if any(value is None for value in values):
        return None
    try:
        return _EXACT[tree.op](*values)
    except ZeroDivisionError:
        return None


def _fraction(value: float) -> Fraction | None:
    """Return the plain fraction that a float stands for: 0.5 → 1/2, 0.333…3 → 1/3, 1.85 → 37/20."""
    exact = Fraction(value)
    for largest in (64, MAX_DENOMINATOR):
        near = exact.limit_denominator(largest)
        if abs(near - exact) <= abs(exact) * Fraction(1, 10**14):
            return near
    return None


def _below(path: str, index: int) -> str:
    return f"{path}.args[{index}]" if path else f"args[{index}]"
