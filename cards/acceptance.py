"""Acceptance of a card: every check that can be made without the paper, as named findings.

Source: arXiv 2610.37919, section 3.2 (what a card must satisfy before it becomes tasks).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping

from cards.acceptance_numbers import MAX_SIZE, MIN_SIZE, numeric_findings
from cards.card import Card, Parameter
from cards.check_table import CHECKS, Check, failed
from cards.dates import parse_interval
from cards.dimensions import DIMENSIONLESS, Unit
from cards.errors import AlmanacError, InputError, UnitError
from cards.evaluate import evaluate
from cards.expression import Number, Tree, Variable, names, walk
from cards.finding import Finding
from cards.giveaway import giveaways
from cards.operators import OPERATORS
from cards.units import infer, matches, parse_unit

__all__ = ["CHECKS", "Check", "accept"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}\Z")
_RESERVED = frozenset({*OPERATORS, "pi", "ln"})
_ZERO_POINT = re.compile(r"\b(?:apparent|absolute|visual|limiting)\s+(?:\w+\s+)?magnitude", re.IGNORECASE)
HIDDEN_DIGITS = 3
"""Significant digits that a hidden parameter may have and still be asked for exactly."""


def accept(card: Card) -> list[Finding]:
    """Return all findings of all checks, in the order of the check table; never raises.

    A card is accepted when no finding is an error. Checks that need sound names or a sound domain
    are left out while those are not, so that one slip gives one finding.
    """
    try:
        return _findings(card)
    except (AlmanacError, ArithmeticError, ValueError) as trouble:
        return [failed("finite", "", f"the card could not be checked to the end: {trouble}")]


def _findings(card: Card) -> list[Finding]:
    found = [finding for check in _PLAIN_CHECKS for finding in check(card)]
    naming = list(_names(card))
    found = naming + found
    if any(finding.check != "name_unused" for finding in naming):
        return found
    found.extend(_units(card))
    found.extend(_dependent(card))
    found.extend(_domain(card))
    if not any(finding.check in ("domain", "number_size") for finding in found):
        found.extend(numeric_findings(card))
    order = {name: place for place, name in enumerate(CHECKS)}
    return sorted(found, key=lambda finding: order[finding.check])


def _declared(card: Card) -> Iterator[tuple[str, str]]:
    for kind in ("inputs", "parameters", "observables"):
        for index, item in enumerate(getattr(card, kind)):
            yield f"{kind}[{index}]", item.name


def _trees(card: Card) -> Iterator[tuple[str, Tree]]:
    for index, parameter in enumerate(card.parameters):
        if parameter.relation is not None:
            yield f"parameters[{index}].relation", parameter.relation
    for index, observable in enumerate(card.observables):
        yield f"observables[{index}].relation", observable.relation
    for index, constraint in enumerate(card.constraints):
        yield f"constraints[{index}].left", constraint.left
        yield f"constraints[{index}].right", constraint.right


def _names(card: Card) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for path, name in _declared(card):
        if not _NAME.match(name):
            yield failed(
                "name_invalid",
                f"{path}.name",
                f"{name!r} is not a name; use a letter, then letters, digits or _ (at most 32 signs).",
            )
        elif name in _RESERVED:
            yield failed(
                "name_reserved", f"{path}.name", f"{name!r} is an operator or pi; rename it, e.g. {name}_0."
            )
        if name in first:
            yield failed(
                "name_duplicate",
                f"{path}.name",
                f"{name!r} is already the name of {first[name]}; rename one.",
            )
        first.setdefault(name, path)
    known = {item.name for item in card.inputs} | {item.name for item in card.parameters}
    for path, tree in _trees(card):
        for below, node in walk(tree):
            if isinstance(node, Variable) and node.name not in known:
                place = f"{path}.{below}" if below else path
                yield failed(
                    "name_undeclared",
                    place,
                    f"{node.name!r} is neither an input nor a parameter ({', '.join(sorted(known))}); "
                    "declare or correct it.",
                )
    yield from _unused(card)


def _unused(card: Card) -> Iterator[Finding]:
    related = frozenset().union(*(names(observable.relation) for observable in card.observables))
    constrained = frozenset().union(*(names(tree) for _, tree in _trees(card)))
    for index, item in enumerate(card.inputs):
        if item.name not in related:
            yield failed(
                "name_unused",
                f"inputs[{index}]",
                f"the input {item.name!r} stands in no relation; use it or drop it.",
            )
    for index, parameter in enumerate(card.parameters):
        if parameter.name not in constrained:
            yield failed(
                "name_unused",
                f"parameters[{index}]",
                f"the parameter {parameter.name!r} stands in no relation; use it or drop it.",
            )


def _text(card: Card) -> Iterator[Finding]:
    texts = [("title", card.title), ("background", card.background)]
    texts += [(f"conditions[{index}]", text) for index, text in enumerate(card.conditions)]
    texts += [(f"inputs[{index}].description", item.description) for index, item in enumerate(card.inputs)]
    texts += [
        (f"observables[{index}].description", item.description) for index, item in enumerate(card.observables)
    ]
    for path, text in texts:
        if not text.strip():
            yield failed("text_missing", path, f"{path} is blank; say it in a sentence.")


def _dates(card: Card) -> Iterator[Finding]:
    dates = card.source.dates
    for field, text in (("first_preprint", dates.first_preprint), ("journal_online", dates.journal_online)):
        if text is not None:
            try:
                parse_interval(text)
            except InputError as trouble:
                yield failed("dates", f"source.dates.{field}", str(trouble))
    if card.collection == "temporal" and dates.first_preprint is None and dates.journal_online is None:
        yield failed(
            "dates", "source.dates", "a Temporal card has no date; give first_preprint or journal_online."
        )


def _giveaway(card: Card) -> Iterator[Finding]:
    for path, trouble in giveaways(card):
        yield failed(
            "giveaway", path, f"the text gives away {trouble}; describe only apparatus and quantities."
        )


def _precision(card: Card) -> Iterator[Finding]:
    for index, parameter in enumerate(card.parameters):
        digits = significant_digits(parameter.value)
        if not parameter.told and parameter.relation is None and digits > HIDDEN_DIGITS:
            yield Finding(
                check="hidden_precision",
                severity="warning",
                path=f"parameters[{index}].value",
                message=f"the hidden parameter {parameter.name!r} = {parameter.value!r} has {digits} "
                f"significant digits; round it to {HIDDEN_DIGITS}, tell it, or the family is weak-only.",
            )


def significant_digits(value: float) -> int:
    """Return the number of significant decimal digits of a float's shortest form (0 has one)."""
    mantissa = f"{value!r}".lower().partition("e")[0].lstrip("-").replace(".", "").lstrip("0")
    return len(mantissa.rstrip("0")) or 1


