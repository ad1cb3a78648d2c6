"""A submission with its constants freed, for the second step of equality."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from cards import precise
from cards.domain import Domain, Interval
from cards.evaluate import Columns, evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, names, walk
from cards.gradient import gradient
from cards.operators import BoolArray, FloatArray
from cards.pieces import Surface, surfaces
from cards.precise import Real
from cards.probe import RealColumns, UndefinedError, cost, precise_values

MOVE = 1e-6
"""How far a constant may move, relative to itself: 9.81 and 9.810 agree, 9.8 does not."""

_TOUCH = 1e-40
_NUDGE = precise.from_float(1e-50)

LEVER = 10.0
"""How much further than an input's own move a constant's may reach: an exponent acts by a logarithm."""


@dataclass(slots=True)
class Skeleton:
    """A tree whose own constants are variables named ``#0``, ``#1``, …

    Attributes:
        constants: their values.
        sizes: what a move of each is relative to: its size; for a sum of constants, theirs, so that
            ``0.3 - 0.30000000000000004`` may move by the rounding of its terms.
    """

    tree: Tree
    constants: dict[str, Real] = field(default_factory=dict)
    sizes: dict[str, Real] = field(default_factory=dict)

    def floats(self) -> dict[str, float]:
        """Return the constants as float64."""
        return {name: precise.to_float(value) for name, value in self.constants.items()}

    def slopes(self, tree: Tree, columns: Columns, by: Sequence[str]) -> FloatArray:
        """Return how a part of the tree changes per relative move of some of the constants.

        Args:
            columns: a float or an array of shape (n,) for every variable, constants included.

        Returns:
            Shape (n, number of constants in ``by``).
        """
        slopes = gradient(tree, columns, by)
        with np.errstate(all="ignore"):
            moved = [slopes[name] * precise.to_float(self.sizes[name]) for name in by]
        return np.stack(moved, axis=-1)

    def precise_slopes(self, columns: RealColumns, count: int) -> FloatArray:
        """Return the tree's slopes as ``slopes`` does, from differences at fifty digits at ``count`` points.

        Raises:
            UndefinedError: the tree is undefined at a point, or beside it.
        """
        here = precise_values(self.tree, {**columns, **self.constants}, count)
        slopes = np.empty((count, len(self.constants)))
        for i, (name, value) in enumerate(self.constants.items()):
            moved = precise.wide_add(value, precise.wide_mul(self.sizes[name], _NUDGE))
            there = precise_values(self.tree, {**columns, **self.constants, name: moved}, count)
            gaps = map(precise.wide_sub, there, here)
            slopes[:, i] = [precise.to_float(precise.wide_div(gap, _NUDGE)) for gap in gaps]
        return slopes

    def shifted(self, constants: Mapping[str, Real], moves: FloatArray) -> dict[str, Real]:
        """Return the constants moved on, relative to their sizes."""
        steps = map(precise.wide_mul, self.sizes.values(), moves.tolist())
        return {
            name: precise.wide_add(value, step)
            for (name, value), step in zip(constants.items(), steps, strict=True)
        }

    def moved(self, constants: Mapping[str, Real]) -> FloatArray:
        """Return how far each constant has moved from where the submission has it, relative to its size."""
        gaps = (
            precise.wide_div(precise.wide_sub(constants[name], value), self.sizes[name])
            for name, value in self.constants.items()
        )
        return np.array([precise.to_float(gap) for gap in gaps])


def constants_apart(one: Tree, other: Tree) -> float | None:
    """Return how far corresponding constants of two trees lie apart, relative to the first's; at most.

    None where the trees are not the same but for their constants.
    """
    apart, pairs = 0.0, [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, Number) and isinstance(right, Number):
            if left.value != right.value:
                if left.value == 0:
                    return None
                apart = max(apart, abs(right.value / left.value - 1))
        elif isinstance(left, Apply) and isinstance(right, Apply):
            if left.op != right.op or len(left.args) != len(right.args):
                return None
            pairs.extend(zip(left.args, right.args, strict=True))
        elif left != right:
            return None
    return apart


def skeleton(tree: Tree) -> Skeleton:
    """Free a tree's constants.

    Constants that only act together are one: ``2*pi*x/3`` has one constant, sub-trees without variables are
    evaluated first, and equal sub-trees share their constants. Names stay what they are, told parameters
    included. Held fixed are zero, a factor of ±1, and whole exponents.
    """
    made = Skeleton(Number(0.0))
    made.tree = _Freeing(made).tree(tree)
    return made


class _Freeing:
    """One pass over a tree that splits each node into a constant factor and a rest."""

    def __init__(self, made: Skeleton) -> None:
        self.made = made
        self.done: dict[Tree, Tree] = {}

    def tree(self, node: Tree) -> Tree:
        """Return the node with its constants freed; equal sub-trees share their constants."""
        if node not in self.done:
            self.done[node] = self.freed(node)
        return self.done[node]

    def freed(self, node: Tree) -> Tree:
        factor, rest = self.split(node)
        if rest is None:
            return self.constant(factor)
        if factor == precise.ONE:
            return rest
        if factor == precise.neg(precise.ONE):
            return Apply("neg", (rest,))
        return Apply("mul", (self.constant(factor), rest))

    def constant(self, value: Real, size: Real | None = None) -> Tree:
        if not value:
            return Number(0.0)
        name = f"#{len(self.made.constants)}"
        self.made.constants[name] = value
        self.made.sizes[name] = size or precise.abs_(value)
        return Variable(name)

    def split(self, node: Tree) -> tuple[Real, Tree | None]:
        """Return (factor, rest) with node = factor · rest; a rest of None stands for 1."""
        if isinstance(node, Number):
            return precise.from_float(node.value), None
        if isinstance(node, Variable):
            return precise.ONE, node
        if not names(node):
            return precise_values(node, {}, 1)[0], None
        if node.op == "mul":
            return self.product(node)
        if node.op == "div":
            return self.quotient(node)
        if node.op == "neg":
            factor, rest = self.split(node.args[0])
            return precise.neg(factor), rest
        if node.op in ("add", "sub"):
            if node not in self.done:
                self.done[node] = self.sum(node)
            return precise.ONE, self.done[node]
        if node.op == "pow" and _whole(node.args[1]):
            args: tuple[Tree, ...] = (self.tree(node.args[0]), node.args[1])
        else:
            args = tuple(self.tree(argument) for argument in node.args)
        return precise.ONE, Apply(node.op, args)

    def sum(self, node: Apply) -> Tree:
        """Free a sum's terms; the terms without variables are one constant."""
        constant, size, rests = precise.ZERO, precise.ZERO, list[Tree]()
        for sign, term in _terms(node):
            if names(term):
                rests.append(self.tree(term if sign > 0 else Apply("neg", (term,))))
            else:
                value = precise_values(term, {}, 1)[0]
                constant = precise.wide_add(constant, value if sign > 0 else precise.neg(value))
                size = precise.wide_add(size, precise.abs_(value))
        if constant:
            rests.append(self.constant(constant, size))
        return rests[0] if len(rests) == 1 else Apply("add", tuple(rests))

    def product(self, node: Apply) -> tuple[Real, Tree | None]:
        parts = [self.split(argument) for argument in node.args]
        factor = reduce(precise.wide_mul, (part[0] for part in parts))
        rests: list[Tree] = []
        for _, rest in parts:
            if isinstance(rest, Apply) and rest.op == "mul":
                rests.extend(rest.args)
            elif rest is not None:
                rests.append(rest)
        return factor, rests[0] if len(rests) == 1 else Apply("mul", tuple(rests))

    def quotient(self, node: Apply) -> tuple[Real, Tree | None]:
        above, numerator = self.split(node.args[0])
        below, denominator = self.split(node.args[1])
        if not below:
            raise UndefinedError(0)
        factor = precise.wide_div(above, below)
        if denominator is None:
            return factor, numerator
        return factor, Apply("div", (numerator or Number(1.0), denominator))


