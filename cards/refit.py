"""The second step of equality: can the submission's own constants be moved, a little, onto the truth?

A constant that was rounded, folded or converted differs from the truth's in the last digits, and moving
it by less than 1e-6 of itself makes the difference vanish at fifty digits. An approximation, however
close, has no such constants: its difference stays.

The moves come from least squares in float64, the differences from fifty digits. The derivatives are taken
once: within 1e-6 they hardly change, so each step shrinks a difference that can be shrunk by many orders,
and a difference that is not shrunk is there to stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from mpmath import libmp

from cards import precise
from cards.domain import Domain
from cards.evaluate import evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, names
from cards.gradient import gradient
from cards.operators import BoolArray, FloatArray
from cards.pieces import surfaces
from cards.precise import PRECISION, Raw
from cards.probe import IntArray, Sample, UndefinedError, precise_values

MOVE = 1e-6
"""How far a constant may move, relative to itself (laws of equality: 9.81 and 9.810 agree, 9.8 does not)."""
AGREEMENT = 1e-30
"""Largest relative difference between trees that are the same function."""
_MOST_STEPS = 10  # steps that still shrink then, do so too slowly to end anywhere near
_FEWEST, _MORE = (
    24,
    12,
)  # points on which a refit looks for its steps: this many, and so many more than constants
_ASTRAY = 1e-4  # a constant that moved this far will not come back to within 1e-6
_SHRINK = 0.3  # a step that leaves more of the difference than this, twice running, leads nowhere
_TAKES_PART = 1e-6
_RANK = 1e-14  # singular values below this share of the largest are rounding


@dataclass(slots=True)
class Skeleton:
    """A tree whose own constants are variables named ``#0``, ``#1``, …, and their values."""

    tree: Tree
    constants: dict[str, Raw] = field(default_factory=dict)

    def floats(self) -> dict[str, float]:
        """Return the constants as float64."""
        return {name: precise.to_float(value) for name, value in self.constants.items()}


@dataclass(frozen=True, slots=True)
class Fit:
    """Where the refit ended.

    Attributes:
        difference: largest relative difference left.
        moved: largest move of a constant, relative to itself.
        ended: no more work was allowed although the difference still shrank ("work"), or not.
        constants: their values at the end.
        steps: how many were made.
    """

    difference: float
    moved: float
    ended: Literal["agrees", "stuck", "work"]
    constants: Mapping[str, Raw]
    steps: int


def skeleton(tree: Tree) -> Skeleton:
    """Free a tree's constants.

    Constants that only act together are one: ``2*pi*x/3`` has one constant, sub-trees without variables are
    evaluated first, and equal sub-trees share their constants. Names stay what they are, told parameters
    included. Held fixed are zero, a factor of ±1, and whole exponents.
    """
    made = Skeleton(Number(0.0))
    made.tree = _Freeing(made.constants).tree(tree)
    return made


class _Freeing:
    """One pass over a tree that splits each node into a constant factor and a rest."""

    def __init__(self, constants: dict[str, Raw]) -> None:
        self.constants = constants
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

    def constant(self, value: Raw) -> Tree:
        if not value[1]:
            return Number(0.0)
        name = f"#{len(self.constants)}"
        self.constants[name] = value
        return Variable(name)

    def split(self, node: Tree) -> tuple[Raw, Tree | None]:
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
            return precise.ONE, self.sum(node)
        if node.op == "pow" and _whole(node.args[1]):
            args: tuple[Tree, ...] = (self.tree(node.args[0]), node.args[1])
        else:
            args = tuple(self.tree(argument) for argument in node.args)
        return precise.ONE, Apply(node.op, args)

    def sum(self, node: Apply) -> Tree:
        """Free a sum's terms; the terms without variables are one constant."""
        constant, rests = precise.ZERO, list[Tree]()
        for sign, term in _terms(node):
            if names(term):
                rests.append(self.tree(term if sign > 0 else Apply("neg", (term,))))
            else:
                value = precise_values(term, {}, 1)[0]
                constant = precise.add(constant, value if sign > 0 else precise.neg(value))
        if constant[1]:
            rests.append(self.constant(constant))
        return rests[0] if len(rests) == 1 else Apply("add", tuple(rests))

    def product(self, node: Apply) -> tuple[Raw, Tree | None]:
        parts = [self.split(argument) for argument in node.args]
        factor = precise.mul(*(part[0] for part in parts))
        rests: list[Tree] = []
        for _, rest in parts:
            if isinstance(rest, Apply) and rest.op == "mul":
                rests.extend(rest.args)
            elif rest is not None:
                rests.append(rest)
        return factor, rests[0] if len(rests) == 1 else Apply("mul", tuple(rests))

    def quotient(self, node: Apply) -> tuple[Raw, Tree | None]:
        above, numerator = self.split(node.args[0])
        below, denominator = self.split(node.args[1])
        factor = precise.div(above, below)
        if factor is None:
            raise UndefinedError(0)
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
    return isinstance(exponent, Number) and exponent.value.is_integer()


