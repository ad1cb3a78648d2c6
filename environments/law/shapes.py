"""The functions that a mutation may apply to a dimensionless group, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cards.expression import Apply, Number, Tree

_ONE = Number(1.0)


@dataclass(frozen=True)
class Shape:
    """A function of one dimensionless number u >= 0, bounded by moderate values for moderate u.

    ``top``: the largest u at which it is used; beyond, a float cannot tell it from its limit.
    """

    build: Callable[[Tree], Tree]
    top: float = 1e6


SHAPES: Mapping[str, Shape] = {
    "linear": Shape(lambda u: u),
    "square": Shape(lambda u: Apply("pow", (u, Number(2.0)))),
    "exp": Shape(lambda u: Apply("exp", (Apply("neg", (u,)),)), top=100.0),
    "tanh": Shape(lambda u: Apply("tanh", (u,)), top=100.0),
    "log1p": Shape(lambda u: Apply("log", (Apply("add", (_ONE, u)),))),
    "sqrt1p": Shape(lambda u: Apply("sqrt", (Apply("add", (_ONE, u)),))),
    "saturating": Shape(lambda u: Apply("div", (u, Apply("add", (_ONE, u))))),
    "bell": Shape(lambda u: Apply("exp", (Apply("neg", (Apply("pow", (u, Number(2.0))),)),)), top=20.0),
}
"""linear u, square u^2, exp e^-u, tanh, log1p ln(1+u), sqrt1p √(1+u), saturating u/(1+u), bell e^-u²."""

NONLINEAR = tuple(name for name in SHAPES if name not in ("linear", "square"))
"""Shapes of a transformation; a correction term may be linear or square as well."""
