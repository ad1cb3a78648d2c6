"""Is a mutated relation a known one in disguise: other names, or like inputs exchanged?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations, product

import numpy as np

from cards.card import Card, Input
from cards.evaluate import evaluate_partial
from cards.expression import Tree
from cards.units import Unit, parse_unit
from environments.law.definition import Certificate, FloatArray, LawDefinition, Measured
from environments.law.study import Study

RELATIVE = 1e-6
"""Responses that agree to this everywhere are the same relation."""
_PROBES = 32
_MOST_RENAMINGS = 720


def fingerprint(inputs: Sequence[Input], observables: Sequence[Measured]) -> tuple[object, ...]:
    """Return what two relations must share before a renaming can make them equal: their units."""
    return (_kinds(item.unit for item in inputs), _kinds(item.unit for item in observables))


def new(study: Study, definition: LawDefinition) -> Certificate:
    """The mutated relation is no card's original under other names or with like inputs exchanged.

    The card's own original counts too. Compared by value on points of this card's domain, over every
    assignment of inputs and observables that keeps units.
    """
    own = fingerprint(definition.inputs, definition.observables)
    probes = {name: column[:_PROBES] for name, column in study.sample.items()}
    mutated = definition.respond(probes, "counterfactual")
    compared = 0
    for card in (study.card, *study.others):
        if fingerprint(card.inputs, _measured(card)) != own:
            continue
        compared += 1
        if _same_somehow(card, definition, probes, mutated):
            message = f"equal to the original of {card.id} by renaming"
            return Certificate(name="new", passed=False, values={"compared": compared}, message=message)
    return Certificate(name="new", passed=True, values={"compared": compared})


def _same_somehow(
    card: Card,
    definition: LawDefinition,
    probes: Mapping[str, FloatArray],
    mutated: Mapping[str, FloatArray],
) -> bool:
    known = [(item.name, item.unit) for item in definition.inputs]
    inputs = _renamings([(item.name, item.unit) for item in card.inputs], known)
    ours = [(item.name, item.unit) for item in definition.observables]
    theirs = [(item.name, item.unit) for item in card.observables]
    trees = {item.name: item.relation for item in card.observables}
    for names, outputs in product(inputs, list(_renamings(theirs, ours))):
        columns = {theirs_name: probes[our_name] for theirs_name, our_name in names.items()}
        if all(_agree(trees[t], {**columns, **card.values()}, mutated[o]) for t, o in outputs.items()):
            return True
    return False


def _agree(tree: Tree, columns: Mapping[str, FloatArray | float], values: FloatArray) -> bool:
    found, defined = evaluate_partial(tree, columns)
    close = np.abs(found - values) <= RELATIVE * np.abs(values)
    return bool(np.any(defined)) and bool(np.all(close[defined]))


def _renamings(
    theirs: Sequence[tuple[str, str]], ours: Sequence[tuple[str, str]]
) -> Iterator[dict[str, str]]:
    for order in islice(permutations(ours), _MOST_RENAMINGS):
        if all(_like(a[1], b[1]) for a, b in zip(theirs, order, strict=True)):
            yield {a[0]: b[0] for a, b in zip(theirs, order, strict=True)}


def _like(one: str, other: str) -> bool:
    left, right = parse_unit(one), parse_unit(other)
    return left.same_dimension(right) and left.same_scale(right)


def _kinds(texts: Iterator[str]) -> frozenset[tuple[object, int]]:
    return frozenset(Counter(_key(parse_unit(text)) for text in texts).items())


def _key(unit: Unit) -> object:
    return (unit.exponents, float(f"{unit.scale:.9e}"))


def _measured(card: Card) -> list[Measured]:
    return [
        Measured(name=item.name, unit=item.unit, description="", absolute_tolerance=item.absolute_tolerance)
        for item in card.observables
    ]
