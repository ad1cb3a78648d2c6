"""Labelled pairs made from the Historical cards: rewritings, recomputed constants, near misses.

Every pair is (label, truth, submission, domain, expected). Near misses are fits of degree up to 40 good to
1e-7 and better, a constant off by 3e-6, a function equal on half of the domain or outside a narrow band,
and a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.polynomial import chebyshev, polynomial

from cards.card import Card
from cards.domain import Domain, Interval, points
from cards.evaluate import evaluate
from cards.expression import Apply, Number, Tree, Variable, bind, names
from cards.infix import parse_infix
from cards.store import historical
from tests.environments.law.rewriting import constants, expanded, folded, reordered, shifted

Expected = Literal["equal", "different"]
FIT_ERROR = 1e-7
DEGREES = (8, 12, 16, 24, 40)


@dataclass(frozen=True)
class Labelled:
    """One pair with its right answer."""

    label: str
    truth: Tree
    submission: Tree
    domain: Domain
    expected: Expected


@cache
def corpus() -> list[Labelled]:
    """Return all pairs of all cards."""
    return [pair for card in historical() for pair in _of_card(card)]


def _of_card(card: Card) -> Iterator[Labelled]:
    told = card.values(told_only=True)
    hidden = {name: value for name, value in card.values().items() if name not in told}
    domain = Domain(card.domain().intervals, card.constraints, card.values())
    for item in card.observables:
        truth = bind(item.relation, hidden)
        label = f"{card.id}.{item.name}"
        for name, tree in _rewritten(truth, told, card).items():
            yield Labelled(f"{label} {name}", truth, tree, domain, "equal")
        for name, tree in _near(truth, card, domain).items():
            yield Labelled(f"{label} {name}", truth, tree, domain, "different")
        yield from _fits(label, truth, card, domain)


def _rewritten(truth: Tree, told: Mapping[str, float], card: Card) -> dict[str, Tree]:
    """Return the truth written otherwise; inputs are positive on their domains where it matters."""
    positive = [item.name for item in card.inputs if item.low > 0]
    swapped = {name: parse_infix(f"exp(log({name}))") for name in positive[:1]}
    root = {name: parse_infix(f"sqrt({name}^2)") for name in positive}
    circle = parse_infix(f"sin({card.inputs[0].name}/1)^2 + cos({card.inputs[0].name}/1)^2")
    found = {
        "reordered": reordered(truth),
        "expanded": expanded(truth),
        "folded": folded(truth, told),
        "times one": Apply("mul", (truth, parse_infix("3.7/3.7"))),
        "negated twice": Apply("neg", (Apply("neg", (truth,)),)),
    }
    if not _too_large(card):
        found["sin2 + cos2"] = Apply("mul", (truth, circle))
    if root:
        found["sqrt of squares"] = _replaced(truth, root)
        found["exp of log"] = _replaced(truth, swapped)
    return {name: tree for name, tree in found.items() if tree != truth}


def _too_large(card: Card) -> bool:
    """Whether the first input is too large for its sine to be worth computing to fifty digits."""
    return max(abs(card.inputs[0].low), abs(card.inputs[0].high)) > 1e6


def _replaced(tree: Tree, new: Mapping[str, Tree]) -> Tree:
    if isinstance(tree, Variable):
        return new.get(tree.name, tree)
    if isinstance(tree, Apply):
        return Apply(tree.op, tuple(_replaced(argument, new) for argument in tree.args))
    return tree


def _near(truth: Tree, card: Card, domain: Domain) -> dict[str, Tree]:
    """Return functions that are nearly the truth and are not."""
    columns: dict[str, np.ndarray | float] = {**points(domain, 64), **domain.constants}
    typical = float(np.median(np.abs(evaluate(truth, columns))))
    item = card.inputs[-1]
    low, high = item.low, item.high
    middle, x = 0.5 * (low + high), item.name
    factor: Tree = Apply("mul", (Number(1.000003), truth))
    found: dict[str, Tree] = {"sign": Apply("neg", (truth,)), "factor": factor}
    paths = constants(truth)
    if paths and not isinstance(truth, Number):
        found["constant"] = shifted(truth, paths[0], 1.000004)
        found["constant"] = (
            found["constant"] if _moved(truth, found["constant"], columns) else found["factor"]
        )
    if not item.integer:
        band = parse_infix(f"step({x} - {middle!r})*step({middle + 0.004 * (high - low)!r} - {x})")
        found["band"] = Apply("add", (truth, Apply("mul", (Number(1e-3 * typical), band))))
    half = parse_infix(f"1 + 0.00001*step({x} - {middle!r})")
    found["half"] = Apply("mul", (truth, half))
    found["ripple"] = Apply("mul", (truth, parse_infix(f"1 + 1e-9*tanh({x}/{high!r})")))
    return found


def _moved(truth: Tree, other: Tree, columns: Mapping[str, np.ndarray | float]) -> bool:
    """Whether a changed constant shows by more than the 1e-6 that a rounded one may."""
    first, second = (evaluate(tree, columns) for tree in (truth, other))
    scale = np.maximum(np.abs(first), np.median(np.abs(first)))
    return bool(np.max(np.abs(first - second) / scale) > 1.5e-6)


def _fits(label: str, truth: Tree, card: Card, domain: Domain) -> Iterator[Labelled]:
    """Yield dense fits along one input, the others held: a polynomial, a Chebyshev sum, a quotient."""
    item = next((i for i in card.inputs if not i.integer and i.name in names(truth)), None)
    if item is None:
        return
    held = {
        name: float(np.median(column)) for name, column in points(domain, 33).items() if name != item.name
    }
    line = bind(truth, {**held, **domain.constants})
    if card.constraints:
        return
    high = min(item.high, 4 * item.low) if item.low > 0 else item.high
    one = Domain({item.name: Interval(item.low, high)})
    grid = 0.5 * (item.low + high) - 0.5 * (high - item.low) * np.cos(np.pi * (np.arange(200) + 0.5) / 200)
    values = evaluate(line, {item.name: grid})
    unit = parse_infix(f"({item.name} - {0.5 * (item.low + high)!r})/{0.5 * (high - item.low)!r}")
    u = (grid - 0.5 * (item.low + high)) / (0.5 * (high - item.low))
    for name, maker in (("polynomial", _polynomial), ("Chebyshev", _chebyshev), ("quotient", _quotient)):
        fitted = maker(u, values, unit)
        if fitted is None or _is_exact(line, item.name):
            continue
        yield Labelled(f"{label} {name} in {item.name}", line, fitted, one, "different")


def _is_exact(line: Tree, name: str) -> bool:
    """Whether the relation along the line is itself a polynomial, a power or a quotient of polynomials."""
    if isinstance(line, Apply):
        transcendental = line.op not in ("add", "sub", "mul", "div", "neg", "pow")
        broken = line.op == "pow" and not (
            isinstance(line.args[1], Number) and line.args[1].value.is_integer()
        )
        if (transcendental or broken) and name in names(line):
            return False
        return all(_is_exact(argument, name) for argument in line.args)
    return True


def _degrees(fit: Callable[[int], tuple[np.ndarray, float]]) -> np.ndarray | None:
    for degree in DEGREES:
        coefficients, error = fit(degree)
        if error < FIT_ERROR:
            return coefficients
    return None


def _worst(values: np.ndarray, fitted: np.ndarray) -> float:
    return float(np.max(np.abs(values - fitted)) / np.median(np.abs(values)))


def _polynomial(u: np.ndarray, values: np.ndarray, unit: Tree) -> Tree | None:
    def fit(degree: int) -> tuple[np.ndarray, float]:
        series = chebyshev.chebfit(u, values, degree)
        plain = chebyshev.cheb2poly(series)
        return plain, _worst(values, polynomial.polyval(u, plain))

    found = _degrees(fit)
    return None if found is None else _horner(found, unit)


def _horner(coefficients: np.ndarray, unit: Tree) -> Tree:
    tree: Tree = Number(float(coefficients[-1]))
    for value in coefficients[-2::-1]:
        tree = Apply("add", (Number(float(value)), Apply("mul", (unit, tree))))
    return tree


def _chebyshev(u: np.ndarray, values: np.ndarray, unit: Tree) -> Tree | None:
    def fit(degree: int) -> tuple[np.ndarray, float]:
        series = chebyshev.chebfit(u, values, degree)
        return series, _worst(values, chebyshev.chebval(u, series))

    found = _degrees(fit)
    if found is None:
        return None
    # The angle's argument is kept inside [-1, 1], where the arc cosine is defined.
    angle = Apply("acos", (Apply("max", (Number(-1.0), Apply("min", (Number(1.0), unit)))),))
    terms = [
        Apply("mul", (Number(float(c)), Apply("cos", (Apply("mul", (Number(float(k)), angle)),))))
        for k, c in enumerate(found)
    ]
    return Apply("add", tuple(terms))


def _quotient(u: np.ndarray, values: np.ndarray, unit: Tree) -> Tree | None:
    """A quotient of two polynomials, by the linearised least squares of Padé's kind."""
    scale = float(np.median(np.abs(values)))
    scaled = values / scale
    for degree in (3, 4, 5, 6, 8):
        powers = np.vander(u, degree + 1, increasing=True)
        system = np.hstack([powers, -scaled[:, None] * powers[:, 1:]])
        solved = np.linalg.lstsq(system, scaled, rcond=None)[0]
        above, below = solved[: degree + 1], np.concatenate([[1.0], solved[degree + 1 :]])
        bottom = polynomial.polyval(u, below)
        if np.min(bottom) > 1e-3 and _worst(scaled, polynomial.polyval(u, above) / bottom) < FIT_ERROR:
            return Apply("div", (_horner(above * scale, unit), _horner(below, unit)))
    return None
