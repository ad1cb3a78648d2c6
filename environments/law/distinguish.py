"""Can the twins be told apart by what a player can read? Both ways, and against a refit.

Source: arXiv 2610.37919, section 3.2 (each relation fails the prediction evaluation of its
counterpart); the thresholds are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from environments.law.definition import Certificate, FloatArray, LawDefinition, Variant
from environments.law.fit import COARSE, fit, hidden_names, tolerance_weights
from environments.law.oracle import observe, quantise_all
from environments.law.study import Study

LARGE = 2.4
"""A normalised error that counts as a clear failure: the promised two, with room for another's refit."""
SHARE = 0.5
"""Share of the hidden inputs at which the error must be large."""
DESIGN_BUDGETS = {1: 1, 2: 2, 4: 3}
"""Preset experiments, and at how many of them the error must be large."""

_BOTH: tuple[tuple[Variant, Variant], ...] = (("original", "counterfactual"), ("counterfactual", "original"))


def distinguishable(study: Study, definition: LawDefinition) -> Certificate:
    """Each relation fails as a predictor of the other twin, on hidden inputs and on the preset design."""
    values: dict[str, Any] = {}
    good = True
    for predictor, world in _BOTH:
        counts = _counts(definition, predictor, world, {})
        values[f"{predictor}_on_{world}"] = counts
        good = good and _clear(counts)
    return Certificate(name="distinguishable", passed=good, values=values)


def structural(study: Study, definition: LawDefinition) -> Certificate:
    """The same holds after a refit of every hidden parameter of the predictor's relation.

    The refit is least squares in normalised errors on the hidden inputs; the correction's strength is
    what makes the form, and stays. A change of coefficients alone is parametric by name.
    """
    if all(mutation.kind == "coefficient" for mutation in definition.mutations):
        message = "a change of coefficients alone is parametric"
        return Certificate(name="structural", passed=False, message=message)
    values: dict[str, Any] = {}
    for predictor, world in _BOTH:
        for label, fitted in _refits(definition, predictor, world).items():
            counts = _counts(definition, predictor, world, fitted)
            values[f"{predictor}_on_{world}{label}"] = {**counts, "fitted": fitted}
            if not _clear(counts):
                message = "a refit of hidden parameters hides the difference"
                return Certificate(name="structural", passed=False, values=values, message=message)
    return Certificate(name="structural", passed=True, values=values)


def _refits(definition: LawDefinition, predictor: Variant, world: Variant) -> dict[str, dict[str, float]]:
    """Return the least-squares fit and, where it takes a constant through zero, the best that does not."""
    values = definition.constant_values(predictor)
    free = {name: values[name] for name in hidden_names(definition, ("hidden",))}
    if not free:
        return {"": {}}
    columns = definition.columns(definition.eval_inputs)
    readings = observe(definition, columns, world)
    weights = tolerance_weights(definition, readings)
    given = (definition, predictor, columns, readings)
    fits = {"": fit(*given, weights=weights, free=free, tolerance=COARSE)}
    if any(fits[""][name] * start < 0 for name, start in free.items()):
        kept = fit(*given, weights=weights, free=free, tolerance=COARSE, keep_signs=True)
        fits["_keeping_signs"] = kept
    return fits


def _counts(
    definition: LawDefinition, predictor: Variant, world: Variant, fitted: Mapping[str, float]
) -> dict[str, Any]:
    hidden = _errors(definition, definition.columns(definition.eval_inputs), (predictor, world), fitted)
    design = _errors(definition, definition.columns(definition.design), (predictor, world), fitted)
    return {
        "share": float(np.mean(hidden > LARGE)),
        "max_e": float(np.max(hidden)),
        "design": {str(b): int(np.sum(design[:b] > LARGE)) for b in (1, 2, 4, 8, 16)},
    }


def _clear(counts: Mapping[str, Any]) -> bool:
    enough = all(counts["design"][str(budget)] >= least for budget, least in DESIGN_BUDGETS.items())
    return enough and counts["share"] >= SHARE and counts["max_e"] > LARGE


def _errors(
    definition: LawDefinition,
    columns: Mapping[str, FloatArray],
    pair: tuple[Variant, Variant],
    fitted: Mapping[str, float],
) -> FloatArray:
    """Return the largest normalised error over the observables at each point, both sides quantised."""
    predictor, world = pair
    read = observe(definition, columns, world)
    exact = definition.respond(columns, predictor, fitted)
    worst = np.zeros(len(next(iter(columns.values()))))
    for item in definition.observables:
        predicted = quantise_all(exact[item.name], item)
        scale = definition.scale_of_error(item, read[item.name])
        worst = np.maximum(worst, np.abs(predicted - read[item.name]) / scale)
    return worst