def _terms(node: Tree, sign: int = 1) -> Iterator[tuple[int, Tree]]:
    """Yield the terms of nested sums and differences with their signs."""
    if isinstance(node, Apply) and node.op in ("add", "sub", "neg"):
        for i, argument in enumerate(node.args):
            turned = node.op == "neg" or (node.op == "sub" and i == 1)
            yield from _terms(argument, -sign if turned else sign)
    else:
        yield sign, node


def _whole(exponent: Tree) -> bool:
    """Whether an exponent has whole constants alone: a base may be negative, and then no other will do."""
    if not names(exponent):
        return precise.is_whole(precise_values(exponent, {}, 1)[0])
    nodes = [node for _, node in walk(exponent)]
    whole = all(node.value.is_integer() for node in nodes if isinstance(node, Number))
    return whole and all(node.op in ("add", "sub", "mul", "neg") for node in nodes if isinstance(node, Apply))


def _size(interval: Interval, column: FloatArray | float) -> FloatArray:
    """Return what a relative move of an input is relative to: its size, or its range where that is wider."""
    return np.maximum(np.abs(column), interval.high - interval.low)


def within_reach(
    made: Skeleton,
    columns: Columns,
    domain: Domain,
    *,
    spend: Callable[[int], None],
    touching: bool = False,
) -> BoolArray:
    """Return a mask of points so near to one of the submission's surfaces that a constant could move it.

    Moving one constant by 1e-6 of itself would put the point on the other side, so that what the submission
    gives there does not tell it from the truth. But a constant reaches no further than ``LEVER`` times what
    1e-6 of an input does: where a surface hangs on the last digits of a large number, as in
    ``exp(1e-5*x) - 1.0000125`` or ``x + 1e5 - 100001.3``, 1e-6 of that number would be half of the domain.

    Args:
        spend: is told of all work at fifty digits before it is done, and may raise.
        touching: whether points exactly on a surface are meant as well; they do tell, until a constant moves.
    """
    shape = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
    near: BoolArray = np.zeros(shape, dtype=np.bool_)
    everything = {**columns, **made.floats()}
    for surface in surfaces(made.tree, domain):
        own = [name for name in names(surface.tree) if name in made.constants]
        inputs = [name for name in names(surface.tree) if name in domain.intervals]
        if not own or not inputs:
            continue
        mentioned = {name: everything[name] for name in names(surface.tree)}
        value = evaluate_partial(surface.tree, mentioned)[0]
        slopes = gradient(surface.tree, mentioned, own)
        reach = MOVE * np.max(
            [np.abs(slopes[name]) * precise.to_float(made.sizes[name]) for name in own], axis=0
        )
        distance = np.abs(value - np.rint(value)) if surface.whole else np.abs(value)
        close = np.flatnonzero(np.broadcast_to(distance <= reach, shape))
        if not close.size:
            continue
        there = {k: v if np.ndim(v) == 0 else np.asarray(v)[close] for k, v in mentioned.items()}
        by_inputs = _moved_by_inputs(surface, there, {name: domain.intervals[name] for name in inputs})
        close = close[np.broadcast_to(distance, shape)[close] <= by_inputs]
        if not touching:
            spend(cost(surface.tree) * close.size)
            close = close[[not _touches(surface, made, mentioned, index) for index in close.tolist()]]
        near[close] = True
    return near


