"""Derivatives of a tree by its variables, by reverse accumulation in float64."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cards.evaluate import Columns
from cards.expression import Number, Tree, Variable
from cards.operators import OPERATORS, FloatArray


@dataclass(slots=True)
class _Step:
    """One evaluated node: its value, its arguments' steps, and the derivative of the root by it."""

    node: Tree
    value: Any
    args: list[_Step]
    slope: Any = field(default=0.0)


def gradient(tree: Tree, columns: Columns, by: Collection[str]) -> dict[str, FloatArray]:
    """Return the tree's partial derivatives at every point, inside the piece that the point lies in.

    Args:
        columns: a float or an array of shape (n,) by variable name; the tree should be defined at all
            points, elsewhere the derivative is not a number.
        by: the variables to differentiate by.

    Returns:
        Arrays of shape (n,) by variable name; zero where the tree does not mention the variable.
    """
    shape = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
    slopes: dict[str, Any] = {name: np.zeros(shape) for name in by}
    with np.errstate(all="ignore"):
        steps: list[_Step] = []
        root = _record(tree, columns, steps)
        root.slope = np.ones(shape)
        for step in reversed(steps):
            if isinstance(step.node, Variable):
                if step.node.name in slopes:
                    slopes[step.node.name] = slopes[step.node.name] + step.slope
            elif not isinstance(step.node, Number):
                _pass_down(step)
    return slopes


def _record(node: Tree, columns: Columns, steps: list[_Step]) -> _Step:
    """Evaluate a node and list it after its arguments."""
    if isinstance(node, Number):
        step = _Step(node, np.float64(node.value), [])
    elif isinstance(node, Variable):
        step = _Step(node, np.asarray(columns[node.name], dtype=np.float64), [])
    else:
        args = [_record(argument, columns, steps) for argument in node.args]
        step = _Step(node, OPERATORS[node.op].numpy(*(arg.value for arg in args)), args)
    steps.append(step)
    return step


def _pass_down(step: _Step) -> None:
    assert not isinstance(step.node, Number | Variable)
    values = [argument.value for argument in step.args]
    partials = OPERATORS[step.node.op].partials(values, step.value)
    for argument, partial in zip(step.args, partials, strict=True):
        if not isinstance(argument.node, Number):
            argument.slope = argument.slope + step.slope * partial
