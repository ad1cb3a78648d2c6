"""Free every exponent and rate of a model and fit them to the readings, from where the library has them.

A library holds a few exponents only, and textbooks prefer them; a law with the exponent 2.3 must not be
harder to find than one with the exponent 2. So the better models of a library are only where a fit of all
their numbers starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cards.evaluate import evaluate_partial
from cards.expression import Apply, Number, Tree, bind
from cards.gradient import gradient
from evaluation.players.regression import Fit, FloatArray, Readings

_STEPS = 40
"""Evaluations of a model that one refinement may cost."""
_FAR = 1e6
"""The error, in tolerances, of a model where it is undefined, and the largest that counts."""
_IDLE = 1e-7
"""Directions in which the numbers of a model hardly move it, as a share of the strongest, fit nothing."""
_STALLED = 1e-3
"""A fit that gets better by no more than this share in a step has stalled."""
SPARE = 1
"""Readings that a model must leave over."""


@dataclass(frozen=True)
class Model:
    """A tree over the inputs and free names, and the values from which its fit starts."""

    tree: Tree
    start: Mapping[str, float]

    def fixed(self) -> Tree:
        """Return the tree with its numbers as they stand at the start."""
        return settled(self.tree, self.start)


def refined(model: Model, readings: Readings) -> Fit:
    """Fit all free numbers of a model by least squares in tolerances.

    Returns:
        The fitted tree and its largest error at a reading that the fit did not see, estimated from the
        hat matrix of the linearised model; infinite where there are too few readings to tell.
    """
    from scipy.optimize import least_squares

    names = list(model.start)
    if len(names) + SPARE > len(readings.values):
        return Fit(model.fixed(), np.inf)

    def columns(numbers: FloatArray) -> dict[str, FloatArray | float]:
        return {**readings.inputs, **dict(zip(names, map(float, numbers), strict=True))}

    def errors(numbers: FloatArray) -> FloatArray:
        values, defined = evaluate_partial(model.tree, columns(numbers))
        with np.errstate(over="ignore"):
            found = np.where(defined, (values - readings.values) / readings.scale, _FAR)
        return np.asarray(np.clip(found, -_FAR, _FAR), dtype=np.float64)

    def slopes(numbers: FloatArray) -> FloatArray:
        by = gradient(model.tree, columns(numbers), names)
        with np.errstate(all="ignore"):
            matrix = np.column_stack([by[name] / readings.scale for name in names])
        return np.nan_to_num(matrix, nan=0.0, posinf=_FAR, neginf=-_FAR)

    start = np.array([model.start[name] for name in names])
    solved = least_squares(errors, start, slopes, method="lm", x_scale="jac", max_nfev=_STEPS, ftol=_STALLED)
    tree = settled(model.tree, dict(zip(names, map(float, solved.x), strict=True)))
    return Fit(tree, left_out(np.asarray(solved.jac), np.asarray(solved.fun)))


def left_out(part: FloatArray, residual: FloatArray) -> float:
    """Return the largest error at a reading that a linear fit did not see, from the hat matrix.

    Args:
        part: shape (readings, free numbers).
    """
    lengths = np.linalg.norm(part, axis=0)
    basis, sizes, _ = np.linalg.svd(part / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    leverage = np.sum(basis[:, sizes > _IDLE * sizes[0]] ** 2, axis=1)
    return float(np.max(np.abs(residual) / np.maximum(1.0 - leverage, 1e-9)))


def settled(tree: Tree, numbers: Mapping[str, float]) -> Tree:
    """Bind the free names, and drop exponents and factors of one."""
    return _plain(bind(tree, numbers))


def _plain(tree: Tree) -> Tree:
    if not isinstance(tree, Apply):
        return tree
    args = tuple(_plain(argument) for argument in tree.args)
    if tree.op == "pow" and args[1] == Number(1.0):
        return args[0]
    if tree.op == "mul" and Number(1.0) in args:
        kept = [argument for argument in args if argument != Number(1.0)] or [Number(1.0)]
        return kept[0] if len(kept) == 1 else Apply("mul", tuple(kept))
    return Apply(tree.op, args)
