"""The checks of a counterfactual pair, each a figure that anyone can compute again from card and definition.

| name | what holds | rule (laws, section 4) |
| --- | --- | --- |
| units | every mutated relation has its observable's unit, in dimension and scale | 1 |
| complete | a mutated quantity is replaced in every relation in which it occurs | 2 |
| distinguishable | each relation fails as a predictor of the other twin, after quantisation | 3 |
| structural | it still fails when its hidden parameters are fitted anew | 3 |
| finite | the mutated relation is real and finite over the whole domain | 4 |
| range | it stays within a factor of 100 of the original's range, and keeps its sign | 4 |
| influence | every input still moves some observable by more than the tolerance | 4 |
| resolution | half a step of the instrument is at most a quarter of the tolerance | metrics |
| limits | the candidates of Identification fit the limits of a submission | 5 |
| new | it is no known relation under other names or with like inputs exchanged | 7 |
| recoverable | sixteen readings and least squares give every constant back to three digits | 10 |

``structural`` and ``recoverable`` may fail: the pair is then parametric, or weak-only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cards.card import Card
from cards.domain import satisfied
from cards.errors import ExpressionError, UnitError
from cards.evaluate import evaluate_partial
from cards.expression import Apply, Number, Tree, names, walk
from cards.units import infer, matches, parse_unit
from environments.law.definition import VARIANTS, Certificate, FloatArray, LawDefinition
from environments.law.distinguish import distinguishable, structural
from environments.law.identification import mixtures
from environments.law.mutate import written_out
from environments.law.recover import recoverable
from environments.law.renaming import new
from environments.law.study import SAMPLE_SIZE, Study

MAY_FAIL = frozenset({"structural", "recoverable"})
"""Checks whose failure puts a pair into a lesser class instead of refusing it."""
RANGE_FACTOR = 100.0
MARGIN = 2.0
"""Room left to the promised factor, so that who looks at other points of the domain finds it kept."""
RESOLUTION_SHARE = 0.25


def units(study: Study, definition: LawDefinition) -> Certificate:
    """Every mutated relation has its observable's unit, in dimension and in scale."""
    declared = {item.name: item.unit for item in definition.inputs}
    declared |= {item.name: item.unit for item in definition.told}
    declared |= {item.name: item.unit for item in definition.constants}
    known = {name: parse_unit(text) for name, text in declared.items()}
    exponents = {p.name: p.value for p in study.card.parameters if p.constant}
    try:
        for item in definition.observables:
            found = infer(definition.relations[item.name], known, exponents)
            matches(found, parse_unit(item.unit), item.name)
    except UnitError as error:
        return Certificate(name="units", passed=False, message=str(error))
    return Certificate(name="units", passed=True)


def complete(study: Study, definition: LawDefinition) -> Certificate:
    """A mutated quantity is replaced in every relation in which it occurs."""
    values: dict[str, Any] = {}
    for mutation in definition.mutations:
        held = [
            item
            for item, tree in written_out(study.card).items()
            if mutation.target == item or mutation.target in names(tree)
        ]
        changed = [  # in the card's order: a stored definition has its relations by name
            item.name
            for item in study.card.observables
            if mutation.constant in names(definition.relations[item.name])
        ]
        values[mutation.constant] = {"occurs_in": held, "changed_in": changed}
        if held != changed or not held:
            message = f"{mutation.target} occurs in {held} and is changed in {changed}"
            return Certificate(name="complete", passed=False, values=values, message=message)
    return Certificate(name="complete", passed=True, values=values)


def finite(study: Study, definition: LawDefinition) -> Certificate:
    """The mutated relation is real and finite at a dense sample of the domain and at its corners.

    A sample may step over a pole; what is divided by must therefore keep its sign as well.
    """
    count = len(next(iter(study.sample.values())))
    try:
        definition.respond(study.sample, "counterfactual")
    except ExpressionError as error:
        return Certificate(name="finite", passed=False, values={"points": count}, message=str(error))
    values: dict[str, FloatArray | float] = dict(study.sample)
    values |= definition.constant_values("counterfactual") | definition.told_values()
    for name, tree in definition.relations.items():
        for path, divisor in divisors(tree):
            found = evaluate_partial(divisor, values)[0]
            if float(np.min(found)) < 0 < float(np.max(found)):
                message = f"{name}: what is divided by at {path} passes through zero"
                return Certificate(name="finite", passed=False, values={"points": count}, message=message)
    return Certificate(name="finite", passed=True, values={"points": count})


