"""The best design of a scenario, found twice over the whole design space and confirmed by a fleet.

Source: arXiv 2607.04293, appendix C.4, equation 2: the largest expected survival of Stage 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from cards.errors import InputError
from environments.drone.components import MAX_DEF
from environments.drone.engine import FloatArray, Value
from environments.drone.flights import fly_out
from environments.drone.scenario import FamilyName
from environments.drone.template import TEMPLATES, Template
from environments.seeding import generator

AGREEMENT = 5e-4
"""Largest difference in survival between the two searches; a drone in two thousand."""
CONFIRMING_FLEET = 100_000
MOST_DEVIATIONS = 4.0
_STARTS = 6
_STEPS = 51
_SWEEPS = 12
_COSTLESS = 1e-9

Objective = Callable[[FloatArray], FloatArray]
"""Takes designs of shape (m, parts) and returns their survival, shape (m,)."""


@lru_cache(64)
def find_optimum(
    family: FamilyName, parameters: tuple[tuple[str, Value], ...], defaults: tuple[tuple[str, float], ...]
) -> tuple[dict[str, float], float]:
    """Return the best design (module index included) and its exact expected survival.

    A coordinate search from many starts and a differential evolution must find the same survival. Of
    equally good designs the one nearest to the default is told.

    Raises:
        InputError: when the two searches disagree.
    """
    template, bound = TEMPLATES[family], dict(parameters)
    best: tuple[float, dict[str, float]] = (-1.0, {})
    for module in range(len(template.modules) + 1):
        objective = _objective(template, bound, module)
        climbed = _climb(objective, len(template.parts), dict(defaults), template)
        evolved = _evolve(objective, len(template.parts))
        one, other = float(objective(climbed[None])[0]), float(objective(evolved[None])[0])
        if abs(one - other) > AGREEMENT:
            raise InputError(f"{family}: two searches find {one:.5f} and {other:.5f} with module {module}.")
        winner = climbed if one >= other - _COSTLESS else evolved
        if max(one, other) > best[0] + _COSTLESS:
            design = _tidy(objective, winner, dict(defaults), template)
            best = max(one, other), {**design, **({"module": float(module)} if template.modules else {})}
    return best[1], best[0]


def confirm(
    template: Template,
    design: Mapping[str, float],
    expected: float,
    parameters: Mapping[str, Value],
    seed: bytes,
) -> float:
    """Return the share that survives of 100,000 drones.

    Raises:
        InputError: when it lies 4 standard deviations or more from the expectation.
    """
    measured = fly_out(template, design, CONFIRMING_FLEET, parameters, seed)
    deviation = np.sqrt(max(expected * (1 - expected), 1e-12) / CONFIRMING_FLEET)
    if abs(measured - expected) >= MOST_DEVIATIONS * deviation:
        message = f"{CONFIRMING_FLEET} drones survive with {measured:.4f}, expected were {expected:.4f}."
        raise InputError(message, "The expectation and the simulation do not speak of the same model.")
    return measured


def expected_survival(
    template: Template, design: Mapping[str, float], parameters: Mapping[str, Value]
) -> float:
    """Return the exact expected survival of one design."""
    columns = {name: np.array([value]) for name, value in design.items()}
    return float(template.model.expectation(columns, parameters)[0])


def _objective(template: Template, parameters: Mapping[str, Value], module: int) -> Objective:
    def survival(designs: FloatArray) -> FloatArray:
        columns = {part.name: designs[:, at] for at, part in enumerate(template.parts)}
        if template.modules:
            columns["module"] = np.full(len(designs), float(module))
        return template.model.expectation(columns, parameters)

    return survival


def _climb(objective: Objective, size: int, defaults: Mapping[str, float], template: Template) -> FloatArray:
    """Return the best of several coordinate searches: a grid along each axis, then a finer one."""
    rng = generator(b"starts of the coordinate search")
    start = np.array([defaults[part.name] for part in template.parts])
    starts = np.concatenate([[start], rng.uniform(0, MAX_DEF, (_STARTS - 1, size))])
    ends = [_climb_from(objective, point) for point in starts]
    return ends[int(np.argmax(objective(np.array(ends))))]


def _climb_from(objective: Objective, start: FloatArray) -> FloatArray:
    point, reach = start.copy(), MAX_DEF
    value = float(objective(point[None])[0])
    for _ in range(_SWEEPS):
        before = value
        for axis in range(len(point)):
            trials = np.repeat(point[None], _STEPS, axis=0)
            trials[:, axis] = np.clip(point[axis] + np.linspace(-reach, reach, _STEPS), 0, MAX_DEF)
            found = objective(trials)
            if found.max() > value + _COSTLESS:
                point, value = trials[int(found.argmax())].copy(), float(found.max())
        if value <= before + 1e-7:
            if reach < 0.1:
                break
            reach /= 10
    return point


def _evolve(objective: Objective, size: int) -> FloatArray:
    """Return what a differential evolution finds: no axes, no grid, no gradient."""
    from scipy.optimize import differential_evolution

    found = differential_evolution(
        lambda columns: -objective(np.atleast_2d(columns.T)),
        [(0.0, MAX_DEF)] * size,
        rng=generator(b"differential evolution"),
        maxiter=200,
        popsize=8,
        tol=1e-8,
        atol=1e-6,
        mutation=(0.4, 0.9),
        recombination=0.9,
        init="latinhypercube",
        updating="deferred",
        vectorized=True,
        polish=False,
    )
    return np.asarray(found.x, dtype=np.float64)


def _tidy(
    objective: Objective, point: FloatArray, defaults: Mapping[str, float], template: Template
) -> dict[str, float]:
    """Return a design as good as ``point`` that leaves the default for few parts, by greedy choice."""
    best = float(objective(point[None])[0]) - 1e-6
    tidy = np.array([defaults[part.name] for part in template.parts])
    while float(objective(tidy[None])[0]) < best and not np.array_equal(tidy, point):
        trials = np.where(np.eye(len(point), dtype=bool), point, tidy)
        gains = np.where(tidy == point, -1.0, objective(trials))
        tidy = trials[int(np.argmax(gains))]
    for digits in (1, 0):
        rounded = np.round(tidy, digits)
        tidy = rounded if float(objective(rounded[None])[0]) >= best else tidy
    return {part.name: float(tidy[axis]) for axis, part in enumerate(template.parts)}
