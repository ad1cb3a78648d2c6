"""Drop the terms that a neutral constant switches off, so that a twin reads as a person writes it."""

from __future__ import annotations

from collections.abc import Mapping

from cards.expression import Apply, Number, Tree, Variable

_ONE, _ZERO = Number(1.0), Number(0.0)


def prune(tree: Tree, corrections: Mapping[str, float]) -> Tree:
    """Return ``tree`` without the factors and terms that its neutral corrections make void.

    A correction is neutral when it is the exponent 0 of a factor, the coefficient 0 of a term, or
    the factor 1. Nothing else of the tree is touched.
    """
    if not isinstance(tree, Apply):
        return tree
    args = tuple(prune(argument, corrections) for argument in tree.args)
    if tree.op == "pow" and _is(args[1], 0.0, corrections):
        return _ONE
    if tree.op == "mul":
        return _product(tree, args, corrections)
    if tree.op == "add" and _ZERO in args and args != tree.args:
        kept = tuple(argument for argument in args if argument != _ZERO)
        return kept[0] if len(kept) == 1 else Apply("add", kept)
    return Apply(tree.op, args)


def _product(tree: Apply, args: tuple[Tree, ...], corrections: Mapping[str, float]) -> Tree:
    if any(_is(argument, 0.0, corrections) for argument in args):
        return _ZERO
    kept = tuple(
        new
        for old, new in zip(tree.args, args, strict=True)
        if not (_is(new, 1.0, corrections) or (new == _ONE and old != new))
    )
    if not kept:
        return _ONE
    return kept[0] if len(kept) == 1 else Apply("mul", kept)


def _is(tree: Tree, value: float, corrections: Mapping[str, float]) -> bool:
    return isinstance(tree, Variable) and corrections.get(tree.name) == value
