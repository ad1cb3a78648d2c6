"""Sparse regression over a library of dimensionless terms, built from nothing but the readings.

Every input stands as a ratio to the middle of its domain, so that every term is a pure number. First a
power law is tried, its exponents drawn to simple fractions where the readings allow; then sums of few
terms of a library of powers, functions and products of both, for the observable itself, its logarithm and its
reciprocal: all pairs of terms at once, longer sums by matching pursuit. Of the better ones every exponent and
rate is then freed and fitted, since nothing says that a law keeps to those of the library. The model with
the fewest numbers wins whose left-out errors no longer one undercuts by much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np

from cards.evaluate import evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, names, substitute
from cards.infix import parse_infix
from evaluation.players.refine import SPARE, Model, left_out, refined
from evaluation.players.regression import Fit, FloatArray, Readings

POWERS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0)
"""Exponents of the library."""
FUNCTIONS = {
    "exp(k*u)": (-1.0, 1.0),
    "log(u)": (1.0,),
    "log(1 + k*u)": (-0.4, 1.0),
    "tanh(k*u)": (1.0,),
    "1/(1 + k*u)": (-0.4, 1.0),
    "sin(k*u)": (1.0,),
    "cos(k*u)": (1.0,),
    "sqrt(1 + k*u)": (-0.4, 1.0),
}
"""Functions of the library and their rates k."""
MOST_TERMS = 5
FRACTIONS = (1, 2, 3, 4)
"""Denominators of exponents that a power law is drawn to."""
_MOST_CLEAR = 0.6
"""Share of readings that must be larger than their tolerance and of one sign, for a logarithm."""
_PARALLEL = 1e-8
_BETTER = 0.8
"""A longer model must leave less than this share of the shorter one's error."""
_MET = 0.25
"""A left-out error, in tolerances, below which a fit is as good as any: readings are rounded, and of
thousands of models with as many numbers some fit a few readings better than the truth does."""
_SHORT = 2
"""Terms of the models that are all refined."""
_LONG = 2
"""Longer models, the best first, that are refined beside them."""
_RIVALS = 3
"""Pairs of terms of different kinds, the best first, that are handed on."""
_LOOKED_AT = 200
_FREE = "@"
"""Stands in the name of every free number, and in that of no input."""
_SHAPES = [(parse_infix(text), rates) for text, rates in FUNCTIONS.items()]


@dataclass(frozen=True)
class Term:
    """One term of the library: its tree over inputs and free names, their values, and its readings."""

    tree: Tree
    values: FloatArray
    start: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Candidate:
    """A fit, the numbers that it rests on, and the model from which a better one may be had."""

    fit: Fit
    numbers: int
    model: Model | None = None
    short: bool = False


def sparse_fit(readings: Readings) -> Fit:
    """Return the best sparse model of one observable's readings."""
    found = [*_power_laws(readings), *_pursuit(readings)]
    best = _shortest(found, readings)
    # Only a shorter model can take the place of one that meets the readings.
    longest = len(readings.values) - SPARE if best.fit.error > _MET else best.numbers - 1
    open_to = [item for item in found if item.numbers <= longest and np.isfinite(item.fit.error)]
    long = sorted((item for item in open_to if not item.short), key=lambda item: item.fit.error)
    chosen = [*(item for item in open_to if item.short), *long[:_LONG]]
    for item in sorted(chosen, key=lambda item: item.numbers):
        if item.model is not None:
            found.append(_Candidate(refined(item.model, readings), item.numbers))
            if found[-1].fit.error <= _MET:
                break
    return _shortest(found, readings).fit


def _shortest(found: Sequence[_Candidate], readings: Readings) -> _Candidate:
    """Return the candidate with the fewest numbers that no longer one undercuts by much."""
    best = _Candidate(Fit(Number(float(np.median(readings.values))), np.inf), 1)
    for item in sorted(found, key=lambda item: (item.numbers, item.fit.error)):
        if max(_MET, item.fit.error) < _BETTER * max(_MET, best.fit.error):
            best = item
    return best


def _power_laws(readings: Readings) -> Iterator[_Candidate]:
    bases = [name for name, column in readings.inputs.items() if np.all(column > 0)]
    sign = float(np.sign(readings.values[0]))
    if not np.all(readings.values * sign > 0) or len(readings.values) < len(bases) + 1:
        return
    logs = np.column_stack([np.ones(len(readings.values)), *(np.log(readings.inputs[n]) for n in bases)])
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
        fit = Fit(_power_tree(sign * float(np.exp(height)), bases, powers), error if spare > 0 else np.inf)
        yield _Candidate(fit, len(solution))


def _power_tree(height: float, bases: Sequence[str], powers: FloatArray) -> Tree:
    factors: list[Tree] = [Number(height)]
    for name, power in zip(bases, powers, strict=True):
        if power:
            ratio = Variable(name)
            factors.append(ratio if power == 1 else Apply("pow", (ratio, Number(float(power)))))
    return factors[0] if len(factors) == 1 else Apply("mul", tuple(factors))


