"""Least squares over the constants of a law, with everything else held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.optimize import least_squares

from cards.errors import ExpressionError
from cards.evaluate import evaluate
from environments.law.definition import FloatArray, LawDefinition, Variant

_UNDEFINED = 1e8
"""Residual where the relation is undefined: worse than any honest misfit, and finite."""
_FAR = 8.0
"""Logarithm of the largest factor by which a constant moves when signs are kept."""
FINE, COARSE = 1e-10, 1e-5
"""Relative change of cost or constants at which a fit stops: for recovering constants, for a misfit."""

Responses = Mapping[str, FloatArray]


def fit(
    definition: LawDefinition,
    variant: Variant,
    columns: Responses,
    readings: Responses,
    *,
    weights: Responses,
    free: Mapping[str, float],
    tolerance: float = FINE,
    keep_signs: bool = False,
) -> dict[str, float]:
    """Fit the constants ``free`` (name to start value) of one twin's relation to readings.

    Args:
        columns: inputs, arrays of shape (n,).
        readings: what was read of each observable, shape (n,).
        weights: the size of a residual of one, shape (n,), by observable.
        tolerance: when to stop, ``FINE`` or ``COARSE``.
        keep_signs: fit logarithms, so that no constant passes zero.

    Returns:
        The fitted values by name. Deterministic.
    """
    names = list(free)
    start = np.array([free[name] for name in names])
    unit = np.where(start == 0, 1.0, np.abs(start))
    fixed: dict[str, FloatArray | float] = dict(columns)
    fixed |= definition.constant_values(variant) | definition.told_values()

    def moved(shift: FloatArray) -> dict[str, float]:
        where = start * np.exp(np.clip(shift, -_FAR, _FAR)) if keep_signs else start + unit * shift
        return dict(zip(names, (float(v) for v in where), strict=True))

    def residuals(shift: FloatArray) -> FloatArray:
        values = moved(shift)
        try:
            # A trial step may leave what a float can hold; it is clipped below like any other bad step.
            with np.errstate(over="ignore"):
                parts = [
                    (evaluate(tree, {**fixed, **values}) - readings[name]) / weights[name]
                    for name, tree in definition.relations.items()
                ]
        except ExpressionError:
            return np.full(sum(len(column) for column in readings.values()), _UNDEFINED)
        return np.clip(np.concatenate(parts), -_UNDEFINED, _UNDEFINED)

    return moved(_solve(residuals, len(names), tolerance))


def _solve(residuals: Callable[[FloatArray], FloatArray], count: int, tolerance: float) -> FloatArray:
    solution = least_squares(
        residuals,
        np.zeros(count),
        method="lm",
        xtol=tolerance,
        ftol=tolerance,
        gtol=tolerance,
        max_nfev=60 * (count + 1),
    )
    return np.asarray(solution.x, dtype=np.float64)


def tolerance_weights(definition: LawDefinition, readings: Responses) -> dict[str, FloatArray]:
    """Return a_r + λ|g| at each reading, so that a residual of one is a normalised error of one."""
    scale = definition.scale_of_error
    return {item.name: scale(item, readings[item.name]) for item in definition.observables}


def hidden_names(definition: LawDefinition, roles: Sequence[str]) -> list[str]:
    """Return the names of the constants that have one of the roles."""
    return [item.name for item in definition.constants if item.role in roles]
