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
from typing import Any, Literal

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
_FINE = 1e-7  # singular values below this share hang on digits that float64 may not have; so many constants
_MOST_PRECISE = 16  # at most may have theirs at fifty digits


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
    reference scale x_0 in (x/x_0)^p, a minimal step shares it out. The steps are found on a few points more
    than there are constants; all points then have their say.

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
    inverse = _inverse(made, sample)
    size, dull = _largest(left), 0
    moved = np.zeros(len(present))
    for step in range(evaluations):
        if size < AGREEMENT:
            return Fit(size, _largest(moved), "agrees", present, step)
        if dull == 2 or step == _MOST_STEPS or _largest(moved) > _ASTRAY:
            return Fit(size, _largest(moved), "stuck", present, step)
        present = made.shifted(present, -(inverse @ left))
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


def _inverse(made: Skeleton, sample: Sample) -> FloatArray:
    """Return the smallest relative moves of the p constants that make each of m differences; shape (p, m)."""
    everything = {**sample.points.floats, **made.floats()}
    with np.errstate(all="ignore"):
        slopes = made.slopes(made.tree, everything, list(made.constants))
    strong, (left, sizes, right) = _decomposed(slopes, sample)
    if sizes[-1] < _FINE * sizes[0] and len(made.constants) <= _MOST_PRECISE:
        try:
            slopes = made.precise_slopes(sample.raw, len(sample))
            strong, (left, sizes, right) = _decomposed(slopes, sample)
        except UndefinedError:
            pass  # beside the point, where float64 has to do
    works = sizes > _RANK * sizes[0]
    moves: FloatArray = (right[works].T / sizes[works]) @ left[:, works].T
    return moves * sample.scale.weight / strong[:, None]


def _decomposed(slopes: FloatArray, sample: Sample) -> tuple[FloatArray, Any]:
    """Return the largest slope of each constant, 1 at least, and the singular values of slopes over these.

    A constant of 1e24 times its neighbours' influence, as the 1 of 1 - cos(1e-12*x), would leave them no
    digits.
    """
    with np.errstate(all="ignore"):
        slopes = np.nan_to_num(slopes / sample.scale.typical[:, None], nan=0.0, posinf=0.0, neginf=0.0)
    strong = np.maximum(1.0, np.abs(slopes).max(axis=0, initial=0.0))
    return strong, np.linalg.svd(slopes / strong, full_matrices=False)