def _moved_by_inputs(surface: Surface, columns: Columns, inputs: Mapping[str, Interval]) -> FloatArray:
    """Return how much a surface's function changes within ``LEVER`` permitted moves of an input.

    Differences, not derivatives: these vanish where a surface is only touched, as at x = 0 in ``sin(x) - x``.
    """
    here = evaluate_partial(surface.tree, columns)[0]
    changes = []
    for name, interval in inputs.items():
        for side in (-LEVER, LEVER):
            moved = columns[name] + side * MOVE * _size(interval, columns[name])
            changes.append(np.abs(evaluate_partial(surface.tree, {**columns, name: moved})[0] - here))
    most: FloatArray = np.fmax.reduce(changes)
    return most


def _touches(surface: Surface, made: Skeleton, columns: Columns, index: int) -> bool:
    """Whether a point lies on a surface at fifty digits; in float64, 3·0.3333333333333333 is 1."""
    point = {
        name: made.constants[name]
        if name in made.constants
        else precise.from_float(float(column))
        if np.ndim(column) == 0
        else precise.from_binary(float(np.asarray(column)[index]))
        for name, column in columns.items()
    }
    try:
        value = precise_values(surface.tree, point, 1)[0]
    except UndefinedError:  # only rounding to float64 made it defined
        return False
    distance = precise.wide_sub(value, precise.round_(value)) if surface.whole else value
    return abs(precise.to_float(distance)) <= _TOUCH
