"""Infix text: grammar, exact round trips, bounds, and that nothing is evaluated as code."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cards.errors import ExpressionError
from cards.expression import MAX_DEPTH, Apply, Number, Tree, Variable, depth
from cards.infix import number_text, parse_constraint, parse_infix, print_constraint, print_infix
from cards.operators import OPERATORS
from tests.strategies import trees

X, Y, Z = Variable("x"), Variable("y"), Variable("z")
TWO = Number(2.0)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x + y*z", Apply("add", (X, Apply("mul", (Y, Z))))),
        ("x + y + z", Apply("add", (X, Y, Z))),
        ("(x + y) + z", Apply("add", (Apply("add", (X, Y)), Z))),
        ("x + (y + z)", Apply("add", (X, Apply("add", (Y, Z))))),
        ("x - y - z", Apply("sub", (Apply("sub", (X, Y)), Z))),
        ("x/y/z", Apply("div", (Apply("div", (X, Y)), Z))),
        ("x/y*z", Apply("mul", (Apply("div", (X, Y)), Z))),
        ("x^y^z", Apply("pow", (X, Apply("pow", (Y, Z))))),
        ("x**2", Apply("pow", (X, TWO))),
        ("-x^2", Apply("neg", (Apply("pow", (X, TWO)),))),
        ("-2^x", Apply("neg", (Apply("pow", (TWO, X)),))),
        ("(-2)^x", Apply("pow", (Number(-2.0), X))),
        ("-2*x", Apply("mul", (Number(-2.0), X))),
        ("-x*y", Apply("mul", (Apply("neg", (X,)), Y))),
        ("-(2)", Apply("neg", (TWO,))),
        ("x^-2", Apply("pow", (X, Number(-2.0)))),
        ("x - -2", Apply("sub", (X, Number(-2.0)))),
        ("+x", X),
        ("2*pi", Apply("mul", (TWO, Number(math.pi)))),
        ("ln(x)", Apply("log", (X,))),
        ("max(x, y, z)", Apply("max", (X, Y, Z))),
        ("atan2(y, x)", Apply("atan2", (Y, X))),
        ("mod(x, 2)", Apply("mod", (X, TWO))),
        ("1e-3", Number(0.001)),
        (".5e2", Number(50.0)),
        ("2.", TWO),
        ("x·y × z", Apply("mul", (X, Y, Z))),
        ("x − y", Apply("sub", (X, Y))),
        (" \n x\t", X),
    ],
)
def test_grammar(text: str, tree: Tree) -> None:
    """The precedence and grouping that people expect of infix text."""
    assert parse_infix(text) == tree


@given(trees())
@example(Apply("neg", (Number(-2.0),)))
@example(Apply("pow", (Number(-0.0), Apply("neg", (X,)))))
@example(Apply("add", (Apply("add", (X, Y)), Apply("sub", (X, Y)), Number(-1.0))))
@example(Apply("div", (Apply("mul", (Apply("mul", (X, Y)), Z)), Apply("div", (X, Y)))))
@example(Number(5e-324))
@example(Number(1.7976931348623157e308))
def test_printing_round_trips(tree: Tree) -> None:
    """Printed text reads back to the same tree, structure and constants exactly."""
    text = print_infix(tree)
    if len(text) <= 10_000:
        again = parse_infix(text)
        assert again == tree
        assert print_infix(again) == text


def test_the_deepest_legal_trees_round_trip() -> None:
    """Every shape of nesting to the limit of 64 can be written and read."""
    for op in sorted(OPERATORS):
        tree: Tree = X
        for _ in range(MAX_DEPTH):
            tree = Apply(op, (tree,) * 1 + (Y,) * (OPERATORS[op].min_args - 1))
        assert depth(tree) == MAX_DEPTH
        assert parse_infix(print_infix(tree)) == tree
        if OPERATORS[op].min_args == 2:
            tree = X
            for _ in range(MAX_DEPTH):
                tree = Apply(op, (Y, tree))
            assert parse_infix(print_infix(tree)) == tree


@pytest.mark.parametrize(
    ("value", "text"), [(2.0, "2"), (0.1, "0.1"), (1e22, "1e+22"), (-0.0, "-0"), (8.314462618, "8.314462618")]
)
def test_numbers_are_shortest_decimals(value: float, text: str) -> None:
    """A constant is printed by the shortest decimal that reads back to it."""
    assert number_text(value) == text
    assert float(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "x +", "* x", "(x", "x)", "()", "x y", "2x", "2 3", "sin x", "sin()", "sin(1, 2)", "max(1)",
        "foo(1)", "__import__('os').system('true')", "x.y", "x[0]", "lambda: 1", "x = 1", "x if y else z",
        "'x'", "x;y", "x > y", "1e999", "x ++", "f(x", "x,,y", "$x", "x//y", "x % y", "_x", "0x10", "1_000",
    ],
)  # fmt: skip
def test_what_is_not_an_expression_is_refused(text: str) -> None:
    """Text outside the small grammar is refused with a message, never evaluated."""
    with pytest.raises(ExpressionError):
        parse_infix(text)


def test_the_message_names_the_place() -> None:
    """An error says which character cannot stand where it stands."""
    with pytest.raises(ExpressionError, match=r"found '\*' at character 5"):
        parse_infix("x + * y")


@given(st.text(alphabet="xy()+-*/^,. 123e<>=πsin\x00", max_size=40) | st.text(max_size=40))
def test_any_text_is_a_tree_or_a_clean_refusal(text: str) -> None:
    """Whatever is typed ends in a tree or in an ExpressionError."""
    try:
        tree = parse_infix(text)
    except ExpressionError:
        return
    assert parse_infix(print_infix(tree)) == tree


@pytest.mark.parametrize(
    "text",
    ["(" * 9_999, "-" * 9_999, "+" * 9_999, "x^" * 4_999 + "x", "sin(" * 2_000, "(" * 4_999 + ")" * 4_999,
     "-(" * 3_000, "x+" * 4_999 + "x", "x-" * 4_999 + "x", "(" * 100_000, "1" * 100_000, "x+" * 1_000_000],
    ids=lambda text: f"{text[:4]}{len(text)}",
)  # fmt: skip
def test_hostile_text_is_refused_at_once(text: str) -> None:
    """Length, nesting and nodes are bounded while reading."""
    start = time.process_time()
    with pytest.raises(ExpressionError):
        parse_infix(text)
    assert time.process_time() - start < 1.0


@pytest.mark.parametrize("text", ["n2 > n1", "x + y <= 1", "x >= 0.5*y", "a < b"])
def test_constraints_round_trip(text: str) -> None:
    """A constraint is one comparison between two expressions."""
    constraint = parse_constraint(text)
    assert print_constraint(constraint) == text
    assert parse_constraint(print_constraint(constraint)) == constraint


@pytest.mark.parametrize("text", ["x", "x > y > z", "x == y", "x >", "> y", "x ≠ y", "(x > y)", ""])
def test_other_comparisons_are_refused(text: str) -> None:
    """Chains and other relations are no constraints."""
    with pytest.raises(ExpressionError):
        parse_constraint(text)


def test_unicode_comparisons_are_read() -> None:
    """≤ and ≥ mean <= and >=."""
    assert parse_constraint("x ≤ y") == parse_constraint("x <= y")
    assert parse_constraint("x ≥ y") == parse_constraint("x >= y")
