"""Sparse regression over a library of dimensionless terms, built from nothing but the readings.

Every input stands as a ratio to the middle of its domain, so that every term is a pure number. First a
power law is tried, its exponents drawn to simple fractions where the readings allow; then sums of few
terms of a library of powers, functions and their products, for the observable itself, its logarithm and its
reciprocal: all pairs of terms at once, longer sums by matching pursuit. The
model whose largest left-out error is smallest wins; shorter ones win ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from cards.evaluate import evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, substitute
from cards.infix import parse_infix
from evaluation.players.regression import Fit, FloatArray, Readings

POWERS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0)
FUNCTIONS = ("exp(-u)", "exp(u)", "log(u)", "tanh(u)", "1/(1 + u)", "sin(u)", "cos(u)", "sqrt(1 + u)")
MOST_TERMS = 5
FRACTIONS = (1, 2, 3, 4)
"""Denominators of exponents that a power law is drawn to."""
_MOST_CLEAR = 0.6
"""Share of readings that must be larger than their tolerance and of one sign, for a logarithm."""
_PARALLEL = 1e-8
_BETTER = 0.8
"""A longer model must leave less than this share of the shorter one's error."""


@dataclass(frozen=True)
class Term:
    """One term of the library with its values at the readings."""

    tree: Tree
    values: FloatArray


def sparse_fit(readings: Readings) -> Fit:
    """Return the best sparse model of one observable's readings."""
    best = Fit(Number(float(np.median(readings.values))), np.inf)
    for fit in (*_power_laws(readings), *_pursuit(readings)):
        if fit.error < _BETTER * best.error:
            best = fit
    return best


def _power_laws(readings: Readings) -> Iterator[Fit]:
    names = [name for name, column in readings.inputs.items() if np.all(column > 0)]
    sign = float(np.sign(readings.values[0]))
    if not np.all(readings.values * sign > 0) or len(readings.values) < len(names) + 1:
        return
    logs = np.column_stack([np.ones(len(readings.values)), *(np.log(readings.inputs[n]) for n in names)])
    wanted = np.log(sign * readings.values)
    weights = np.abs(readings.values) / readings.scale
    solved = np.linalg.lstsq(logs * weights[:, None], wanted * weights, rcond=None)[0]
    solution: FloatArray = np.asarray(solved, dtype=np.float64)
    for denominator in (*FRACTIONS, 0):
        powers: FloatArray = (
            np.round(solution[1:] * denominator) / denominator if denominator else solution[1:]
        )
        height = float(np.average(wanted - logs[:, 1:] @ powers, weights=weights**2))
        predicted = sign * np.exp(height + logs[:, 1:] @ powers)
        # A rounded power law has one free number left, an unrounded one as many as there are inputs.
        spare = len(wanted) - (1 if denominator else len(solution))
        error = float(np.max(np.abs(predicted - readings.values) / readings.scale))
        yield Fit(_power_tree(sign * float(np.exp(height)), names, powers), error if spare > 0 else np.inf)


def _power_tree(height: float, names: Sequence[str], powers: FloatArray) -> Tree:
    factors: list[Tree] = [Number(height)]
    for name, power in zip(names, powers, strict=True):
        if power:
            ratio = Variable(name)
            factors.append(ratio if power == 1 else Apply("pow", (ratio, Number(float(power)))))
    return factors[0] if len(factors) == 1 else Apply("mul", tuple(factors))


def _pursuit(readings: Readings) -> Iterator[Fit]:
    """Yield models of growing length, of the readings, of their logarithms and of their reciprocals."""
    values, scale = readings.values, readings.scale
    yield from _matched(library(readings.inputs), (), values / scale, scale, lambda tree: tree)
    sign = float(np.sign(values[np.argmax(np.abs(values))]))
    # A reading that is lost in its tolerance has no logarithm worth fitting; it is only checked against.
    clear = values * sign > scale
    if np.mean(clear) < _MOST_CLEAR:
        return
    terms = library({name: column[clear] for name, column in readings.inputs.items()})
    size, shrunk = np.abs(values[clear]), scale[clear] / np.abs(values[clear])
    powers = [terms[0], *(term for term in terms if _is_log(term.tree))]
    whole = Number(sign)
    fits = [
        *_matched(
            terms,
            powers,
            np.log(size) / shrunk,
            shrunk,
            lambda tree: Apply("mul", (whole, Apply("exp", (tree,)))),
        ),
        *_matched(
            terms,
            (),
            sign / size / (shrunk / size),
            shrunk / size,
            lambda tree: Apply("div", (Number(1.0), tree)),
        ),
    ]
    yield from (fit if clear.all() else _checked(fit, readings) for fit in fits)


