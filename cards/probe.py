"""Trees at fifty digits: values at many points, and how far two lists of values lie apart.

Constants count as the decimals that they are written as, inputs as the binary numbers that they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import cast

import numpy as np
from mpmath import libmp
from numpy.typing import NDArray

from cards import precise
from cards.errors import ExpressionError
from cards.expression import Apply, Number, Tree, Variable, walk
from cards.operators import OPERATORS, FloatArray
from cards.precise import PRECISION, Raw

IntArray = NDArray[np.intp]
RawColumns = Mapping[str, "Raw | list[Raw]"]
"""A scalar or one value per point, by variable name."""

_CHEAP = frozenset({"add", "sub", "mul", "div", "neg", "min", "max", "abs", "sign", "step", "floor", "ceil"})
_DEAR = {"sqrt": 3, "exp": 5, "log": 5, "pow": 10, "asin": 16, "acos": 16}
_ZERO = 1e-15
_SAFE = -960
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


@lru_cache(maxsize=4096)
def cost(tree: Tree) -> int:
    """Return the work of one point, in units of about a microsecond; equal sub-trees are worked out once."""
    nodes = {node for _, node in walk(tree) if isinstance(node, Apply)}
    return sum(max(1, len(node.args) - 1) if node.op in _CHEAP else _DEAR.get(node.op, 8) for node in nodes)


def span(tree: Tree) -> int:
    """Return the work of one point in float64, in units of some ten nanoseconds; nothing is shared."""
    nodes = (node for _, node in walk(tree))
    return sum(
        _DEAR.get(node.op, 8) // 2 if isinstance(node, Apply) and node.op not in _CHEAP else 1
        for node in nodes
    )


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

    @property
    def weight(self) -> FloatArray:
        """The factor from strict differences to typical ones, at most 1."""
        return np.divide(self.strict, self.typical, out=np.ones_like(self.strict), where=self.typical > 0)

    @classmethod
    def of(cls, truth: Sequence[Raw], median: float) -> Scale:
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
    raw: RawColumns
    truth: list[Raw]
    scale: Scale

    @classmethod
    def of(cls, tree: Tree, points: Points, median: float) -> Sample:
        """Evaluate the truth; ``median`` is its median size on the domain.

        Raises:
            UndefinedError: the truth is undefined at a point.
        """
        raw: dict[str, Raw | list[Raw]] = {k: precise.from_float(v) for k, v in points.constants.items()}
        raw.update((name, raw_column(column)) for name, column in points.columns.items())
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
            name: value + cast(list[Raw], other.raw[name]) if isinstance(value, list) else value
            for name, value in self.raw.items()
        }
        scale = Scale(
            np.concatenate([self.scale.typical, other.scale.typical]),
            np.concatenate([self.scale.strict, other.scale.strict]),
        )
        return Sample(self.points.joined(other.points), raw, self.truth + other.truth, scale)

    def differences(self, tree: Tree, constants: Mapping[str, Raw] | None = None) -> FloatArray:
        """Return (tree − truth) relative to the strict scale; ±inf where that is 0 and they differ.

        Raises:
            UndefinedError: the tree is undefined at a point.
        """
        values = precise_values(tree, {**self.raw, **(constants or {})}, len(self))
        gaps = [
            libmp.mpf_sub(value, target, PRECISION, "n")
            for value, target in zip(values, self.truth, strict=True)
        ]
        return np.array(
            [_ratio(gap, size) for gap, size in zip(gaps, self.scale.strict.tolist(), strict=True)]
        )


def _ratio(gap: Raw, size: float) -> float:
    """Divide, also where the gap is too small for a float64 of its own."""
    if not gap[1]:
        return 0.0
    if gap[2] + gap[3] > _SAFE:
        return precise.to_float(gap) / size if size else math.inf
    return precise.to_float(libmp.mpf_div(gap, precise.from_binary(size), 53, "n"))


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
