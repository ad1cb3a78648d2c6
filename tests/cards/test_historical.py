"""The Historical collection: size, kinds, constants, and that each card can be played and answered."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import constants
from scipy.optimize import least_squares

from cards.acceptance import accept
from cards.card import Card, Observable
from cards.domain import points
from cards.evaluate import evaluate
from cards.expression import Apply, Number, Tree, Variable, names
from cards.finding import errors
from cards.infix import print_infix
from cards.store import historical

CARDS = historical()
HIDING = [card for card in CARDS if any(not parameter.told for parameter in card.parameters)]
TABLE = Path(__file__).parents[2] / "docs" / "historical.md"
COMMUTATIVE = frozenset({"add", "mul", "min", "max"})
SHAPELESS = frozenset({"mul", "div", "neg", "sqrt", "cbrt"})

Floats = NDArray[np.float64]


def each(cards: list[Card]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("card", cards, ids=[card.id for card in cards])


def is_monomial(tree: Tree) -> bool:
    """Whether the tree is a product of powers with fixed exponents."""
    if not isinstance(tree, Apply):
        return True
    if tree.op == "pow":
        base, exponent = tree.args
        return isinstance(exponent, Number) and is_monomial(base)
    return tree.op in SHAPELESS and all(is_monomial(argument) for argument in tree.args)


def shares_a_quantity(card: Card) -> bool:
    """Whether some input or parameter stands in two relations."""
    seen: set[str] = set()
    for observable in card.observables:
        if seen & names(observable.relation):
            return True
        seen |= names(observable.relation)
    return False


def renamed(tree: Tree, new: dict[str, str]) -> str:
    """Write the tree with other names; the order of like arguments does not matter."""
    if isinstance(tree, Number):
        return repr(tree.value)
    if isinstance(tree, Variable):
        return new[tree.name]
    written = [renamed(argument, new) for argument in tree.args]
    if tree.op in COMMUTATIVE:
        written.sort()
    return f"{tree.op}({','.join(written)})"


def fingerprint(card: Card) -> tuple[str, ...]:
    """Return what stays the same when inputs are renamed or exchanged and parameters lose their names."""
    kept = {parameter.name: "k" for parameter in card.parameters}
    inputs = [item.name for item in card.inputs]
    return min(
        tuple(
            sorted(
                renamed(item.relation, {**kept, **dict(zip(order, inputs_as(order), strict=True))})
                for item in card.observables
            )
        )
        for order in permutations(inputs)
    )


def inputs_as(order: tuple[str, ...]) -> list[str]:
    return [f"x{place}" for place in range(len(order))]


def rounded(observable: Observable, values: Floats) -> Floats:
    """Read the values as the card's instrument would."""
    if observable.significant_digits is not None:
        return np.array([float(f"{value:.{observable.significant_digits - 1}e}") for value in values])
    if observable.resolution is not None:
        return np.asarray(np.rint(values / observable.resolution) * observable.resolution)
    return values


def test_the_collection_is_large_and_mixed() -> None:
    """At least 30 families in five fields: 10 not monomials, 6 with three inputs, 3 with two observables."""
    assert len(CARDS) >= 30
    fields = {card.discipline for card in CARDS}
    assert fields >= {"physics", "chemistry", "biology", "engineering", "astronomy"}
    shaped = [card for card in CARDS if not all(is_monomial(item.relation) for item in card.observables)]
    assert len(shaped) >= 10
    assert sum(len(card.inputs) >= 3 for card in CARDS) >= 6
    assert sum(len(card.observables) == 2 and shares_a_quantity(card) for card in CARDS) >= 3


@each(CARDS)
def test_every_card_is_accepted(card: Card) -> None:
    """A Historical card passes every acceptance check."""
    assert errors(accept(card)) == []
    assert card.collection == "historical"


