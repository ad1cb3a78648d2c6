"""Evaluate trees on arrays of inputs, with exact rules for what is undefined.

Division by zero, a logarithm of a number ≤ 0, a complex result, NaN or an infinity anywhere in the tree
makes the tree undefined at that point, even where a later operation would hide it. Nothing is clipped,
defaulted or repaired.

Source: arXiv 2610.37919, appendix A.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cards.errors import ExpressionError
from cards.expression import Apply, Number, Tree, Variable, walk
from cards.operators import OPERATORS, BoolArray, FloatArray, everywhere

Columns = Mapping[str, FloatArray | float]


class _UndefinedError(Exception):
    """A node is undefined at some point; carries the node and a mask of where it is defined."""

    def __init__(self, node: Tree, defined: Any) -> None:
        super().__init__()
        self.node = node
        self.defined = defined


def evaluate(tree: Tree, columns: Columns) -> FloatArray:
    """Return the tree's value at every point.

    Args:
        columns: a float or an array of shape (n,) by variable name; all are broadcast together.

    Returns:
        Values in the columns' common shape, also for a constant tree.

    Raises:
        ExpressionError: an unknown variable, or a point at which any sub-expression is undefined; the
            path leads to the node and the message names the point.
    """
    shape = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
    try:
        with np.errstate(all="ignore"):
            values = _run(tree, columns)
    except _UndefinedError as error:
        raise _explain(tree, columns, error) from None
    return np.array(np.broadcast_to(values, shape), dtype=np.float64)


def evaluate_partial(tree: Tree, columns: Columns) -> tuple[FloatArray, BoolArray]:
    """Return values and a mask of where every sub-expression is defined; values elsewhere are NaN.

    Raises:
        ExpressionError: an unknown variable.
    """
    shape = _shape(columns)
    with np.errstate(all="ignore"):
        try:  # most trees are defined everywhere, and masks cost as much as values
            return np.array(_spread(_run(tree, columns), shape)), np.ones(shape, dtype=np.bool_)
        except _UndefinedError:
            values, defined = _run_masked(tree, columns)
    mask = np.array(_spread(defined, shape), dtype=np.bool_)
    spread = _spread(values, shape)
    return np.where(mask, spread, np.nan), mask


def _shape(columns: Columns) -> tuple[int, ...]:
    """Return the columns' common shape, in the usual case without NumPy's rules for unequal ones."""
    shapes = {getattr(column, "shape", ()) for column in columns.values()} - {()}
    return np.broadcast_shapes(*shapes) if len(shapes) > 1 else shapes.pop() if shapes else ()


def _all(mask: Any) -> bool:
    return bool(mask.all() if mask.ndim else mask)


def _spread(values: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast where there is something to broadcast; NumPy takes its time over it."""
    return values if np.shape(values) == shape else np.broadcast_to(values, shape)


def _run(node: Tree, columns: Columns) -> Any:
    if isinstance(node, Number):
        return np.float64(node.value)
    if isinstance(node, Variable):
        value = _column(node, columns)
        defined: Any = np.isfinite(value)
    else:
        operator = OPERATORS[node.op]
        args = [_run(argument, columns) for argument in node.args]
        if operator.defined is not everywhere:
            defined = operator.defined(*args)
            if not _all(defined):
                raise _UndefinedError(node, defined)
        value = operator.numpy(*args)
        defined = np.isfinite(value)
    if not _all(defined):
        raise _UndefinedError(node, defined)
    return value


def _run_masked(node: Tree, columns: Columns) -> tuple[Any, Any]:
    if isinstance(node, Number):
        return np.float64(node.value), np.True_
    if isinstance(node, Variable):
        value = _column(node, columns)
        return value, np.isfinite(value)
    operator = OPERATORS[node.op]
    results = [_run_masked(argument, columns) for argument in node.args]
    args = [value for value, _ in results]
    defined = operator.defined(*args)
    for _, mask in results:
        defined = defined & mask
    value = operator.numpy(*args)
    return value, defined & np.isfinite(value)


def _column(node: Variable, columns: Columns) -> Any:
    if node.name not in columns:
        raise ExpressionError(
            f"unknown variable {node.name!r}.", f"Known: {', '.join(sorted(columns)) or 'none'}."
        )
    return np.asarray(columns[node.name], dtype=np.float64)


def _explain(tree: Tree, columns: Columns, error: _UndefinedError) -> ExpressionError:
    """Say which node is undefined and at which point."""
    path = next(path for path, node in walk(tree) if node is error.node)
    label = error.node.op if isinstance(error.node, Apply) else "the variable"
    shape = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
    bad = np.flatnonzero(~np.broadcast_to(error.defined, shape))
    count = bad.size
    where = ", ".join(
        f"{name} = {np.broadcast_to(np.asarray(column), shape).flat[bad[0]]:.6g}"
        for name, column in columns.items()
    )
    point = f" at {where}" if where else ""
    more = f" (and at {count - 1} more of {int(np.prod(shape))} points)" if count > 1 else ""
    return ExpressionError(f"{label} is undefined{point}{more}.", path=path)
