"""Complexity is counted in reduced form: what a number can absorb costs nothing."""

from __future__ import annotations

import numpy as np
import pytest

from cards.evaluate import evaluate, evaluate_partial
from cards.expression import Number, bind
from cards.infix import parse_infix
from cards.store import historical
from environments.law.complexity import Complexity, complexity, reduced
from environments.law.generate import make_pair
from environments.seeding import derive

CARDS = {card.id: card for card in historical()}
SIGNED = ("pendulum",)
"""Cards that take the root of a product of two negative factors once its sum leads with a plus."""


@pytest.mark.parametrize(
    ("law", "form"),
    [
        ("3*(x/2)^2", "0.75*x^2"),
        ("(x*(x/2)^0.3)^2*y", "2^(-0.6)*x^2.6*y"),
        ("1/sqrt(4*x)", "0.5*x^(-0.5)"),
        ("x/x", "1"),
        ("x - x + 2", "2"),
        ("2*(x + 3*y) + 4*y", "2*(x + 5*y)"),
        ("-(2 - x)", "-2 + x"),
        ("exp(-(2*x*3))", "exp(-6*x)"),
        ("x*log(2)/log(4)", "0.5*x"),
        ("0*x + y", "y"),
    ],
)
def test_reduced_forms(law: str, form: str) -> None:
    """Numbers fold, powers meet, sums are flat and lead with the coefficient one."""
    once = reduced(parse_infix(law))
    assert once == reduced(parse_infix(form)) == reduced(once)


@pytest.mark.parametrize("card", CARDS)
def test_a_reduced_form_is_the_same_function(card: str) -> None:
    """Reducing changes how a relation is written and nothing else, wherever it is defined."""
    pair = make_pair(CARDS[card], derive(b"complexity", card), "medium", others=list(CARDS.values()))
    definition = pair.definition
    columns = {name: np.array(values) for name, values in definition.design.items()}
    for variant in ("original", "counterfactual"):
        for tree in definition.truth(variant).values():
            whole = bind(tree, definition.told_values())
            found, defined = evaluate_partial(reduced(whole), columns)
            assert np.all(defined) or card in SIGNED
            assert found[defined] == pytest.approx(evaluate(whole, columns)[defined], rel=1e-6)


def test_another_coefficient_or_exponent_is_no_more_complex() -> None:
    """These are the matched pairs; a term, a factor or an exponent beside one is more."""
    law = complexity({"y": parse_infix("3*u/v^2")})
    assert law == Complexity(nodes=6, numbers=2) == complexity({"y": parse_infix("7*u/(v*(v/5)^0.3)^2")})
    assert complexity({"y": parse_infix("3*u*(1 + 0.2*v)/v^2")}).nodes > law.nodes
    assert complexity({"y": parse_infix("3*(u/2)^1.3/v^2")}).numbers > law.numbers


def test_undefined_constants_stay_as_they_are() -> None:
    """Nothing is folded that has no value."""
    tree = parse_infix("log(0 - 1)*x")
    assert complexity({"y": tree}).numbers > 0
    assert reduced(Number(2.0)) == Number(2.0)