def within_reach(
    made: Skeleton, columns: Mapping[str, FloatArray | float], domain: Domain, *, touching: bool = False
) -> BoolArray:
    """Return a mask of points so near to one of the submission's surfaces that a constant could move it.

    Moving one constant by 1e-6 of itself would put the point on the other side, so that what the submission
    gives there does not tell it from the truth.

    Args:
        touching: whether points exactly on a surface are meant as well; they do tell, until a constant moves.
    """
    shape = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
    near: BoolArray = np.zeros(shape, dtype=np.bool_)
    everything = {**columns, **made.floats()}
    for surface in surfaces(made.tree, domain):
        own = [name for name in names(surface.tree) if name in made.constants]
        if not own:
            continue
        value = evaluate_partial(surface.tree, everything)[0]
        slopes = gradient(surface.tree, everything, own)
        reach = MOVE * np.max([np.abs(slopes[name] * everything[name]) for name in own], axis=0)
        distance = np.abs(value - np.rint(value)) if surface.whole else np.abs(value)
        near |= (distance <= reach) & (touching | (distance > 0))
    return near


def refit(made: Skeleton, sample: Sample, work: int) -> Fit:
    """Move the constants towards the truth from their present values, in minimal steps.

    Moves are relative to each constant. Where several constants can do the same work, as a factor and a
    reference scale x_0 in (x/x_0)^p, a minimal step shares it out; then each of them must be able to do it
    alone, or a wrong constant could hide behind the others. The steps are found on a few points more than
    there are constants; all points then have their say.

    Args:
        sample: more points than constants, none within reach of the submission's surfaces.
        work: how often the submission may be evaluated at one point.

    Raises:
        UndefinedError: the submission is undefined at a point with its present constants.
    """
    few = sample.take(_spread(len(sample), max(_FEWEST, len(made.constants) + _MORE)))
    fit = _fit(made, few, (work - len(sample)) // len(few))
    if fit.ended != "agrees" or len(few) == len(sample):
        return fit
    left = _largest(sample.differences(made.tree, fit.constants))
    if left < AGREEMENT:
        return replace(fit, difference=left)
    return _fit(made, sample, work // len(sample) - fit.steps - 1)


def _spread(count: int, wanted: int) -> IntArray:
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.intp))


def _fit(made: Skeleton, sample: Sample, evaluations: int) -> Fit:
    if evaluations < 2:
        return Fit(math.inf, 0.0, "work", made.constants, 0)
    present = made.constants
    left = sample.differences(made.tree, present)
    linear = _Linear.at(made, sample)
    size, dull = _largest(left), 0
    moved = np.zeros(len(present))
    for step in range(evaluations):
        if size < AGREEMENT:
            return Fit(size, linear.most(moved), "agrees", present, step)
        if dull == 2 or step == _MOST_STEPS or _largest(moved) > _ASTRAY:
            return Fit(size, _largest(moved), "stuck", present, step)
        present = _shifted(present, linear.moves(left))
        moved = _moved(made.constants, present)
        try:
            left = sample.differences(made.tree, present)
        except UndefinedError:  # no point lies within a permitted move of where the submission ends
            return Fit(size, _largest(moved), "stuck", present, step)
        before, size = size, _largest(left)
        dull = dull + 1 if size > _SHRINK * before else 0
    return Fit(size, _largest(moved), "work", present, evaluations)


def _shifted(constants: Mapping[str, Raw], moves: FloatArray) -> dict[str, Raw]:
    pairs = zip(constants.items(), moves.tolist(), strict=True)
    return {
        name: precise.mul(value, precise.add(precise.ONE, precise.from_binary(move)))
        for (name, value), move in pairs
    }


def _largest(values: FloatArray) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def _moved(before: Mapping[str, Raw], after: Mapping[str, Raw]) -> FloatArray:
    """Return how far each constant has moved, relative to where it was."""
    ratios = (libmp.mpf_div(after[name], value, PRECISION, "n") for name, value in before.items())
    return np.array([precise.to_float(precise.sub(ratio, precise.ONE)) for ratio in ratios])


@dataclass(frozen=True, slots=True)
class _Linear:
    """How small relative moves of the p constants act on the differences at m points.

    Attributes:
        inverse: shape (p, m), from differences to the smallest moves that make them.
        idle: shape (p, k), directions of moves that make no difference.
    """

    inverse: FloatArray
    idle: FloatArray

    @classmethod
    def at(cls, made: Skeleton, sample: Sample) -> _Linear:
        """Take derivatives where the constants are."""
        everything = {**sample.points.floats, **made.floats()}
        slopes = gradient(made.tree, everything, made.constants)
        scale = sample.scale.typical
        with np.errstate(all="ignore"):
            columns = [slopes[name] * everything[name] / scale for name in made.constants]
        jacobian = np.nan_to_num(np.stack(columns, axis=-1), nan=0.0, posinf=0.0, neginf=0.0)
        left, sizes, right = np.linalg.svd(jacobian, full_matrices=False)
        works = sizes > _RANK * sizes[0]
        inverse = (right[works].T / sizes[works]) @ left[:, works].T
        return cls(inverse * sample.scale.weight, right[~works].T)

    def moves(self, wrong: FloatArray) -> FloatArray:
        """Return the smallest moves that undo the strict differences."""
        return -(self.inverse @ wrong)

    def most(self, moved: FloatArray) -> float:
        """Return the largest move that any constant makes when the others keep as still as they can."""
        most = _largest(moved)
        for i in np.flatnonzero(np.abs(self.idle).max(axis=1, initial=0.0) > _TAKES_PART):
            others = np.delete(self.idle, i, axis=0)
            back = np.linalg.lstsq(others, -np.delete(moved, i), rcond=None)[0]
            most = max(most, abs(float(moved[i] + self.idle[i] @ back)))
        return most