def _units(card: Card) -> Iterator[Finding]:
    units: dict[str, Unit] = {}
    for kind in ("inputs", "parameters", "observables"):
        for index, item in enumerate(getattr(card, kind)):
            path = f"{kind}[{index}].unit"
            try:
                units[item.name] = parse_unit(item.unit)
            except UnitError as trouble:
                yield failed("unit_syntax", path, f"{item.name!r}: {trouble}")
                continue
            if _ZERO_POINT.search(item.description) and units[item.name].exponents[7]:
                yield failed(
                    "unit_magnitude",
                    path,
                    f"{item.name!r} is a magnitude with a zero point; use a flux or a difference.",
                )
    yield from _constants(card, units)
    yield from _relation_units(card, units)


def _constants(card: Card, units: dict[str, Unit]) -> Iterator[Finding]:
    for index, parameter in enumerate(card.parameters):
        unit = units.get(parameter.name, DIMENSIONLESS)
        if parameter.constant and not (unit.dimensionless and unit.same_scale(DIMENSIONLESS)):
            yield failed(
                "constant_dimension",
                f"parameters[{index}]",
                f"{parameter.name!r} is marked constant but has the unit {unit}; only a pure number can be.",
            )


def _relation_units(card: Card, units: dict[str, Unit]) -> Iterator[Finding]:
    exponents = {item.name: item.value for item in card.parameters if item.constant}
    jobs: list[tuple[str, tuple[Tree, ...], Callable[[list[Unit]], None]]] = []
    for index, parameter in enumerate(card.parameters):
        if parameter.relation is not None and parameter.name in units:
            what, declared = f"the relation of {parameter.name!r}", units[parameter.name]
            jobs.append((f"parameters[{index}].relation", (parameter.relation,), _demand(what, declared)))
    for index, observable in enumerate(card.observables):
        if observable.name in units:
            what, declared = f"the relation of {observable.name!r}", units[observable.name]
            jobs.append((f"observables[{index}].relation", (observable.relation,), _demand(what, declared)))
    for index, constraint in enumerate(card.constraints):
        jobs.append((f"constraints[{index}]", (constraint.left, constraint.right), _demand_equal))
    for path, trees, demand in jobs:
        if not all(name in units for tree in trees for name in names(tree)):
            continue  # the unit that could not be read has its finding already
        try:
            demand([infer(tree, units, exponents) for tree in trees])
        except UnitError as trouble:
            place = f"{path}.{trouble.path}" if trouble.path else path
            yield failed(trouble.check, place, str(trouble).removeprefix(f"{trouble.path}: "))


