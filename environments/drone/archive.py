"""Draw an archive: flights of others, their designs chosen by habit, kept by design and outcome."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cards.errors import InputError
from environments.drone.components import FILTER, MAX_DEF, MODULES
from environments.drone.engine import Columns, FloatArray, Value
from environments.drone.scenario import Archive, Champion, Habit, ModuleHabit, Selection, Sign
from environments.drone.template import Template
from environments.seeding import derive, generator

BATCH = 400
MOST_BATCHES = 200
MOST_ATTEMPTS = 1000


def draw_archive(
    template: Template,
    archive: Archive,
    defaults: Mapping[str, float],
    parameters: Mapping[str, Value],
    seed: bytes,
) -> Columns:
    """Return the kept flights: every design variable, equation and ``kept_seed`` column, size rows.

    Raises:
        InputError: when the selection keeps so few flights that the archive does not fill.
    """
    wanted = (*template.model.design, *template.model.parents)
    found: list[Columns] = []
    count = 0
    for number in range(MOST_BATCHES):
        batch_seed = derive(seed, "batch", str(number))
        design = _designs(template, archive, defaults, parameters, batch_seed)
        flights = template.model.simulate(design, BATCH, batch_seed, parameters=parameters, wanted=wanted)
        rng = generator(derive(batch_seed, "keeping"))
        kept = rng.random(BATCH) < _keeping(archive.selection, flights)
        found.append({name: values[kept] for name, values in flights.items()})
        count += int(kept.sum())
        if count >= archive.size:
            return {name: np.concatenate([part[name] for part in found])[: archive.size] for name in wanted}
    raise InputError("the archive's selection keeps too few flights.", "Make it less strict.")


def shows(archive: Archive, flights: Columns) -> bool:
    """Return whether an archive shows every sign that its scenario asks for."""
    return all(item.sign * measure(item, flights) > item.margin for item in archive.signs)


def measure(sign: Sign, flights: Columns) -> float:
    """Return the correlation or difference that a sign speaks of; NaN where it is not defined."""
    chosen = (
        np.ones(len(flights["survived"]), dtype=bool) if sign.within is None else flights[sign.within] > 0
    )
    column, outcome = flights[sign.column][chosen], flights["survived"][chosen]
    if len(column) < 2 or np.ptp(column) == 0 or (sign.measure == "correlation" and np.ptp(outcome) == 0):
        return float("nan")
    if sign.measure == "correlation":
        return float(np.corrcoef(column, outcome)[0, 1])
    return float(outcome[column > 0].mean() - outcome[column == 0].mean())


def find_archive(
    template: Template,
    archive: Archive,
    defaults: Mapping[str, float],
    parameters: Mapping[str, Value],
    seed: bytes,
) -> int:
    """Return the number of the first attempt whose archive shows what it must; the first is 1.

    Raises:
        InputError: when none of many does.
    """
    for attempt in range(1, MOST_ATTEMPTS + 1):
        flights = draw_archive(template, archive, defaults, parameters, attempt_seed(seed, attempt))
        if shows(archive, flights):
            return attempt
    raise InputError(f"no archive of {MOST_ATTEMPTS} shows the required signs.", "Ask for weaker signs.")


def attempt_seed(seed: bytes, attempt: int) -> bytes:
    """Return the seed of one attempt at an archive."""
    return derive(seed, "archive", str(attempt))


def _designs(
    template: Template,
    archive: Archive,
    defaults: Mapping[str, float],
    parameters: Mapping[str, Value],
    seed: bytes,
) -> Columns:
    """Return the designs of one batch, chosen by people who knew the conditions."""
    rng = generator(derive(seed, "designs"))
    habits = {habit.part: habit for habit in archive.habits}
    conditions = {item.when for item in (*archive.habits, archive.modules) if item and item.when}
    known = template.model.simulate({}, BATCH, seed, parameters=parameters, wanted=sorted(conditions))
    design: Columns = {}
    for part in template.parts:
        if part.name in habits:
            values = _by_habit(habits[part.name], known, rng)
        elif archive.others is not None and part.name != "shield":
            values = rng.uniform(*archive.others, BATCH)
        else:
            values = defaults[part.name] * rng.uniform(0.6, 1.4, BATCH)
        design[part.name] = np.clip(np.round(values, 1), 0.0, MAX_DEF)
    if template.modules:
        assert archive.modules is not None
        design["module"] = _modules(archive.modules, known, rng)
    if archive.champion is not None:
        _crown(archive.champion, design, rng)
    return design


def _by_habit(habit: Habit, known: Columns, rng: np.random.Generator) -> FloatArray:
    values = _mixture(habit.ranges, rng)
    if habit.when is None:
        return values
    return np.where(known[habit.when] > 0, values, _mixture(habit.otherwise, rng))


def _mixture(ranges: tuple[tuple[float, float], ...], rng: np.random.Generator) -> FloatArray:
    edges = np.array(ranges)[rng.integers(0, len(ranges), BATCH)]
    drawn: FloatArray = edges[:, 0] + (edges[:, 1] - edges[:, 0]) * rng.random(BATCH)
    return drawn


def _modules(habit: ModuleHabit, known: Columns, rng: np.random.Generator) -> FloatArray:
    share: FloatArray | float = habit.filter_share
    if habit.when is not None:
        share = np.where(known[habit.when] > 0, habit.filter_share, habit.otherwise)
    # Among the five modules the filter is the last; the others share the rest alike.
    others = rng.integers(1, len(MODULES), BATCH)
    return np.where(rng.random(BATCH) < share, FILTER, others).astype(np.float64)


def _crown(champion: Champion, design: Columns, rng: np.random.Generator) -> None:
    chosen = rng.random(BATCH) < champion.share
    design["module"] = np.where(chosen, 1 + MODULES.index(champion.module), design["module"]).astype(
        np.float64
    )
    for part, edges in champion.ranges.items():
        design[part] = np.where(chosen, np.round(rng.uniform(*edges, BATCH), 1), design[part])


def _keeping(selection: Selection | None, flights: Columns) -> FloatArray:
    """Return the probability with which each flight is kept."""
    outcome = flights["survived"]
    if selection is None:
        return np.ones(len(outcome))
    t = np.zeros(len(outcome))
    if selection.part is not None:
        span = selection.high - selection.low
        t = np.clip((flights[selection.part] - selection.low) / span, 0, 1)
    (base, slope), (base_lost, slope_lost) = selection.survived, selection.lost
    rho = np.where(outcome > 0, base + slope * t, base_lost + slope_lost * t)
    for names, factor in selection.thinned:
        together = np.all([flights[name] > 0 for name in names], axis=0)
        rho = np.where(together, factor * rho, rho)
    return rho