def _checked(fit: Fit, readings: Readings) -> Fit:
    """Hold a fit against all readings, also those that took no part in it."""
    values, defined = evaluate_partial(fit.tree, readings.inputs)
    if not np.all(defined):
        return Fit(fit.tree, np.inf)
    return Fit(fit.tree, max(fit.error, float(np.max(np.abs(values - readings.values) / readings.scale))))


def _is_log(tree: Tree) -> bool:
    return isinstance(tree, Apply) and tree.op == "log" and isinstance(tree.args[0], Variable)


def _matched(
    terms: Sequence[Term],
    always: Sequence[Term],
    aim: FloatArray,
    scale: FloatArray,
    outer: Callable[[Tree], Tree],
) -> Iterator[Fit]:
    """Yield the best single term, the best pair of terms, and what adding one term at a time makes of it.

    Args:
        always: terms that every model holds.
        aim: what is to be met, in tolerances; ``scale`` is one tolerance in the terms' unit.
    """
    fixed = np.column_stack([term.values / scale for term in always]) if always else np.zeros((len(aim), 0))
    if len(aim) <= fixed.shape[1] + 1:
        return
    rest = _without(np.column_stack([term.values for term in terms]) / scale[:, None], fixed)
    lengths = np.linalg.norm(rest, axis=0)
    rest = np.where(lengths > _PARALLEL, rest / np.maximum(lengths, _PARALLEL), 0.0)
    residual = _without(aim[:, None], fixed)[:, 0]
    left = residual
    chosen: list[int] = []
    for count in range(1, min(MOST_TERMS, len(aim) - fixed.shape[1] - 1) + 1):
        if count == 2:
            chosen = _best_pair(rest, left)
        else:
            match = np.abs(residual @ rest)
            match[chosen] = 0.0
            chosen = [*chosen, int(np.argmax(match))]
        model = [*always, *(terms[index] for index in chosen)]
        part = np.column_stack([term.values for term in model]) / scale[:, None]
        coefficients: FloatArray = np.asarray(np.linalg.lstsq(part, aim, rcond=None)[0], dtype=np.float64)
        residual = aim - part @ coefficients
        yield Fit(outer(_sum([term.tree for term in model], coefficients)), _left_out(part, residual))


def _without(columns: FloatArray, fixed: FloatArray) -> FloatArray:
    """Return columns less what a fit of the fixed ones explains."""
    if not fixed.shape[1]:
        return columns
    basis = np.linalg.qr(fixed)[0]
    return np.asarray(columns - basis @ (basis.T @ columns), dtype=np.float64)


def _best_pair(matrix: FloatArray, aim: FloatArray) -> list[int]:
    """Return the two columns of unit length that explain most together, by trying all pairs at once."""
    along = aim @ matrix
    angles = matrix.T @ matrix
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = 1.0 - angles**2
        explained = (along[:, None] ** 2 - 2 * angles * np.outer(along, along) + along**2) / shared
    explained[shared < _PARALLEL] = -np.inf
    best = np.unravel_index(int(np.argmax(explained)), explained.shape)
    return [int(index) for index in best]


def _left_out(part: FloatArray, residual: FloatArray) -> float:
    """Return the largest error at a reading that the fit did not see, from the hat matrix."""
    leverage = np.sum(np.linalg.qr(part)[0] ** 2, axis=1)
    return float(np.max(np.abs(residual) / np.maximum(1.0 - leverage, 1e-9)))


def _sum(trees: Sequence[Tree], coefficients: FloatArray) -> Tree:
    parts = [Apply("mul", (Number(float(c)), tree)) for c, tree in zip(coefficients, trees, strict=True)]
    return parts[0] if len(parts) == 1 else Apply("add", tuple(parts))


def library(inputs: Mapping[str, FloatArray]) -> list[Term]:
    """Return the terms that are defined at all readings: powers, functions, and products of two."""
    single = [term for name in inputs for term in _of_one(name, inputs)]
    both: list[Term] = []
    for one, other in combinations(list(inputs), 2):
        pairs = product(_of_one(one, inputs), _of_one(other, inputs))
        both += [Term(Apply("mul", (a.tree, b.tree)), a.values * b.values) for a, b in pairs]
    constant = Term(Number(1.0), np.ones(len(next(iter(inputs.values())))))
    found = [constant, *single, *both]
    return [term for term in found if np.all(np.isfinite(term.values)) and np.any(term.values)]


def _of_one(name: str, inputs: Mapping[str, FloatArray]) -> list[Term]:
    texts = [name if power == 1 else f"{name}^({power!r})" for power in POWERS]
    shapes = [substitute(parse_infix(text), {"u": Variable(name)}) for text in FUNCTIONS]
    terms = []
    for tree in [*map(parse_infix, texts), *shapes]:
        values, defined = evaluate_partial(tree, {name: inputs[name]})
        if np.all(defined):
            terms.append(Term(tree, np.asarray(values, dtype=np.float64)))
    return terms