def _demand(what: str, declared: Unit) -> Callable[[list[Unit]], None]:
    return lambda found: matches(found[0], declared, what)


def _demand_equal(found: list[Unit]) -> None:
    matches(found[1], found[0], "the right side (it must agree with the left)")


def _dependent(card: Card) -> Iterator[Finding]:
    """A dependent parameter follows from earlier ones, a told one from told ones, and has their value."""
    before: dict[str, Parameter] = {}
    for index, parameter in enumerate(card.parameters):
        if parameter.relation is not None:
            yield from _follows(parameter, before, f"parameters[{index}]")
        before[parameter.name] = parameter


def _follows(parameter: Parameter, before: Mapping[str, Parameter], path: str) -> Iterator[Finding]:
    assert parameter.relation is not None
    for name in sorted(names(parameter.relation)):
        if name not in before or (parameter.told and not before[name].told):
            kind = "told parameter" if parameter.told else "parameter"
            message = f"{parameter.name!r} depends on {name!r}, which is no {kind} that stands before it."
            yield failed("dependent", f"{path}.relation", message)
            return
    value = float(evaluate(parameter.relation, {name: item.value for name, item in before.items()}))
    if not math.isclose(value, parameter.value, rel_tol=1e-9):
        message = f"{parameter.name!r} is {parameter.value!r}, its relation gives {value!r}; correct one."
        yield failed("dependent", f"{path}.value", message)


def _sizes(card: Card) -> Iterator[Finding]:
    numbers = [(f"parameters[{index}].value", item.value) for index, item in enumerate(card.parameters)]
    for index, item in enumerate(card.inputs):
        numbers += [(f"inputs[{index}].low", item.low), (f"inputs[{index}].high", item.high)]
    for path, tree in _trees(card):
        numbers += [
            (f"{path}.{below}" if below else path, node.value)
            for below, node in walk(tree)
            if isinstance(node, Number)
        ]
    for path, value in numbers:
        if value and not MIN_SIZE <= abs(value) <= MAX_SIZE:
            yield failed(
                "number_size",
                path,
                f"the number {value!r} is out of range; choose units in which it is moderate.",
            )


def _domain(card: Card) -> Iterator[Finding]:
    for index, item in enumerate(card.inputs):
        path, span = f"inputs[{index}]", f"the domain of {item.name!r}, [{item.low!r}, {item.high!r}],"
        if not (math.isfinite(item.low) and math.isfinite(item.high)):
            yield failed("domain", path, f"{span} is not finite; give finite bounds.")
        elif item.low >= item.high:
            kind = "is empty" if item.low == item.high else "is reversed"
            yield failed("domain", path, f"{span} {kind}; low must be less than high.")
        elif item.high - item.low <= 1e-6 * max(abs(item.low), abs(item.high)):
            yield failed("domain", path, f"{span} is all but a point; widen it.")
        elif item.scale == "log" and item.low <= 0:
            yield failed(
                "domain", path, f"{span} has a log scale; low must be above 0, or use scale: linear."
            )
        elif item.integer and not (float(item.low).is_integer() and float(item.high).is_integer()):
            yield failed("domain", path, f"{span} is of whole numbers; its bounds must be whole.")


_PLAIN_CHECKS: tuple[Callable[[Card], Iterator[Finding]], ...] = (
    _text,
    _dates,
    _giveaway,
    _precision,
    _sizes,
)
"""Checks that need nothing but the card."""
