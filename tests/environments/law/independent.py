"""A second opinion on a pair, sharing no code with the generator: units, values, readings and refits anew.

Only the definition's data are read. Units come straight from pint, values from a small table of NumPy
functions, points from SciPy's Sobol sequence, fits from SciPy in logarithms of the hidden parameters.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import numpy as np
import pint
from scipy.optimize import least_squares
from scipy.stats import qmc

from cards.expression import Number, Tree, Variable
from environments.law.definition import LawDefinition

Columns = Mapping[str, Any]
DENSE = 2048
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda *a: reduce(operator.add, a),
    "mul": lambda *a: reduce(operator.mul, a),
    "sub": operator.sub,
    "div": operator.truediv,
    "pow": lambda a, b: np.power(a, b),
    "neg": operator.neg,
    "min": lambda *a: reduce(np.minimum, a),
    "max": lambda *a: reduce(np.maximum, a),
    "mod": np.mod,
    "atan2": np.arctan2,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
}
_REGISTRY: Any = pint.UnitRegistry()
_ALIASES = {"": "dimensionless", "1": "dimensionless"}
Dimension = tuple[float, tuple[tuple[str, Fraction], ...]]
PLAIN: Dimension = (1.0, ())


def value(tree: Tree, columns: Columns) -> Any:
    """Evaluate a tree with plain NumPy."""
    if isinstance(tree, Number):
        return np.float64(tree.value)
    if isinstance(tree, Variable):
        return np.asarray(columns[tree.name], dtype=float)
    function = FUNCTIONS.get(tree.op) or getattr(np, tree.op)
    with np.errstate(all="ignore"):
        return function(*(value(argument, columns) for argument in tree.args))


@cache
def unit(text: str) -> Dimension:
    """Read a unit with pint alone: (scale, base exponents)."""
    quantity = _REGISTRY.Quantity(1.0, _ALIASES.get(text, text)).to_base_units()
    powers = sorted((str(k), Fraction(v).limit_denominator(64)) for k, v in quantity._units.items())
    return float(quantity.magnitude), tuple((k, p) for k, p in powers if k != "radian")


def times(one: Dimension, other: Dimension, power: Fraction = Fraction(1)) -> Dimension:
    """Return one · other^power."""
    powers = dict(one[1])
    for name, exponent in other[1]:
        powers[name] = powers.get(name, Fraction(0)) + exponent * power
    kept = tuple(sorted((name, exponent) for name, exponent in powers.items() if exponent))
    return one[0] * other[0] ** float(power), kept


def same(one: Dimension, other: Dimension) -> bool:
    """Whether two units agree in dimension and scale."""
    return one[1] == other[1] and math.isclose(one[0], other[0], rel_tol=1e-9)


def dimension(tree: Tree, units: Mapping[str, Dimension], exponents: Mapping[str, float]) -> Dimension:
    """Walk a tree; AssertionError where its units do not agree."""
    if isinstance(tree, Number):
        return PLAIN
    if isinstance(tree, Variable):
        return units[tree.name]
    args = [dimension(argument, units, exponents) for argument in tree.args]
    if tree.op in ("add", "sub", "min", "max", "mod", "abs", "neg"):
        assert all(same(args[0], other) for other in args[1:]), tree
        return args[0]
    if tree.op == "mul":
        return reduce(times, args)
    if tree.op == "div":
        return times(args[0], args[1], Fraction(-1))
    if tree.op in ("sqrt", "cbrt"):
        return times(PLAIN, args[0], Fraction(1, 2 if tree.op == "sqrt" else 3))
    if tree.op == "pow":
        assert same(args[1], PLAIN), tree
        if same(args[0], PLAIN):
            return PLAIN
        power = float(value(tree.args[1], exponents))
        return times(PLAIN, args[0], Fraction(power).limit_denominator(1000))
    assert all(same(found, PLAIN) for found in args), tree
    return PLAIN


def dense(known: LawDefinition, count: int = DENSE, seed: int = 2026) -> dict[str, Any]:
    """Return Sobol points of the domain that its constraints admit, and the ends of every input."""
    unit_points = qmc.Sobol(len(known.inputs), rng=np.random.default_rng(seed)).random(count)
    columns: dict[str, Any] = {}
    for place, item in enumerate(known.inputs):
        u = unit_points[:, place]
        spread = (
            item.low * (item.high / item.low) ** u
            if item.scale == "log"
            else item.low + u * (item.high - item.low)
        )
        columns[item.name] = np.clip(np.rint(spread) if item.integer else spread, item.low, item.high)
    keep = np.ones(count, dtype=bool)
    compare = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    told = {item.name: item.value for item in known.told}
    for constraint in known.constraints:
        left, right = (value(side, columns | told) for side in (constraint.left, constraint.right))
        keep &= compare[constraint.op](left, right)
    return {name: column[keep] for name, column in columns.items()}


def constants(known: LawDefinition, variant: str) -> dict[str, float]:
    """Return told parameters and one twin's constants."""
    told = {item.name: item.value for item in known.told}
    return told | {item.name: getattr(item, variant) for item in known.constants}


def responses(known: LawDefinition, variant: str, columns: Columns, **instead: float) -> dict[str, Any]:
    """Return every observable of one twin."""
    values = {**columns, **constants(known, variant), **instead}
    shape = np.shape(next(iter(columns.values())))
    return {name: np.broadcast_to(value(tree, values), shape) for name, tree in known.relations.items()}


