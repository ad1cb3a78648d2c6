"""Evaluation: values, undefined points, and agreement of float64 with fifty digits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cards import precise
from cards.errors import ExpressionError
from cards.evaluate import evaluate, evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, walk
from cards.gradient import gradient
from cards.infix import parse_infix
from cards.operators import OPERATORS, Operator
from cards.probe import UndefinedError, precise_values, real_column
from tests.strategies import moderate, trees

UNDEFINED = [
    "1/0", "0*(1/0)", "x - x*(1/(x-x))", "log(0)", "log(-1)", "log10(0)", "log2(-x)", "sqrt(-x)", "(-x)^0.5",
    "(-8)^(1/3)", "0^0", "0^(-1)", "(x-x)^(x-x)", "asin(1+x)", "acos(-1-x)", "mod(x, 0)", "exp(1000)",
    "10^400", "1e308*10", "sinh(1000)", "cosh(-1000)", "max(1, sqrt(-1))", "step(log(0))", "0*exp(1000)",
    "min(0, 1/0)", "(1e200)^2/1e300", "sign(1/0)",
]  # fmt: skip
DEFINED = {
    "cbrt(-8)": -2, "(-2)^3": -8, "(-2)^(-1)": -0.5, "0^2": 0, "0^0.5": 0, "step(0)": 0, "step(1e-300)": 1,
    "step(-1)": 0, "sign(0)": 0, "sign(-3)": -1, "round(0.5)": 0, "round(1.5)": 2, "round(2.5)": 2,
    "round(-0.5)": 0, "mod(-1, 3)": 2, "mod(1, -3)": -2, "mod(5.5, 2)": 1.5, "atan2(1, -1)": 3 * math.pi / 4,
    "atan2(0, -1)": math.pi, "atan2(0, 0)": 0, "exp(-1000)": 0, "log2(8)": 3, "log10(1000)": 3, "5^0": 1,
    "sqrt(0)": 0, "asin(1)": math.pi / 2, "acos(-1)": math.pi, "floor(-1.5)": -2, "ceil(-1.5)": -1,
    "max(1, 3, 2)": 3, "min(1, 3, -2)": -2, "abs(-4)": 4, "tanh(1000)": 1, "1 + 2 + 3": 6, "2*3*4": 24,
}  # fmt: skip
COLUMNS = {"x": np.array([1.0, 2.0])}


def at_fifty_digits(tree: Tree, columns: dict[str, float]) -> float | None:
    """Return the high-precision value at one point as a float, None where undefined."""
    raw = {name: precise.from_binary(value) for name, value in columns.items()}
    try:
        return precise.to_float(precise_values(tree, raw, 1)[0])
    except UndefinedError:
        return None


@pytest.mark.parametrize("text", UNDEFINED)
def test_undefined_is_undefined_in_both_precisions(text: str) -> None:
    """No clipping, no default, no repair: an undefined sub-expression is never hidden (laws, section 2)."""
    tree = parse_infix(text)
    with pytest.raises(ExpressionError, match="undefined"):
        evaluate(tree, COLUMNS)
    values, defined = evaluate_partial(tree, COLUMNS)
    assert not defined.any()
    assert np.isnan(values).all()
    assert at_fifty_digits(tree, {"x": 1.0}) is None


@pytest.mark.parametrize(("text", "value"), DEFINED.items())
def test_defined_values_in_both_precisions(text: str, value: float) -> None:
    """The operators mean what laws, section 2 says, to the last corner."""
    tree = parse_infix(text)
    assert evaluate(tree, COLUMNS) == pytest.approx([value, value], rel=1e-15)
    assert at_fifty_digits(tree, {"x": 1.0}) == pytest.approx(value, rel=1e-15)


def test_the_error_leads_to_the_node_and_the_point() -> None:
    """An invalid predictor is reported with the node's path and the first point."""
    with pytest.raises(ExpressionError) as caught:
        evaluate(parse_infix("2 + 1/(x - 2)"), {"x": np.array([1.0, 2.0, 2.0])})
    assert caught.value.path == "args[1]"
    assert "div is undefined at x = 2 (and at 1 more of 3 points)" in str(caught.value)


