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
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cards.operators import FloatArray
from cards.precise import Real
from cards.probe import IntArray, Sample, UndefinedError
from cards.skeleton import Skeleton

AGREEMENT = 1e-30
"""Largest relative difference between trees that are the same function."""
_MOST_STEPS = 10  # steps that still shrink then, do so too slowly to end anywhere near
_FEWEST = 24  # points on which a refit looks for its steps …
_MORE = 12  # … and how many more than constants
_ASTRAY = 1e-4  # a constant that moved this far will not come back to within 1e-6
_SHRINK = 0.3  # a step that leaves more of the difference than this, twice running, leads nowhere
_RANK = 1e-14  # singular values below this share of the largest are rounding
_NO_SHARE = 1e-20  # of a constant that makes no difference at all


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
    constants: Mapping[str, Real]
    steps: int


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
        present = made.shifted(present, linear.moves(left))
        moved = made.moved(present)
        try:
            left = sample.differences(made.tree, present)
        except UndefinedError:  # no point lies within a permitted move of where the submission ends
            return Fit(size, _largest(moved), "stuck", present, step)
        before, size = size, _largest(left)
        dull = dull + 1 if size > _SHRINK * before else 0
    return Fit(size, _largest(moved), "work", present, evaluations)


def _largest(values: FloatArray) -> float:
    return float(np.max(np.abs(values), initial=0.0))


@dataclass(frozen=True, slots=True)
class _Linear:
    """How small relative moves of the p constants act on the differences at m points.

    Attributes:
        inverse: shape (p, m), from differences to the smallest moves that make them.
        works: shape (p, k), orthonormal directions of moves that make a difference.
    """

    inverse: FloatArray
    works: FloatArray

    @classmethod
    def at(cls, made: Skeleton, sample: Sample) -> _Linear:
        """Take derivatives where the constants are."""
        with np.errstate(all="ignore"):
            everything = {**sample.points.floats, **made.floats()}
            slopes = made.slopes(made.tree, everything, list(made.constants))
            slopes /= sample.scale.typical[:, None]
        jacobian = np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0)
        left, sizes, right = np.linalg.svd(jacobian, full_matrices=False)
        enough = sizes > _RANK * sizes[0]
        works = right[enough].T
        return cls((works / sizes[enough]) @ left[:, enough].T * sample.scale.weight, works)

    def moves(self, wrong: FloatArray) -> FloatArray:
        """Return the smallest moves that undo the strict differences."""
        return -(self.inverse @ wrong)

    def most(self, moved: FloatArray) -> float:
        """Return the largest move that any constant makes when the others keep as still as they can.

        That is the move left out of a least-squares fit: what remains of ``moved`` outside the directions
        that make no difference, over the share of the constant that lies outside them.
        """
        share = np.sum(self.works**2, axis=1)
        alone = np.divide(
            self.works @ (self.works.T @ moved), share, out=np.zeros_like(share), where=share > _NO_SHARE
        )
        return max(_largest(moved), _largest(alone))