def _pursuit(readings: Readings) -> Iterator[_Candidate]:
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
    found = [
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
    yield from (item if clear.all() else replace(item, fit=_checked(item.fit, readings)) for item in found)


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
) -> Iterator[_Candidate]:
    """Yield the best single term, the best pairs of terms, and what one term at a time adds to each.

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
    left = _without(aim[:, None], fixed)[:, 0]
    beam: list[tuple[list[int], FloatArray]] = [([], left)]
    for count in range(1, min(MOST_TERMS, len(aim) - fixed.shape[1] - 1) + 1):
        choices = _best_pairs(rest, left, terms) if count == 2 else [_with_next(rest, *item) for item in beam]
        beam = []
        for choice in choices:
            model = [*always, *(terms[index] for index in choice)]
            part = np.column_stack([term.values for term in model]) / scale[:, None]
            weights: FloatArray = np.asarray(np.linalg.lstsq(part, aim, rcond=None)[0], dtype=np.float64)
            residual = aim - part @ weights
            beam.append((choice, residual))
            whole = _sum(model, weights, outer)
            fit = Fit(whole.fixed(), left_out(part, residual))
            yield _Candidate(fit, len(whole.start), whole, count <= _SHORT)


def _with_next(matrix: FloatArray, chosen: list[int], residual: FloatArray) -> list[int]:
    """Return the chosen columns and the one that matches best what they leave."""
    match = np.abs(residual @ matrix)
    match[chosen] = 0.0
    return [*chosen, int(np.argmax(match))]


def _without(columns: FloatArray, fixed: FloatArray) -> FloatArray:
    """Return columns less what a fit of the fixed ones explains."""
    if not fixed.shape[1]:
        return columns
    basis = np.linalg.qr(fixed)[0]
    return np.asarray(columns - basis @ (basis.T @ columns), dtype=np.float64)


def _best_pairs(matrix: FloatArray, aim: FloatArray, terms: Sequence[Term]) -> list[list[int]]:
    """Return the pairs of columns of unit length that explain most together, by trying all pairs at once.

    Pairs that differ in exponents and rates alone count as one kind, of which the best is returned.
    """
    along = aim @ matrix
    angles = matrix.T @ matrix
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = 1.0 - angles**2
        explained = (along[:, None] ** 2 - 2 * angles * np.outer(along, along) + along**2) / shared
    explained[shared < _PARALLEL] = -np.inf
    flat = explained.ravel()
    top = np.argpartition(-flat, min(_LOOKED_AT, len(flat) - 1))[:_LOOKED_AT]
    found: dict[frozenset[Tree], list[int]] = {}
    for place in top[np.argsort(-flat[top], kind="stable")]:
        pair = [int(index) for index in np.unravel_index(int(place), explained.shape)]
        found.setdefault(frozenset(terms[index].tree for index in pair), pair)
    return list(found.values())[:_RIVALS]


def _sum(terms: Sequence[Term], weights: FloatArray, outer: Callable[[Tree], Tree]) -> Model:
    """Return a weighted sum as a model whose weights, exponents and rates are free."""
    start: dict[str, float] = {}
    parts: list[Tree] = []
    for number, (term, weight) in enumerate(zip(terms, weights, strict=True)):
        own = {name: f"{name}{number}" for name in term.start}
        start |= {f"c{_FREE}{number}": float(weight)}
        start |= {own[name]: value for name, value in term.start.items()}
        tree = substitute(term.tree, {name: Variable(new) for name, new in own.items()})
        parts.append(Apply("mul", (Variable(f"c{_FREE}{number}"), tree)))
    return Model(outer(parts[0] if len(parts) == 1 else Apply("add", tuple(parts))), start)


def library(inputs: Mapping[str, FloatArray]) -> list[Term]:
    """Return the terms that are defined at all readings: powers, functions, products of both."""
    alone = {name: _of_one(name, inputs) for name in inputs}
    both: list[Term] = []
    for one, other in combinations(alone, 2):
        both += [
            Term(Apply("mul", (a.tree, b.tree)), a.values * b.values, {**a.start, **b.start})
            for a, b in product(alone[one], alone[other])
            if _is_power(a.tree) or _is_power(b.tree)
        ]
    constant = Term(Number(1.0), np.ones(len(next(iter(inputs.values())))))
    found = [constant, *(term for terms in alone.values() for term in terms), *both]
    return [term for term in found if np.all(np.isfinite(term.values)) and np.any(term.values)]


def _is_power(tree: Tree) -> bool:
    return isinstance(tree, Variable) or (isinstance(tree, Apply) and tree.op == "pow")


def _of_one(name: str, inputs: Mapping[str, FloatArray]) -> list[Term]:
    column, power, rate = inputs[name], f"{name}{_FREE}p", f"{name}{_FREE}k"
    base = Variable(name)
    shapes: list[tuple[Tree, dict[str, float]]] = []
    for exponent in POWERS:
        if np.all(column > 0):
            shapes.append((Apply("pow", (base, Variable(power))), {power: exponent}))
        else:  # a base that is not positive admits few exponents beside its own
            shapes.append((base if exponent == 1 else Apply("pow", (base, Number(exponent))), {}))
    for tree, rates in _SHAPES:
        whole = substitute(tree, {"u": base, "k": Variable(rate)})
        shapes += [(whole, {rate: value} if rate in names(whole) else {}) for value in rates]
    terms = []
    for tree, start in shapes:
        values, defined = evaluate_partial(tree, {name: column, **start})
        if np.all(defined):
            terms.append(Term(tree, np.asarray(values, dtype=np.float64), start))
    return terms
