"""Trees at fifty digits: values at many points, and how far two lists of values lie apart.

Constants count as the decimals that they are written as, inputs as the binary numbers that they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import cast

import numpy as np
from mpmath import libmp

from cards import precise
from cards.errors import ExpressionError
from cards.expression import Apply, Number, Tree, Variable, walk
from cards.operators import OPERATORS, FloatArray
from cards.precise import PRECISION, Raw

RawColumns = Mapping[str, "Raw | list[Raw]"]
"""A scalar or one value per point, by variable name."""

_CHEAP = frozenset({"add", "sub", "mul", "div", "neg", "min", "max", "abs", "sign", "step", "floor", "ceil"})
_DEAR = {"sqrt": 3, "exp": 5, "log": 5, "pow": 10, "asin": 16, "acos": 16}
_ZERO = 1e-15
_LOWEST, _HIGHEST = -1074, 1024  # binary exponents of float64's range


class UndefinedError(Exception):
    """A tree is undefined at the point with this index."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


def raw_column(values: FloatArray) -> list[Raw]:
    """Return exact binary numbers of an array of shape (n,)."""
    return [precise.from_binary(value) for value in values.tolist()]


def precise_values(tree: Tree, columns: RawColumns, count: int) -> list[Raw]:
    """Return the tree's value at each of ``count`` points, to some fifty digits.

    Raises:
        UndefinedError: some sub-expression is undefined at a point.
        ExpressionError: an unknown variable.
    """
    result = _run(tree, columns, {})
    return result if isinstance(result, list) else [result] * count


def cost(tree: Tree) -> int:
    """Return the work of one point, in units of about a microsecond; equal sub-trees are worked out once."""
    nodes = {node for _, node in walk(tree) if isinstance(node, Apply)}
    return sum(max(1, len(node.args) - 1) if node.op in _CHEAP else _DEAR.get(node.op, 8) for node in nodes)


@dataclass(frozen=True, slots=True)
class Scale:
    """What differences from the truth are relative to, at each point; both of shape (n,).

    Attributes:
        typical: |truth| or its median size, whichever is larger. Close to a root every rounded constant has
            a large effect on |truth| alone, so this is what decides "different".
        strict: |truth|, but a value of less than 1e-15 of the typical size counts as zero. This is what
            decides "equal", and it hides nothing.
    """

    typical: FloatArray
    strict: FloatArray

    @classmethod
    def of(cls, truth: Sequence[Raw], median: float) -> Scale:
        """Return the scale of a truth whose median size on the domain is ``median``."""
        sizes = np.abs([precise.to_float(value) for value in truth])
        return cls(np.maximum(sizes, median), np.maximum(sizes, _ZERO * median))


def differences(values: Sequence[Raw], truth: Sequence[Raw], scale: FloatArray) -> FloatArray:
    """Return (value − truth) / scale at each point; ±inf where the scale is 0 and the values differ."""
    gaps = []
    for value, target, size in zip(values, truth, scale.tolist(), strict=True):
        gap = libmp.mpf_sub(value, target, PRECISION, "n")
        if size:
            gaps.append(precise.to_float(libmp.mpf_div(gap, precise.from_binary(size), 53, "n")))
        else:
            gaps.append(math.inf if gap[1] else 0.0)
    return np.array(gaps)


def _run(node: Tree, columns: RawColumns, done: dict[Tree, Raw | list[Raw]]) -> Raw | list[Raw]:
    if isinstance(node, Number):
        return precise.from_float(node.value)
    if isinstance(node, Variable):
        if node.name not in columns:
            raise ExpressionError(f"unknown variable {node.name!r}.", f"Known: {', '.join(sorted(columns))}.")
        return columns[node.name]
    if node not in done:
        args = [_run(argument, columns, done) for argument in node.args]
        done[node] = _apply(OPERATORS[node.op].high_precision, args)
    return done[node]


def _apply(function: Callable[..., Raw | None], args: list[Raw | list[Raw]]) -> Raw | list[Raw]:
    if not any(isinstance(argument, list) for argument in args):
        return _settled([function(*args)])[0]
    rows = [argument if isinstance(argument, list) else repeat(argument) for argument in args]
    return _settled([function(*row) for row in _zip(rows)])


def _zip(rows: Sequence[list[Raw] | Iterator[Raw]]) -> Iterator[tuple[Raw, ...]]:
    return zip(*rows, strict=False)  # scalars repeat without end


def _settled(values: list[Raw | None]) -> list[Raw]:
    """Apply float64's range in place, and refuse undefined values."""
    for index, value in enumerate(values):
        if value is None or not _LOWEST <= value[2] + value[3] <= _HIGHEST:
            values[index] = precise.settle(value)
            if values[index] is None:
                raise UndefinedError(index)
    return cast(list[Raw], values)