def test_unknown_names_are_errors() -> None:
    """A tree is never evaluated with a name that has no column."""
    for function in (evaluate, evaluate_partial):
        with pytest.raises(ExpressionError, match="unknown variable 'q'"):
            function(parse_infix("x + q"), COLUMNS)


def test_inputs_that_are_not_finite_are_undefined() -> None:
    """NaN or an infinity in a column makes the point undefined."""
    _, defined = evaluate_partial(parse_infix("0*x + 1"), {"x": np.array([1.0, np.nan, np.inf])})
    assert defined.tolist() == [True, False, False]


def test_partial_evaluation_marks_points_one_by_one() -> None:
    """Only the undefined points are undefined."""
    values, defined = evaluate_partial(parse_infix("sqrt(x)*step(x)"), {"x": np.array([-1.0, 0.0, 4.0])})
    assert defined.tolist() == [False, True, True]
    assert np.isnan(values[0])
    assert values[1:].tolist() == [0.0, 2.0]


def test_results_have_the_shape_of_the_points() -> None:
    """Constants and parameters are broadcast over all points."""
    columns = {"x": np.ones(5), "R": 8.3}
    for text in ("2", "R", "x", "R*x"):
        result = evaluate(parse_infix(text), columns)
        assert result.shape == (5,)
        result[0] = 7  # the result is the caller's own, never a view of an input
    assert columns["x"].tolist() == [1] * 5
    assert evaluate(parse_infix("2*R"), {"R": 8.3}).shape == ()


@given(trees(moderate | st.sampled_from(["x", "y"]).map(Variable)), st.floats(0.1, 3), st.floats(-3, 3))
def test_both_evaluators_agree(tree: Tree, x: float, y: float) -> None:
    """float64 and fifty digits are undefined together and near each other where the tree is tame.

    Trees in which rounding may decide (a jump, a domain's edge) can differ; the test leaves out trees
    whose high-precision value changes when the inputs move by 1e-9, and undefinedness within 1e-9 of it.
    """
    columns = {"x": x, "y": y}
    exact = [
        at_fifty_digits(tree, {"x": x * (1 + s), "y": y * (1 + s)}) for s in (-1e-9, -3e-15, 0.0, 3e-15, 1e-9)
    ]
    values, defined = evaluate_partial(tree, columns)
    if all(value is None for value in exact):
        assert not defined or np.abs(values) > 1e300
        return
    known = [value for value in exact if value is not None]
    spread = max(known) - min(known)
    if len(known) == len(exact) and spread <= 1e-6 * abs(known[0]) and abs(known[0]) > 1e-200 and defined:
        assert values == pytest.approx(known[2], rel=1e-4)


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda operator: operator.name)
def test_one_table_defines_both_precisions(operator: Operator) -> None:
    """On a grid with every corner, ``defined`` and the high-precision function agree point by point."""
    grid = [-1e200, -710.0, -3.0, -2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 709.0, 710.5, 1e200]
    for first in grid:
        for second in grid if operator.min_args == 2 else [None]:
            args = [first] if second is None else [first, second]
            columns = {f"v{i}": np.array([value]) for i, value in enumerate(args)}
            tree = Apply(operator.name, tuple(Variable(name) for name in columns))
            value, defined = evaluate_partial(tree, columns)
            exact = at_fifty_digits(tree, {name: float(column[0]) for name, column in columns.items()})
            assert (exact is not None) == bool(defined[0]), args
            if exact is not None and not (operator.name in ("tan", "sin", "cos") and abs(first) > 1e100):
                assert value[0] == pytest.approx(exact, rel=1e-13, abs=1e-300), args


MP_FUNCTIONS: dict[str, Callable[..., object]] = {
    name: getattr(mpmath, name)
    for name in (
        "exp",
        "log",
        "log10",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "sqrt",
    )
}