def read(values: Any, item: Any) -> Any:
    """Round as the instrument does."""
    if item.resolution is not None:
        return np.rint(values / item.resolution) * item.resolution
    if item.significant_digits is not None:
        return np.array([float(f"{v:.{item.significant_digits - 1}e}") for v in values])
    return values


def errors(known: LawDefinition, columns: Columns, predictor: str, world: str, **instead: float) -> Any:
    """Return the largest normalised error over the observables at each point, both sides read."""
    guessed = responses(known, predictor, columns, **instead)
    truth = responses(known, world, columns)
    worst = 0.0
    for item in known.observables:
        seen = read(truth[item.name], item)
        scale = item.absolute_tolerance + known.relative_tolerance * np.abs(seen)
        worst = np.maximum(worst, np.abs(read(guessed[item.name], item) - seen) / scale)
    return worst


def refit(known: LawDefinition, predictor: str, world: str) -> dict[str, float]:
    """Fit the predictor's hidden parameters to the other twin, in logarithms of their ratios."""
    hidden = {c.name: getattr(c, predictor) for c in known.constants if c.role == "hidden"}
    hidden = {name: start for name, start in hidden.items() if start != 0}
    if not hidden:
        return {}
    columns = {name: np.array(column) for name, column in known.eval_inputs.items()}
    truth = responses(known, world, columns)

    def residuals(logs: Any) -> Any:
        moved = {
            name: start * math.exp(shift) for (name, start), shift in zip(hidden.items(), logs, strict=True)
        }
        guessed = responses(known, predictor, columns, **moved)
        parts = []
        for item in known.observables:
            scale = item.absolute_tolerance + known.relative_tolerance * np.abs(truth[item.name])
            parts.append((guessed[item.name] - truth[item.name]) / scale)
        return np.nan_to_num(np.clip(np.concatenate(parts), -1e8, 1e8), nan=1e8)

    bounds = (-8.0, 8.0)
    starts = [np.zeros(len(hidden)), np.full(len(hidden), 0.3)]
    fits = [least_squares(residuals, start, bounds=bounds, x_scale=0.1) for start in starts]
    best = min(fits, key=lambda fit: float(fit.cost))
    return {name: start * math.exp(s) for (name, start), s in zip(hidden.items(), best.x, strict=True)}


def objections(known: LawDefinition, original: Mapping[str, Tree], values: Mapping[str, float]) -> list[str]:
    """Return what is wrong with a structural pair, an empty list when nothing is.

    Args:
        original: the card's own relations, by observable.
        values: the card's parameters.
    """
    found = [] if _units_agree(known, values) else ["units"]
    columns = dense(known)
    first, second = (responses(known, variant, columns) for variant in ("original", "counterfactual"))
    for name, tree in original.items():
        if not np.allclose(first[name], value(tree, {**columns, **values}), rtol=1e-9, atol=0):
            found.append("the original is not the card's")
        if not np.all(np.isfinite(second[name])):
            found.append("finite")
        for measure in (np.ptp, lambda v: np.max(np.abs(v))):
            if not 0.01 <= measure(second[name]) / measure(first[name]) <= 100:
                found.append("range")
    return found + _unseen(known, columns) + _confused(known)


def _units_agree(known: LawDefinition, values: Mapping[str, float]) -> bool:
    units = {item.name: unit(item.unit) for item in known.inputs}
    units |= {item.name: unit(item.unit) for item in known.told}
    units |= {item.name: unit(item.unit) for item in known.constants}
    try:
        return all(
            same(dimension(known.relations[item.name], units, values), unit(item.unit))
            for item in known.observables
        )
    except AssertionError:
        return False


def _unseen(known: LawDefinition, columns: Columns) -> list[str]:
    """Every input, put to another value alone, moves some observable of the counterfactual."""
    found = []
    base = responses(known, "counterfactual", columns)
    for item in known.inputs:
        moved = responses(known, "counterfactual", {**columns, item.name: np.roll(columns[item.name], 7)})
        change = max(
            float(
                np.nanmax(
                    np.abs(moved[o.name] - base[o.name])
                    / (o.absolute_tolerance + known.relative_tolerance * np.abs(base[o.name]))
                )
            )
            for o in known.observables
        )
        if change <= 1:
            found.append(f"influence of {item.name}")
    return found


def _confused(known: LawDefinition) -> list[str]:
    """Neither twin predicts the other, as it stands and after a refit; at half of the hidden inputs e > 2."""
    found = []
    hidden = {name: np.array(column) for name, column in known.eval_inputs.items()}
    design = {name: np.array(column) for name, column in known.design.items()}
    for predictor, world in (("original", "counterfactual"), ("counterfactual", "original")):
        for label, instead in (("", {}), (" after a refit", refit(known, predictor, world))):
            share = float(np.mean(errors(known, hidden, predictor, world, **instead) > 2))
            large = errors(known, design, predictor, world, **instead) > 2
            if share < 0.5 or any(np.sum(large[:b]) < least for b, least in ((1, 1), (2, 2), (4, 3))):
                found.append(f"{predictor} for {world}{label}: e > 2 at {share:.0%}")
    return found
