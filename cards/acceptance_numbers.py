"""Acceptance checks that evaluate the relations on the domain: finite, influence, tolerance, resolution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

import numpy as np

from cards.card import Card, Input, Observable
from cards.check_table import failed
from cards.domain import Domain, points, satisfied
from cards.errors import ExpressionError
from cards.evaluate import evaluate, evaluate_partial
from cards.expression import names
from cards.finding import Finding
from cards.operators import BoolArray, FloatArray

MAX_SIZE = 1e60
"""Largest number a card may hold."""
MIN_SIZE = 1e-60
"""Smallest number a card may hold, other than zero."""
SAMPLE = 4096
"""Low-discrepancy points on which a relation must be finite."""
MIN_SHARE = 0.02
"""Share of the box that the constraints must leave."""
DECADES = 3.0
"""Decades that an observable with an absolute resolution may span."""
_CORNERS = 256
_BASES, _LEVELS = 64, 17  # points of the other inputs, and levels of the varied one, in the influence check

Columns = Mapping[str, FloatArray]


def numeric_findings(card: Card) -> Iterator[Finding]:
    """Yield the findings of all checks that need values; names and domains must be sound."""
    domain = card.domain()
    share = _share(domain)
    if share < MIN_SHARE:
        yield failed(
            "domain_share",
            "constraints",
            f"the constraints leave {share:.2%} of the box of domains; loosen them or narrow the domains "
            f"until they leave {MIN_SHARE:.0%}.",
        )
        return
    columns = _sample(domain)
    finite = True
    for index, observable in enumerate(card.observables):
        path = f"observables[{index}]"
        try:
            values = evaluate(observable.relation, {**domain.constants, **columns})
        except ExpressionError as trouble:
            place = f"{path}.relation.{trouble.path}" if trouble.path else f"{path}.relation"
            reason = trouble.message.removeprefix(f"{trouble.path}: ")
            yield failed("finite", place, f"{reason} Narrow the domain or add a constraint.")
            finite = False
            continue
        yield from _tolerance(card, observable, values, path)
        yield from _resolution(card, observable, values, path)
    if finite:
        yield from _influence(card, domain)


def _share(domain: Domain) -> float:
    if not domain.constraints:
        return 1.0
    box = points(Domain(domain.intervals), 2048)
    return float(np.mean(satisfied(domain, box)))


def _sample(domain: Domain) -> Columns:
    """Return low-discrepancy points and the corners of the box that satisfy the constraints."""
    inside = points(domain, SAMPLE)
    ends = [(interval.low, interval.high) for interval in domain.intervals.values()]
    corners = np.array(list(islice(product(*ends), _CORNERS)), dtype=np.float64)
    table = {name: corners[:, place] for place, name in enumerate(domain.intervals)}
    kept = satisfied(domain, table)
    return {name: np.concatenate([inside[name], table[name][kept]]) for name in domain.intervals}


def _allowed(card: Card, observable: Observable, values: FloatArray) -> FloatArray:
    """Return the tolerance a_r + λ|g| at every value."""
    return observable.absolute_tolerance + card.relative_tolerance * np.abs(values)


def _tolerance(card: Card, observable: Observable, values: FloatArray, path: str) -> Iterator[Finding]:
    largest = float(np.max(np.abs(values)))
    absolute = observable.absolute_tolerance
    if absolute > 0.1 * largest:
        yield failed(
            "tolerance",
            f"{path}.absolute_tolerance",
            f"the absolute tolerance {absolute:g} is over a tenth of the largest value of "
            f"{observable.name!r}, {largest:.4g}; lower it.",
        )
        return
    middle = float(np.median(values))
    failing = float(np.mean(np.abs(values - middle) > _allowed(card, observable, values)))
    if failing < 0.1:
        yield failed(
            "tolerance",
            path,
            f"the constant {middle:.4g} is within tolerance of {observable.name!r} at {1 - failing:.0%} "
            "of the domain; tighten the tolerances or widen the domain.",
        )


def _resolution(card: Card, observable: Observable, values: FloatArray, path: str) -> Iterator[Finding]:
    step, digits = observable.resolution, observable.significant_digits
    if step is not None and digits is not None:
        yield failed(
            "resolution_twice",
            path,
            f"{observable.name!r} has resolution {step:g} and significant_digits {digits}; give one of them.",
        )
        return
    if step is None and digits is None:
        return
    sizes = np.abs(values)
    half = np.full_like(sizes, step / 2) if step is not None else _half_step(sizes, digits or 1)
    excess = half / _allowed(card, observable, values)
    worst = int(np.argmax(excess))
    if excess[worst] > 0.25 * (1 + 1e-9):
        given = (
            f"the resolution {step:g}" if step is not None else f"a reading of {digits} significant digits"
        )
        allowed = half[worst] / excess[worst]
        yield failed(
            "resolution",
            path,
            f"{given} of {observable.name!r} rounds by up to {half[worst]:.3g} at the value "
            f"{values[worst]:.4g}, more than a quarter of the tolerance {allowed:.3g} there; "
            "refine it or widen the tolerance.",
        )
    yield from _span(observable, values, path)


def _half_step(sizes: FloatArray, digits: int) -> FloatArray:
    """Return half of the last of ``digits`` significant digits of each size; zero is read exactly."""
    positive = np.where(sizes > 0, sizes, 1.0)
    steps = 10.0 ** (np.floor(np.log10(positive)) - digits + 1)
    return np.where(sizes > 0, steps / 2, 0.0)


def _span(observable: Observable, values: FloatArray, path: str) -> Iterator[Finding]:
    low, high = float(np.min(values)), float(np.max(values))
    if observable.resolution is None or low * high <= 0:  # a change of sign spans no decades
        return
    small, large = sorted((abs(low), abs(high)))
    decades = float(np.log10(large) - np.log10(small))
    if decades > DECADES:
        yield failed(
            "resolution_span",
            f"{path}.resolution",
            f"{observable.name!r} spans {decades:.1f} decades ({small:.3g} to {large:.3g}); give "
            "significant_digits in place of resolution.",
        )


def _influence(card: Card, domain: Domain) -> Iterator[Finding]:
    bases = points(domain, _BASES)
    for index, item in enumerate(card.inputs):
        touched = [observable for observable in card.observables if item.name in names(observable.relation)]
        if not touched:
            continue  # unused: has its finding already
        columns = {name: column[:, None] for name, column in bases.items()}
        columns[item.name] = np.broadcast_to(_levels(item), (_BASES, _levels(item).size))
        inside = satisfied(domain, columns)
        strongest = max(_strongest(card, observable, domain, columns, inside) for observable in touched)
        if strongest <= 1.0:
            yield failed(
                "influence",
                f"inputs[{index}]",
                f"{item.name!r} changes no observable by more than {strongest:.3g} of its tolerance "
                "anywhere in the domain; widen its domain, tighten the tolerance or drop it.",
            )


def _strongest(
    card: Card, observable: Observable, domain: Domain, columns: Columns, inside: BoolArray
) -> float:
    """Return the largest change of the observable along the varied input, in units of its tolerance."""
    values, defined = evaluate_partial(observable.relation, {**domain.constants, **columns})
    usable = defined & inside
    low = np.min(np.where(usable, values, np.inf), axis=1)
    high = np.max(np.where(usable, values, -np.inf), axis=1)
    rows = high > low
    if not np.any(rows):
        return 0.0
    size = np.maximum(np.abs(low[rows]), np.abs(high[rows]))
    return float(np.max((high[rows] - low[rows]) / _allowed(card, observable, size)))


def _levels(item: Input) -> FloatArray:
    if item.scale == "log":
        levels = np.geomspace(item.low, item.high, _LEVELS)
    else:
        levels = np.linspace(item.low, item.high, _LEVELS)
    return np.unique(np.rint(levels)) if item.integer else levels
