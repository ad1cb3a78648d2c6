"""Expression trees as LaTeX, for briefs, papers and pages.

Functions take their form from the operator table; sums, products and powers are written here. The text is
for reading: unlike infix text it is never read back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from cards.expression import Apply, Number, Tree, Variable
from cards.operators import OPERATORS

_GREEK = frozenset(
    [
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda"),
        *("mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
    ]
)
_SUM, _PRODUCT, _NEGATIVE, _POWER, _ATOM = range(1, 6)
_LEVELS = {
    "sum": _SUM,
    "difference": _SUM,
    "product": _PRODUCT,
    "negation": _NEGATIVE,
    "power": _POWER,
}


def print_latex(tree: Tree, symbols: Mapping[str, str] | None = None) -> str:
    """Return the tree in LaTeX's mathematical notation, without delimiters.

    Args:
        symbols: LaTeX by variable name; a name without one (or with an empty one) is written from
            itself: ``T_0`` with a subscript, Greek letters by their names.
    """
    return _write(tree, symbols or {})


def number_latex(value: float) -> str:
    """Return a constant in LaTeX, powers of ten written out."""
    text = repr(float(value))
    if value == math.pi:
        return r"\pi"
    mantissa, mark, exponent = text.partition("e")
    mantissa = mantissa.removesuffix(".0")
    if not mark:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \times {power}"


def _write(tree: Tree, symbols: Mapping[str, str]) -> str:
    if isinstance(tree, Number):
        return number_latex(tree.value)
    if isinstance(tree, Variable):
        return symbols.get(tree.name) or _symbol(tree.name)
    operator = OPERATORS[tree.op]
    match operator.notation:
        case "sum":
            return _sum(tree, symbols)
        case "difference":
            left, right = tree.args
            return f"{_write(left, symbols)} - {_unsigned(right, symbols)}"
        case "product":
            return _product(tree, symbols)
        case "negation":
            return f"-{_unsigned(tree.args[0], symbols)}"
        case "power":
            base, exponent = tree.args
            return f"{_at_least(base, _ATOM, symbols)}^{{{_write(exponent, symbols)}}}"
        case "quotient":
            return operator.latex.format(*(_write(argument, symbols) for argument in tree.args))
        case _:
            return operator.latex.format(", ".join(_write(argument, symbols) for argument in tree.args))


def _sum(tree: Apply, symbols: Mapping[str, str]) -> str:
    text = _write(tree.args[0], symbols)
    for term in tree.args[1:]:
        written = _write(term, symbols)
        text += f" - {written[1:]}" if _leads_with_minus(term) else f" + {written}"
    return text


def _product(tree: Apply, symbols: Mapping[str, str]) -> str:
    first, *rest = tree.args
    text = _at_least(first, _PRODUCT, symbols)
    before = first
    for factor in rest:
        written = _at_least(factor, _POWER, symbols)
        mark = r" \cdot " if _digit_first(factor) or _times(before) else r" \, "
        text += mark + written
        before = factor
    return text


def _at_least(tree: Tree, level: int, symbols: Mapping[str, str]) -> str:
    text = _write(tree, symbols)
    return text if _level(tree) >= level else rf"\left({text}\right)"


def _unsigned(tree: Tree, symbols: Mapping[str, str]) -> str:
    """Write what follows a minus: neither a sum nor a second minus may stand bare."""
    return _at_least(tree, _ATOM + 1 if _leads_with_minus(tree) else _PRODUCT, symbols)


def _level(tree: Tree) -> int:
    if isinstance(tree, Variable):
        return _ATOM
    if isinstance(tree, Number):
        if math.copysign(1.0, tree.value) < 0:
            return _NEGATIVE
        return _PRODUCT if _times(tree) else _ATOM
    return _LEVELS.get(OPERATORS[tree.op].notation, _POWER if tree.op in ("div", "sqrt", "cbrt") else _ATOM)


def _times(tree: Tree) -> bool:
    return isinstance(tree, Number) and "e" in repr(tree.value)


def _digit_first(tree: Tree) -> bool:
    """Return whether the written form begins with a digit, which must not touch another number."""
    while isinstance(tree, Apply) and OPERATORS[tree.op].notation in ("power", "product"):
        tree = tree.args[0]
    return isinstance(tree, Number) and tree.value != math.pi


def _leads_with_minus(tree: Tree) -> bool:
    if isinstance(tree, Number):
        return math.copysign(1.0, tree.value) < 0
    if not isinstance(tree, Apply):
        return False
    notation = OPERATORS[tree.op].notation
    return notation == "negation" or (notation == "product" and _leads_with_minus(tree.args[0]))


def _symbol(name: str) -> str:
    """Write a plain name: one subscript after the first underscore or before trailing digits."""
    head, _, tail = name.strip("_").partition("_")
    stem = head.rstrip("0123456789")
    if not tail and stem and stem != head:
        head, tail = stem, head[len(stem) :]
    if head in _GREEK:
        text = f"\\{head}"
    elif len(head) == 1:
        text = head
    else:
        text = rf"\mathrm{{{head}}}"
    if not tail:
        return text
    subscript = tail.replace("_", r"\_")
    return (
        f"{text}_{{{subscript}}}"
        if len(tail) == 1 or tail.isdigit()
        else rf"{text}_{{\mathrm{{{subscript}}}}}"
    )
