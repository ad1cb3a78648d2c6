"""Trees at fifty digits: values at many points, and how far two lists of values lie apart.

Constants count as the decimals that they are written as, inputs as the binary numbers that they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import repeat
from typing import cast

import numpy as np
from numpy.typing import NDArray

from cards import precise
from cards.errors import ExpressionError
from cards.expression import Apply, Number, Tree, Variable, walk
from cards.operators import OPERATORS, FloatArray
from cards.precise import Real

IntArray = NDArray[np.intp]
RealColumns = Mapping[str, Real | list[Real]]
"""A scalar or one value per point, by variable name."""

_CHEAP = frozenset(
    {"add", "sub", "mul", "div", "neg", "sqrt", "min", "max", "abs", "sign", "step", "floor", "ceil", "round"}
)
_DEAR = {"mod": 3, "cbrt": 5, "pow": 45, "log10": 45, "asin": 60, "acos": 60, "atan": 60, "atan2": 60}
_FUNCTION = 25  # any other
_FUNCTION_SPAN = 4
_ZERO = 1e-60


class UndefinedError(Exception):
    """A tree is undefined at the point with this index."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


def real_column(values: FloatArray) -> list[Real]:
    """Return exact binary numbers of an array of shape (n,)."""
    return [precise.from_binary(value) for value in values.tolist()]


def precise_values(tree: Tree, columns: RealColumns, count: int) -> list[Real]:
    """Return the tree's value at each of ``count`` points, to some fifty digits.

    Raises:
        UndefinedError: some sub-expression is undefined at a point.
        ExpressionError: an unknown variable.
    """
    result = _run(tree, columns, {})
    return result if isinstance(result, list) else [result] * count


@lru_cache(maxsize=4096)
def cost(tree: Tree) -> int:
    """Return the work of one point, in units of about 100 ns; equal sub-trees are worked out once."""
    nodes = {node for _, node in walk(tree) if isinstance(node, Apply)}
    return sum(
        max(1, len(node.args) - 1) if node.op in _CHEAP else _DEAR.get(node.op, _FUNCTION) for node in nodes
    )


def span(tree: Tree) -> int:
    """Return the work of one point in float64, in units of some ten nanoseconds; nothing is shared."""
    nodes = (node for _, node in walk(tree))
    return sum(_FUNCTION_SPAN if isinstance(node, Apply) and node.op not in _CHEAP else 1 for node in nodes)


@dataclass(frozen=True, slots=True)
class Scale:
    """What differences from the truth are relative to, at each point; both of shape (n,).

    Attributes:
        typical: |truth| or its median size, whichever is larger. Close to a root every rounded constant has
            a large effect on |truth| alone, so this is what decides "different".
        strict: |truth|, but a value of less than 1e-60 of the typical size counts as zero. This is what
            decides "equal", and it hides nothing.
    """

    typical: FloatArray
    strict: FloatArray

    @property
    def weight(self) -> FloatArray:
        """The factor from strict differences to typical ones, at most 1."""
        return np.divide(self.strict, self.typical, out=np.ones_like(self.strict), where=self.typical > 0)

    @classmethod
    def of(cls, truth: Sequence[Real], median: float) -> Scale:
        """Return the scale of a truth whose median size on the domain is ``median``."""
        sizes = np.abs([precise.to_float(value) for value in truth])
        return cls(np.maximum(sizes, median), np.maximum(sizes, _ZERO * median))


@dataclass(frozen=True, slots=True)
class Points:
    """Points of a domain: a float64 column of shape (n,) per input, and the values of parameters."""

    columns: dict[str, FloatArray]
    constants: Mapping[str, float]

    @property
    def floats(self) -> dict[str, FloatArray | float]:
        """Everything a tree may mention, as float64."""
        return {**self.constants, **self.columns}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def take(self, chosen: IntArray | slice) -> Points:
        """Return some of the points."""
        return Points({name: column[chosen] for name, column in self.columns.items()}, self.constants)

    def joined(self, other: Points) -> Points:
        """Return these points and then the others."""
        both = {name: np.concatenate([column, other.columns[name]]) for name, column in self.columns.items()}
        return Points(both, self.constants)

    def shown(self, index: int) -> str:
        """Return one point in words."""
        return ", ".join(f"{name} = {column[index]:.9g}" for name, column in self.columns.items())


@dataclass(frozen=True, slots=True)
class Sample:
    """The truth at points, at fifty digits: what a submission is held against."""

    points: Points
    raw: RealColumns
    truth: list[Real]
    scale: Scale

    @classmethod
    def of(cls, tree: Tree, points: Points, median: float) -> Sample:
        """Evaluate the truth; ``median`` is its median size on the domain.

        Raises:
            UndefinedError: the truth is undefined at a point.
        """
        raw: dict[str, Real | list[Real]] = {k: precise.from_float(v) for k, v in points.constants.items()}
        raw.update((name, real_column(column)) for name, column in points.columns.items())
        truth = precise_values(tree, raw, len(points))
        return cls(points, raw, truth, Scale.of(truth, median))

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, chosen: IntArray) -> Sample:
        """Return the sample at some of its points."""
        if len(chosen) == len(self):
            return self
        picked = {
            name: [value[i] for i in chosen] if isinstance(value, list) else value
            for name, value in self.raw.items()
        }
        scale = Scale(self.scale.typical[chosen], self.scale.strict[chosen])
        return Sample(self.points.take(chosen), picked, [self.truth[i] for i in chosen], scale)

    def joined(self, other: Sample) -> Sample:
        """Return this sample and then the other."""
        raw = {
            name: value + cast(list[Real], other.raw[name]) if isinstance(value, list) else value
            for name, value in self.raw.items()
        }
        scale = Scale(
            np.concatenate([self.scale.typical, other.scale.typical]),
            np.concatenate([self.scale.strict, other.scale.strict]),
        )
        return Sample(self.points.joined(other.points), raw, self.truth + other.truth, scale)

    def differences(self, tree: Tree, constants: Mapping[str, Real] | None = None) -> FloatArray:
        """Return (tree − truth) relative to the strict scale; ±inf where that is 0 and they differ.

        Raises:
            UndefinedError: the tree is undefined at a point.
        """
        values = precise_values(tree, {**self.raw, **(constants or {})}, len(self))
        gaps = map(precise.wide_sub, values, self.truth)
        return np.array(
            [
                precise.to_float(precise.wide_div(gap, size)) if gap else 0.0
                for gap, size in zip(gaps, self.scale.strict.tolist(), strict=True)
            ]
        )


def _run(node: Tree, columns: RealColumns, done: dict[Tree, Real | list[Real]]) -> Real | list[Real]:
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


def _apply(function: Callable[..., Real], args: Sequence[Real | list[Real]]) -> Real | list[Real]:
    if len(args) > 2:  # a variadic operator, given as a function of two
        return reduce(lambda left, right: _apply(function, (left, right)), args)
    if not any(isinstance(argument, list) for argument in args):
        return _defined([function(*args)])[0]
    rows = [argument if isinstance(argument, list) else repeat(argument) for argument in args]
    return _defined(list(map(function, *rows)))  # scalars repeat without end


def _defined(values: list[Real]) -> list[Real]:
    index = precise.first_undefined(values)
    if index is not None:
        raise UndefinedError(index)
    return values