@pytest.mark.parametrize("name", MP_FUNCTIONS)
def test_fifty_digits_are_fifty_digits(name: str) -> None:
    """The raw functions agree with mpmath at 70 digits to 52 digits."""
    with mpmath.workdps(70):
        for value in (0.03, 0.5, 0.97):
            raw = OPERATORS[name].high_precision(precise.from_binary(value))
            expected = MP_FUNCTIONS[name](mpmath.mpf(value))
            assert abs(mpmath.mpf(str(raw)) / expected - 1) < mpmath.mpf(10) ** -52


def test_powers_keep_their_digits() -> None:
    """Large exponents cost no digits."""
    with mpmath.workdps(80):
        for base, exponent in ((1.0000001, 1e9), (2.5, 300.25), (-1.5, 701.0), (0.999, -1e5), (3.0, 1023.0)):
            raw = precise.power(precise.from_binary(base), precise.from_binary(exponent))
            if precise.first_undefined([raw]) is not None:
                continue
            expected = mpmath.mpf(base) ** mpmath.mpf(exponent)
            assert abs(mpmath.mpf(str(raw)) / expected - 1) < mpmath.mpf(10) ** -50


def test_constants_are_the_decimals_that_are_written() -> None:
    """0.1 is a tenth at fifty digits, not the nearest binary fraction; inputs are what they are."""
    with mpmath.workdps(50):
        assert abs(mpmath.mpf(str(precise.from_float(0.1))) * 10 - 1) < mpmath.mpf(10) ** -49
    assert real_column(np.array([0.1]))[0].as_integer_ratio() == (0.1).as_integer_ratio()


@given(trees(moderate | st.sampled_from(["x", "y"]).map(Variable), max_leaves=8), st.floats(0.2, 3))
def test_derivatives_agree_with_differences(tree: Tree, x: float) -> None:
    """Reverse accumulation agrees with a central difference at fifty digits, where the tree is smooth."""
    y = 0.7
    step = 2.0**-30
    columns = {"x": x, "y": y}
    around = [at_fifty_digits(tree, {"x": x + k * step, "y": y}) for k in (-2, -1, 0, 1, 2)]
    if any(value is None or abs(value) > 1e12 for value in around):
        return
    a, b, _, c, d = (value or 0.0 for value in around)
    wide, narrow = (d - a) / (4 * step), (c - b) / (2 * step)
    slope = float(gradient(tree, columns, ["x"])["x"])
    noise = 1e-4 * abs(narrow) + 1e-5 * max(1.0, abs(c))
    if math.isfinite(slope) and abs(wide - narrow) <= noise:
        switching = any(isinstance(n, Apply) and OPERATORS[n.op].switching for _, n in walk(tree))
        assert switching or slope == pytest.approx(narrow, rel=1e-2, abs=10 * noise)


def test_derivatives_of_every_operator() -> None:
    """Each row's partial derivatives agree with a central difference."""
    for operator in OPERATORS.values():
        count = operator.max_args or 3
        point = {f"v{i}": 0.37 + 0.21 * i for i in range(count)}
        tree = Apply(operator.name, tuple(Variable(name) for name in point))
        slopes = gradient(tree, point, point)
        for name, value in point.items():
            high, low = (evaluate(tree, {**point, name: value + h}) for h in (1e-6, -1e-6))
            assert slopes[name] == pytest.approx((high - low) / 2e-6, rel=1e-6, abs=1e-9), operator.name


def test_whole_numbers_of_a_dense_submission_are_evaluated_at_once() -> None:
    """1,000 submissions on 256 points take about a second (issue A); twice that is allowed here."""
    tree = parse_infix("n*R*T/(V - n*b) - a*n^2/V^2 + exp(-T/300)*sqrt(V)")
    generator = np.random.default_rng(0)
    columns = {name: generator.uniform(1, 2, 256) for name in "nRTVa"} | {"b": 1e-3}
    start = time.process_time()
    for _ in range(1000):
        evaluate(tree, columns)
    assert time.process_time() - start < 2.0


def test_a_constant_tree_is_constant() -> None:
    """A number needs no columns."""
    assert evaluate(Number(3.0), {}).shape == ()
