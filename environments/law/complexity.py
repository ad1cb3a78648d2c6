"""How complex a relation is once everything that a number can absorb has been absorbed.

A relation as it is written out says little of how hard it is to find: 1/r² and (r·(r/r_ref)^0.3)^-2 need
the same two numbers. So trees are reduced before they are counted. All constants are numbers and are
multiplied into one another; sums and products are flat; roots, quotients and powers of powers are powers of
their bases, equal bases meet, and the leading term of every sum has the coefficient one. Quantities count as
positive here: the reduced form is for counting, nothing is ever evaluated with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cards.evaluate import evaluate_partial
from cards.expression import Apply, Number, Tree, size, walk

_DIGITS = 12
"""Significant digits to which numbers that differ by rounding are the same."""
_ROOTS = {"sqrt": 1 / 2, "cbrt": 1 / 3}
_ONE = Number(1.0)

Product = dict[Tree, float]
"""The exponents of a product's factors; no factor is a number, and the coefficient stands apart."""


@dataclass(frozen=True)
class Complexity:
    """Nodes and numbers of relations in reduced form, over all observables."""

    nodes: int
    numbers: int


def complexity(trees: Mapping[str, Tree]) -> Complexity:
    """Count the nodes and numbers of relations over the inputs alone, all constants bound."""
    forms = [reduced(tree) for tree in trees.values()]
    numbers = sum(isinstance(node, Number) for form in forms for _, node in walk(form))
    return Complexity(sum(map(size, forms)), numbers)


def reduced(tree: Tree) -> Tree:
    """Return a tree in reduced form."""
    if not isinstance(tree, Apply):
        return tree
    args = tuple(reduced(argument) for argument in tree.args)
    if tree.op in _ROOTS:
        return _written(*_product([(args[0], _ROOTS[tree.op])]))
    if tree.op == "pow" and isinstance(args[1], Number):
        return _written(*_product([(args[0], args[1].value)]))
    if tree.op == "mul":
        return _written(*_product((argument, 1.0) for argument in args))
    if tree.op == "div":
        return _written(*_product([(args[0], 1.0), (args[1], -1.0)]))
    if tree.op == "neg":
        return _written(*_product([(Number(-1.0), 1.0), (args[0], 1.0)]))
    if tree.op in ("add", "sub"):
        sign = -1.0 if tree.op == "sub" else 1.0
        return _sum([(1.0, args[0]), *((sign, argument) for argument in args[1:])])
    return _folded(Apply(tree.op, args))


def _folded(tree: Apply) -> Tree:
    """Return an operator's value where all its arguments are numbers."""
    if not all(isinstance(argument, Number) for argument in tree.args):
        return tree
    value, defined = evaluate_partial(tree, {})
    return Number(float(value)) if bool(defined) else tree


def _product(factors: Iterable[tuple[Tree, float]]) -> tuple[float, Product]:
    """Return coefficient and exponents of a product of powers."""
    coefficient, powers = 1.0, Product()
    stack = list(factors)[::-1]
    while stack:
        base, exponent = stack.pop()
        if isinstance(base, Number) and (base.value > 0 or (base.value and exponent.is_integer())):
            coefficient *= base.value**exponent
        elif base == Number(0.0) and exponent > 0:
            return 0.0, {}
        elif isinstance(base, Apply) and base.op == "mul":
            stack.extend((argument, exponent) for argument in reversed(base.args))
        elif isinstance(base, Apply) and base.op == "pow" and isinstance(base.args[1], Number):
            stack.append((base.args[0], exponent * base.args[1].value))
        else:
            powers[base] = powers.get(base, 0.0) + exponent
    return coefficient, {base: e for base, power in powers.items() if (e := _rounded(power))}


def _written(coefficient: float, powers: Product) -> Tree:
    """Return a product as a tree, the coefficient first unless it is one."""
    factors = [
        base if exponent == 1 else Apply("pow", (base, Number(exponent))) for base, exponent in powers.items()
    ]
    number = Number(_rounded(coefficient))
    if not factors or number.value == 0:
        return number
    every = factors if number == _ONE else [number, *factors]
    return every[0] if len(every) == 1 else Apply("mul", tuple(every))


def _sum(terms: Iterable[tuple[float, Tree]]) -> Tree:
    """Return a sum as leading coefficient times a sum whose leading term has the coefficient one."""
    found: dict[Tree, float] = {}
    stack = list(terms)[::-1]
    while stack:
        factor, term = stack.pop()
        coefficient, powers = _product([(term, 1.0)])
        only = next(iter(powers)) if len(powers) == 1 else None
        if isinstance(only, Apply) and only.op == "add" and powers[only] == 1:
            stack.extend((factor * coefficient, argument) for argument in reversed(only.args))
        else:
            rest = _written(1.0, powers)
            found[rest] = found.get(rest, 0.0) + factor * coefficient
    found = {rest: value for rest, value in found.items() if _rounded(value)}
    lead = next((value for rest, value in found.items() if rest != _ONE), None)
    if lead is None:
        return Number(found.get(_ONE, 0.0))
    parts = [_written(*_product([(Number(value / lead), 1.0), (rest, 1.0)])) for rest, value in found.items()]
    whole = parts[0] if len(parts) == 1 else Apply("add", tuple(parts))
    return _written(*_product([(Number(lead), 1.0), (whole, 1.0)]))


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