@each(CARDS)
def test_codata_values_are_those_of_scipy(card: Card) -> None:
    """A constant that cites CODATA 2022 equals the value of scipy.constants, which holds that adjustment.

    The two adjustments differ in the vacuum permittivity, which tells which one is installed.
    """
    assert constants.value("vacuum electric permittivity") == 8.8541878188e-12
    for parameter in card.parameters:
        if match := re.match(r"CODATA 2022, ([^(]+?)(?: \(|$)", parameter.source):
            assert parameter.told
            assert parameter.value == constants.value(match.group(1))
        if "scipy.constants.g)" in parameter.source:
            assert parameter.value == constants.g


@each(CARDS)
def test_every_source_says_what_it_was_checked_against(card: Card) -> None:
    """No citation and no constant stands on memory alone."""
    assert len(card.source.checked_against) > 40
    assert 1600 <= card.source.year <= 2005
    assert all(len(parameter.source) > 10 for parameter in card.parameters)


@each(CARDS)
def test_nothing_a_player_reads_names_the_law(card: Card) -> None:
    """No word of the title and no author's name stands in the texts of the brief."""
    told = [item.description for item in card.parameters]
    set_by_player = [item.description for item in card.inputs]
    read = [item.description for item in card.observables]
    text = " ".join([card.background, *set_by_player, *read, *told]).casefold()
    words = re.findall(r"[^\W\d_]{4,}", f"{card.title} {card.source.authors}".casefold())
    found = [word for word in words if word != "with" and re.search(rf"\b{word}", text)]
    assert found == []


@each(CARDS)
def test_the_text_is_two_or_three_sentences_long(card: Card) -> None:
    """The background describes the apparatus in a few sentences and shows no formula."""
    sentences = re.findall(r"[^.]+\.", card.background)
    assert 2 <= len(sentences) <= 4
    for observable in card.observables:
        assert print_infix(observable.relation).replace(" ", "") not in card.background.replace(" ", "")


def test_no_two_cards_are_equal_by_renaming() -> None:
    """Two families that differ in names alone would be one family counted twice."""
    prints = [fingerprint(card) for card in CARDS]
    assert len(set(prints)) == len(CARDS)
    assert len({card.title for card in CARDS}) == len(CARDS)


@each(HIDING)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hidden_constants_come_back_exactly(card: Card, seed: int) -> None:
    """Sixteen rounded readings, least squares and rounding to three digits give each constant back.

    Starts lie up to 20 % from the truth; the seeds fix both the design and the start.
    """
    columns = points(card.domain(), 16, seed)
    truth = card.values()
    hidden = [parameter.name for parameter in card.parameters if not parameter.told]
    readings = [rounded(item, evaluate(item.relation, {**columns, **truth})) for item in card.observables]

    def residual(factors: Floats) -> Floats:
        tried = {name: truth[name] * factor for name, factor in zip(hidden, factors, strict=True)}
        found = [evaluate(item.relation, {**columns, **truth, **tried}) for item in card.observables]
        scale = [
            item.absolute_tolerance + card.relative_tolerance * np.abs(reading)
            for item, reading in zip(card.observables, readings, strict=True)
        ]
        return np.concatenate([(f - r) / s for f, r, s in zip(found, readings, scale, strict=True)])

    start = np.random.default_rng(seed).uniform(0.8, 1.2, len(hidden))
    fitted = least_squares(residual, start, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    back = {name: float(f"{truth[name] * factor:.3g}") for name, factor in zip(hidden, fitted, strict=True)}
    assert back == {name: truth[name] for name in hidden}


def test_the_table_of_sources_lists_every_family() -> None:
    """The page that says what was checked against what has one row per card, with its work and year."""
    rows = {line.split("|")[1].strip(): line for line in TABLE.read_text("utf-8").splitlines() if "|" in line}
    for card in CARDS:
        assert card.id in rows
        assert card.source.title in rows[card.id]
        assert str(card.source.year) in rows[card.id]
    assert len(rows) == len(CARDS) + 2  # the head and the rule beneath it