def divisors(tree: Tree) -> Iterator[tuple[str, Tree]]:
    """Yield what a tree divides by, with its path: denominators and bases of negative powers."""
    for path, node in walk(tree):
        if isinstance(node, Apply) and node.op == "div":
            yield path, node.args[1]
        elif isinstance(node, Apply) and node.op == "pow":
            base, power = node.args
            if isinstance(power, Number) and power.value < 0:
                yield path, base


def spread(study: Study, definition: LawDefinition) -> Certificate:
    """The range of every observable stays within a factor of 100 of the original's, with a margin.

    Looked at with the corners of the domain and without them, because a range that spans decades hangs
    on its outermost points. An observable of one sign keeps it: a twin that crosses zero would be known by
    that alone, and near the crossing no rounded constant is within tolerance.
    """
    mutated = definition.respond(study.sample, "counterfactual")
    values: dict[str, Any] = {}
    for name, original in study.original.items():
        values[name] = {
            f"{label} {where}": measure(mutated[name][:end]) / measure(original[:end])
            for label, measure in (("span", _span), ("largest", _top))
            for where, end in (("inside", SAMPLE_SIZE), ("with corners", None))
        }
    most = RANGE_FACTOR / MARGIN
    good = all(1 / most <= ratio <= most for row in values.values() for ratio in row.values())
    for name, original in study.original.items():
        values[name]["sign kept"] = _sign_kept(original, mutated[name])
        good = good and values[name]["sign kept"]
    return Certificate(name="range", passed=good, values=values)


def _sign_kept(original: FloatArray, mutated: FloatArray) -> bool:
    """Whether an array of one strict sign meets another of the same; true where there is no one sign."""
    signs = set(np.sign(original).tolist())
    return signs not in ({1.0}, {-1.0}) or set(np.sign(mutated).tolist()) == signs


def influence(study: Study, definition: LawDefinition) -> Certificate:
    """Every input, moved alone, still changes some observable by more than its tolerance."""
    constants = definition.constant_values("counterfactual") | definition.told_values()
    base = definition.respond(study.sample, "counterfactual")
    values: dict[str, float] = {}
    for item in definition.inputs:
        moved = {**study.sample, item.name: study.sample[item.name][::-1]}
        inside = satisfied(study.domain, moved)
        largest = 0.0
        for observable in definition.observables:
            after, defined = evaluate_partial(definition.relations[observable.name], {**moved, **constants})
            use = inside & defined
            scale = definition.scale_of_error(observable, base[observable.name])
            change = np.abs(after - base[observable.name])[use] / scale[use]
            largest = max(largest, float(np.max(change, initial=0.0)))
        values[item.name] = largest
    return Certificate(name="influence", passed=all(e > 1 for e in values.values()), values=values)


def resolution(study: Study, definition: LawDefinition) -> Certificate:
    """Half a step of the instrument is at most a quarter of the tolerance, for both twins."""
    from environments.law.oracle import step_of

    worst = 0.0
    for variant in VARIANTS:
        responses = definition.respond(study.sample, variant)
        for item in definition.observables:
            step = step_of(item, responses[item.name])
            if step is not None:
                scale = definition.scale_of_error(item, responses[item.name])
                worst = max(worst, float(np.max(step / 2 / scale)))
    return Certificate(name="resolution", passed=worst <= RESOLUTION_SHARE, values={"worst": worst})


def limits(study: Study, definition: LawDefinition) -> Certificate:
    """The candidates of Identification fit the limits of a submission."""
    try:
        mixtures(definition)
    except ValueError as error:
        return Certificate(name="limits", passed=False, message=str(error))
    return Certificate(name="limits", passed=True)


Check = Callable[[Study, LawDefinition], Certificate]

CHECKS: Sequence[Check] = (
    complete,
    limits,
    units,
    finite,
    spread,
    resolution,
    distinguishable,
    influence,
    new,
    structural,
    recoverable,
)
"""In the order in which a candidate is tried: the cheap ones first."""


def certify(card: Card, definition: LawDefinition, others: Sequence[Card] = ()) -> list[Certificate]:
    """Run every check of a pair again.

    Args:
        card: the card that the pair was made from.
        definition: the definition of either twin.
        others: cards of other families, for the check ``new``.
    """
    study = Study(card, others)
    certificates: list[Certificate] = []
    for check in CHECKS:
        certificates.append(check(study, definition))
        if not certificates[-1].passed and certificates[-1].name not in MAY_FAIL:
            break
    return certificates


def _span(values: FloatArray) -> float:
    return max(float(np.ptp(values)), float(np.finfo(np.float64).tiny))


def _top(values: FloatArray) -> float:
    return max(float(np.max(np.abs(values))), float(np.finfo(np.float64).tiny))
