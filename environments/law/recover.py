"""Can a player who has the right form get the constants back exactly?"""

from __future__ import annotations

from typing import Any

import numpy as np

from environments.law.definition import VARIANTS, Certificate, FloatArray, LawDefinition, Variant
from environments.law.fit import fit, hidden_names, tolerance_weights
from environments.law.oracle import observe, step_of
from environments.law.study import Study

DIGITS = 3
"""Significant digits to which fitted constants are rounded."""
PERTURBATION = 0.1
"""Relative displacement of the start from the truth, up and down in turn."""


def recoverable(study: Study, definition: LawDefinition) -> Certificate:
    """Sixteen preset readings and least squares from a perturbed start give every constant back.

    Fitted constants are rounded to three significant digits and must equal the truth: the hidden
    parameters in the original, these and the corrections in the counterfactual.
    """
    if definition.noise > 0:
        message = "readings with noise give no constant back exactly"
        return Certificate(name="recoverable", passed=False, message=message)
    values: dict[str, Any] = {}
    lost: list[str] = []
    for variant in VARIANTS:
        for name, (truth, found) in recovered(definition, variant).items():
            values[f"{name} ({variant})"] = found
            if found != truth:
                lost.append(f"{name} = {truth:.6g} comes back as {found:.6g} in the {variant}")
    return Certificate(name="recoverable", passed=not lost, values=values, message="; ".join(lost))


def recovered(definition: LawDefinition, variant: Variant) -> dict[str, tuple[float, float]]:
    """Return (truth, fitted and rounded) of every constant that a player of this twin must find."""
    roles = ("hidden",) if variant == "original" else ("hidden", "correction")
    truth = definition.constant_values(variant)
    names = hidden_names(definition, roles)
    if not names:
        return {}
    columns = definition.columns(definition.design)
    readings = observe(definition, columns, variant)
    start = {
        name: truth[name] * (1 + (PERTURBATION if index % 2 == 0 else -PERTURBATION))
        for index, name in enumerate(names)
    }
    fitted = fit(definition, variant, columns, readings, weights=_noise(definition, readings), free=start)
    return {name: (truth[name], float(f"{fitted[name]:.{DIGITS}g}")) for name in names}


def _noise(definition: LawDefinition, readings: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Weigh each reading by its rounding step, which is all its noise; by its tolerance if exact."""
    weights = tolerance_weights(definition, readings)
    for item in definition.observables:
        step = step_of(item, readings[item.name])
        if step is not None:
            weights[item.name] = np.asarray(step, dtype=np.float64)
    return weights
