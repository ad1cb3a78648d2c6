"""Write a relation differently without changing it: expand, reorder, fold constants."""

from __future__ import annotations

import math
from collections.abc import Mapping

from cards.expression import Apply, Number, Tree, bind, names


def reordered(tree: Tree) -> Tree:
    """Turn round the arguments of every sum and product, all the way down."""
    if not isinstance(tree, Apply):
        return tree
    args = tuple(reordered(argument) for argument in tree.args)
    return Apply(tree.op, args[::-1] if tree.op in ("add", "mul") else args)


def expanded(tree: Tree) -> Tree:
    """Multiply out the first product with a sum in every branch: a·(b + c) → a·b + a·c."""
    if not isinstance(tree, Apply):
        return tree
    args = tuple(expanded(argument) for argument in tree.args)
    if tree.op == "mul":
        for index, argument in enumerate(args):
            if isinstance(argument, Apply) and argument.op == "add":
                rest = args[:index] + args[index + 1 :]
                return Apply("add", tuple(Apply("mul", (*rest, term)) for term in argument.args))
    return Apply(tree.op, args)


def folded(tree: Tree, told: Mapping[str, float]) -> Tree:
    """Put told parameters in as numbers, and gather all constants of a product or a power in one."""
    return _fold(bind(tree, told))


def _fold(tree: Tree) -> Tree:
    if not isinstance(tree, Apply):
        return tree
    args = tuple(_fold(argument) for argument in tree.args)
    if tree.op == "div" and isinstance(args[1], Number):
        return _fold(Apply("mul", (args[0], Number(1.0 / args[1].value))))
    if tree.op == "pow" and all(isinstance(argument, Number) for argument in args):
        return Number(math.pow(args[0].value, args[1].value))  # type: ignore[union-attr]
    if tree.op == "mul":
        return _product(args)
    return Apply(tree.op, args)


def _product(args: tuple[Tree, ...]) -> Tree:
    flat: list[Tree] = []
    for argument in args:
        flat += argument.args if isinstance(argument, Apply) and argument.op == "mul" else (argument,)
    constant = math.prod(item.value for item in flat if isinstance(item, Number))
    rest = [item for item in flat if not isinstance(item, Number)]
    kept = [Number(constant), *rest] if constant != 1.0 or not rest else [*rest]
    return kept[0] if len(kept) == 1 else Apply("mul", tuple(kept))


def constants(tree: Tree, here: str = "") -> list[str]:
    """Return the paths of all constants but 0 and 1; a part without variables, as 66 - 6.01, is one.

    A number raised to a power is left out: it is one constant with the factor of its exponent, written
    as two, and half of a change in either can be undone in the other.
    """
    if isinstance(tree, Number):
        return [here] if tree.value not in (0.0, 1.0) else []
    if not isinstance(tree, Apply):
        return []
    if not names(tree):
        return [here]
    skipped = 0 if tree.op == "pow" and isinstance(tree.args[0], Number) else -1
    prefix = f"{here}." if here else ""
    found = [constants(arg, f"{prefix}args[{i}]") for i, arg in enumerate(tree.args) if i != skipped]
    return [path for paths in found for path in paths]


def shifted(tree: Tree, path: str, factor: float, here: str = "") -> Tree:
    """Return the tree with the constant at ``path`` multiplied by ``factor``."""
    if here == path:
        return Number(tree.value * factor) if isinstance(tree, Number) else scaled(tree, factor)
    if isinstance(tree, Apply):
        prefix = f"{here}." if here else ""
        args = (shifted(arg, path, factor, f"{prefix}args[{i}]") for i, arg in enumerate(tree.args))
        return Apply(tree.op, tuple(args))
    return tree


def scaled(tree: Tree, factor: float) -> Tree:
    """Return factor · tree."""
    return Apply("mul", (Number(factor), tree))
