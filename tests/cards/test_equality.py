"""Equality: the labelled pairs, approximations, narrow pieces, bounded work, and rewriting by rules."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cards.domain import Domain, Interval, points
from cards.equality import Verdict, decide
from cards.errors import ExpressionError
from cards.evaluate import evaluate, evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, names, substitute, walk
from cards.infix import parse_constraint, parse_infix, print_infix
from cards.operators import OPERATORS
from cards.poles import holes, poles
from tests.cards.equality_pairs import DOMAIN, RECOMPUTED, REWRITTEN, WRONG
from tests.strategies import moderate, trees

UNIT = Domain({"x": Interval(0.0, 1.0)})


def verdict(truth: str, submission: str, domain: Domain = DOMAIN) -> Verdict:
    return decide(parse_infix(truth), parse_infix(submission), domain)


def test_the_corpus_is_large_enough() -> None:
    """At least 80 labelled pairs, none twice."""
    pairs = REWRITTEN + RECOMPUTED + WRONG
    assert len(set(pairs)) == len(pairs) >= 150


@pytest.mark.parametrize(("truth", "submission"), REWRITTEN)
def test_a_rewritten_truth_is_equal(truth: str, submission: str) -> None:
    """Equal is the same real function on the domain, however it is written (laws, section 7)."""
    found = verdict(truth, submission)
    assert found.outcome == "equal", found.reason
    back = verdict(submission, truth)
    assert back.outcome == "equal", back.reason


@pytest.mark.parametrize(("truth", "submission"), RECOMPUTED)
def test_rounded_and_folded_constants_are_equal(truth: str, submission: str) -> None:
    """Constants that were recomputed pass when none moves by more than 1e-6 of itself."""
    found = verdict(truth, submission)
    assert found.outcome == "equal", found.reason


@pytest.mark.parametrize(("truth", "submission"), WRONG)
def test_another_function_is_different(truth: str, submission: str) -> None:
    """A constant off by 3e-6, a narrow piece, a sign, or an undefined point make a difference."""
    found = verdict(truth, submission)
    assert found.outcome == "different", found.reason


def polynomial(coefficients: np.ndarray) -> Tree:
    """Write a polynomial in x in Horner's form."""
    tree: Tree = Number(float(coefficients[-1]))
    for value in coefficients[-2::-1]:
        tree = Apply("add", (Number(float(value)), Apply("mul", (Variable("x"), tree))))
    return tree


def monomials(coefficients: np.ndarray) -> Tree:
    """Write a polynomial in x as a sum of powers."""
    x = Variable("x")
    terms = [
        Apply("mul", (Number(float(c)), Apply("pow", (x, Number(float(k))))))
        for k, c in enumerate(coefficients)
    ]
    return Apply("add", tuple(terms))


def chebyshev(coefficients: np.ndarray) -> Tree:
    """Write a Chebyshev sum on [0, 1] with cosines of multiples of an angle."""
    angle = parse_infix("acos(2*x - 1)")
    terms = [
        Apply("mul", (Number(float(c)), Apply("cos", (Apply("mul", (Number(float(k)), angle)),))))
        for k, c in enumerate(coefficients)
    ]
    return Apply("add", tuple(terms))


@pytest.mark.parametrize("form", [polynomial, monomials])
@pytest.mark.parametrize("degree", [5, 8, 12, 16, 24])
@pytest.mark.parametrize("truth", ["exp(-x)", "1/(1 + x)", "sin(3*x)", "0.7*(x + 0.1)^1.5", "log(1 + x)"])
def test_a_dense_polynomial_is_never_equal(
    form: Callable[[np.ndarray], Tree], degree: int, truth: str
) -> None:
    """A polynomial fit, however close, is not the relation (laws, section 7)."""
    fit = np.polynomial.Polynomial.fit(
        grid := np.linspace(0, 1, 400), evaluate(parse_infix(truth), {"x": grid}), degree
    ).convert()
    found = decide(parse_infix(truth), form(fit.coef), UNIT)
    assert found.outcome == "different", found.reason


@pytest.mark.parametrize("degree", [6, 12, 20, 40])
@pytest.mark.parametrize("truth", ["exp(-x)", "1/(1 + x)", "sin(3*x)"])
def test_a_chebyshev_series_is_never_equal(degree: int, truth: str) -> None:
    """Neither is a Chebyshev series, whose terms do not grow ill-conditioned."""
    relation = parse_infix(truth)
    series = np.polynomial.Chebyshev.interpolate(
        lambda x: evaluate(relation, {"x": x}), degree, domain=[0, 1]
    )
    found = decide(relation, chebyshev(series.coef), UNIT)
    assert found.outcome == "different", found.reason


def test_a_table_of_steps_is_never_equal() -> None:
    """A look-up table that passes through many points is not the relation."""
    edges = np.linspace(0, 1, 40)
    terms = [parse_infix("1")]
    for low, high in pairwise(edges):
        rise = float(math.exp(-high) - math.exp(-low))
        terms.append(parse_infix(f"{rise!r}*step(x - {float(low)!r})"))
    found = decide(parse_infix("exp(-x)"), Apply("add", tuple(terms)), UNIT)
    assert found.outcome == "different", found.reason


@pytest.mark.parametrize("degree", [4, 8, 12, 16])
def test_an_expanded_polynomial_with_rounded_coefficients_is_equal(degree: int) -> None:
    """The same polynomial expanded, its coefficients rounded to float64, passes by the refit."""
    truth = Apply("pow", (parse_infix("x + 0.7"), Number(float(degree))))
    coefficients = np.array([math.comb(degree, k) * 0.7 ** (degree - k) for k in range(degree + 1)])
    for form in (polynomial, monomials):
        found = decide(truth, form(coefficients), UNIT)
        assert found.outcome == "equal", found.reason


@pytest.mark.parametrize("width", [0.01, 1e-3, 1e-5])
@pytest.mark.parametrize("place", [0.013, 0.37, 0.7071, 0.985])
def test_a_narrow_band_is_found_wherever_it_lies(width: float, place: float) -> None:
    """64 random points miss a 1 % band half of the time; the search for surfaces does not."""
    for band in (
        f"step(x - {place})*step({place + width} - x)",
        f"step({width / 2} - abs(x - {place + width / 2}))",
        f"max(0, {width**2 / 4} - (x - {place + width / 2})^2)",
        f"abs(x - {place}) + abs(x - {place + width}) - abs(2*x - {2 * place + width})",
        f"(floor(x/{place} - {width}) - floor(x/{place}))*step({1.5 * place} - x)",
    ):
        found = decide(parse_infix("2 + x"), parse_infix(f"2 + x + 0.01*({band})"), UNIT)
        assert found.outcome == "different", (band, found.reason)


@pytest.mark.parametrize("inputs", [2, 3, 4])
def test_a_narrow_corner_is_found(inputs: int) -> None:
    """A piece that is narrow in every input is reached from surface to surface."""
    names = "xyzw"[:inputs]
    domain = Domain({name: Interval(0, 1) for name in names})
    truth = "1 + " + " + ".join(names)
    corner = "*".join(f"step({name} - 0.98)" for name in names)
    found = decide(parse_infix(truth), parse_infix(f"{truth} + 0.01*{corner}"), domain)
    assert found.outcome == "different", found.reason


def test_a_difference_on_half_of_the_domain_is_a_difference() -> None:
    """Equal on half of the domain is not equal."""
    assert verdict("x + abs(z)", "x + z").outcome == "different"
    assert (
        verdict("x + abs(z)", "x + z", Domain({"x": Interval(0, 1), "z": Interval(0, 1)})).outcome == "equal"
    )


def test_constraints_bound_what_is_compared() -> None:
    """Trees need to agree only where the constraints hold."""
    box = {"x": Interval(0, 1), "y": Interval(0, 1)}
    inside = Domain(box, (parse_constraint("y > x"),))
    assert verdict("max(x, y)", "y", inside).outcome == "equal"
    assert verdict("max(x, y)", "y", Domain(box)).outcome == "different"


def test_a_submission_undefined_on_the_domain_is_different() -> None:
    """The verdict says where the submission is undefined."""
    found = verdict("x", "x + 0*sqrt(z)")
    assert found.outcome == "different"
    assert "undefined at" in found.reason


def test_a_truth_undefined_on_the_domain_decides_nothing() -> None:
    """A broken truth is nobody's failure: undetermined, with the reason."""
    found = verdict("log(z)", "log(z) + x")
    assert found.outcome == "undetermined"
    assert "truth itself is undefined" in found.reason


def test_an_edge_where_a_relation_is_undefined_decides_nothing() -> None:
    """On the very edge of the domain a relation, or its rewriting, may be undefined; inside it may not."""
    domain = Domain({"x": Interval(0, 1), "y": Interval(1, 2)})
    assert verdict("1/log(y)", "1/(2*log(sqrt(y)))", domain).outcome == "equal"
    assert verdict("x^2", "exp(2*log(x))", domain).outcome == "equal"
    assert verdict("x^2", "x^2 + 0*log(x - 0.001)", domain).outcome == "different"


def test_unknown_names_are_errors() -> None:
    """A name that the domain does not know cannot be compared."""
    with pytest.raises(ExpressionError, match="unknown variable"):
        verdict("x", "q")


def test_told_parameters_are_not_the_submissions_constants() -> None:
    """A told parameter in the wrong place cannot be moved into the right value."""
    near = Domain({"x": Interval(1, 2)}, constants={"a": 2.0, "b": 2.0000002})
    assert verdict("a*x", "a*x", near).outcome == "equal"
    assert verdict("a*x", "b*x", near).outcome == "different"
    assert verdict("a*x", "2.0000002*x", near).outcome == "equal"


def test_the_reason_names_the_move_of_a_constant() -> None:
    """What decided is said: here the constant that would have to move too far."""
    found = verdict("40*x + 0.728*v", "40*x + 0.728002184*v")
    assert found.outcome == "different"
    assert "3e-06" in found.reason


def heavy(op: str, count: int) -> Tree:
    """Make a tree of about 1,000 nodes whose every node is expensive."""
    terms = [parse_infix(f"{op}({1 + k / 997!r}*x)") for k in range(count)]
    return Apply("add", tuple(terms))


@pytest.mark.parametrize(
    "submission",
    [
        heavy("exp", 250),
        heavy("tan", 250),
        heavy("abs", 250),
        heavy("abs", 400),
        heavy("atan", 250),
        Apply("max", tuple(parse_infix(f"{k / 500!r} - x") for k in range(300))),
        Apply("mul", tuple(parse_infix(f"x + {k / 500!r}") for k in range(300))),
        parse_infix("sin(1e300*x)"),
        parse_infix("step(sin(1e6*x) - 0.999)"),
        parse_infix("floor(1e9*x)"),
        parse_infix("x^(1e9*x)"),
        parse_infix("(((1 + x*1e-9)^1e9)^0.001)^1e3"),
        polynomial(np.linspace(1, 2, 32)),
        monomials(np.linspace(1, 2, 250)),
        parse_infix("+".join(f"step(x - {k / 61!r})" for k in range(60))),
    ],
    ids=lambda tree: print_infix(tree)[:30],
)
def test_every_decision_is_bounded(submission: Tree) -> None:
    """Whatever is submitted, a verdict comes within two seconds of work, against itself as well."""
    noisy = Apply("mul", (submission, Number(1.0000001)))
    for truth in (parse_infix("exp(-x)"), noisy):
        start = time.process_time()
        found = decide(truth, submission, UNIT)
        assert time.process_time() - start < 2.0
        assert found.reason


def test_too_much_work_is_undetermined() -> None:
    """What cannot be decided within the bound is undetermined, with a reason: neither success nor failure."""
    truth = heavy("atan", 150)
    wide = Domain({"x": Interval(0.0, 1.0), "y": Interval(0.0, 1.0)})
    found = decide(truth, Apply("mul", (truth, Number(1.0000001))), UNIT)
    assert found.outcome == "undetermined"
    assert "refit of 150 constants" in found.reason
    both = Apply("add", tuple(parse_infix(f"abs({1 + k / 997!r}*x - y)") for k in range(150)))
    found = decide(both, Apply("mul", (both, Number(1.0000001))), wide)
    assert found.outcome == "undetermined"
    assert "150 surfaces" in found.reason


POSITIVE = Domain({"x": Interval(0.5, 2), "y": Interval(1, 3)})
RULES: list[tuple[str, str]] = [
    ("a + b", "b + a"),
    ("a*b", "b*a"),
    ("a - b", "a + (-b)"),
    ("a - b", "-(b - a)"),
    ("a/b", "a*b^(-1)"),
    ("a*b", "a/(1/b)"),
    ("a + b", "(a^2 - b^2)/(a - b)"),
    ("a*b", "((a + b)^2 - (a - b)^2)/4"),
    ("exp(a)", "1/exp(-a)"),
    ("sin(a)", "-sin(-a)"),
    ("cos(a)", "1 - 2*sin(a/2)^2"),
    ("abs(a)", "sqrt(a^2)"),
    ("max(a, b)", "(a + b + abs(a - b))/2"),
    ("tanh(a)", "1 - 2/(exp(2*a) + 1)"),
]


def rewritten(tree: Tree, choices: list[int]) -> Tree:
    """Apply rules to a tree's nodes from the leaves up, as the choices say."""
    if not isinstance(tree, Apply):
        return tree
    done = Apply(tree.op, tuple(rewritten(argument, choices) for argument in tree.args))
    fitting = [right for left, right in RULES if left_shape(left) == (done.op, len(done.args))]
    pick = choices.pop() % (len(fitting) + 1) if choices else 0
    if pick == 0:
        return done
    return substitute(parse_infix(fitting[pick - 1]), dict(zip("ab", done.args, strict=False)))


def left_shape(text: str) -> tuple[str, int]:
    tree = parse_infix(text)
    assert isinstance(tree, Apply)
    return tree.op, len(tree.args)


SMOOTH = trees(moderate | st.sampled_from(["x", "y"]).map(Variable), max_leaves=6)


def tame(tree: Tree) -> bool:
    """Return whether a tree is defined, also between points, and of moderate size on a dense sample."""
    values, defined = evaluate_partial(tree, points(POSITIVE, 512, seed=9))
    if len(holes(poles(tree, POSITIVE), [], POSITIVE, lambda work: None)):
        return False
    return bool(defined.all() and np.all(np.abs(values) < 1e6) and np.all(np.abs(values) > 1e-6))


@given(SMOOTH, st.lists(st.integers(0, 5), min_size=8, max_size=8))
def test_rules_keep_equality(tree: Tree, choices: list[int]) -> None:
    """Rewriting by true identities never makes a relation different."""
    other = rewritten(tree, choices)
    if tame(tree) and tame(other):
        found = decide(tree, other, POSITIVE)
        assert found.outcome == "equal", (print_infix(tree), print_infix(other), found.reason)


@given(SMOOTH, st.integers(0, 20), st.sampled_from([1e-12, 1e-8, 3e-7, -1e-10]))
def test_a_constant_may_be_rounded(tree: Tree, pick: int, change: float) -> None:
    """A constant changed by less than 1e-6 of itself is equal, unless the value itself changes by more.

    Left out are constants without first-order influence, as in cos(1/x - 1/x): no refit finds them.
    """
    other = perturbed(tree, pick, change)
    if other is None or not tame(tree) or not tame(other) or switches(tree) or folds(tree):
        return
    sample = points(POSITIVE, 512, seed=9)
    change_seen = np.max(np.abs(evaluate(other, sample) / evaluate(tree, sample) - 1))
    if 1e-3 * abs(change) < change_seen < 5e-7:
        found = decide(tree, other, POSITIVE)
        assert found.outcome == "equal", (print_infix(tree), print_infix(other), found.reason)


def switches(tree: Tree) -> bool:
    """Return whether an operator of the tree has switching surfaces."""
    return any(isinstance(node, Apply) and OPERATORS[node.op].switching for _, node in walk(tree))


def folds(tree: Tree) -> bool:
    """Return whether a part of the tree is constant: its value is compared, which may be all but zero."""
    return any(isinstance(node, Apply) and not names(node) for _, node in walk(tree))


def perturbed(tree: Tree, pick: int, change: float) -> Tree | None:
    """Change one constant of a tree relatively; None where there is none."""
    paths = [path for path, node in walk(tree) if isinstance(node, Number)]
    return changed(tree, "", paths[pick % len(paths)], change) if paths else None


def changed(tree: Tree, here: str, path: str, change: float) -> Tree:
    if isinstance(tree, Number):
        return Number(tree.value * (1 + change)) if here == path else tree
    if isinstance(tree, Variable):
        return tree
    prefix = f"{here}." if here else ""
    return Apply(
        tree.op, tuple(changed(a, f"{prefix}args[{i}]", path, change) for i, a in enumerate(tree.args))
    )


@given(SMOOTH, st.integers(0, 20), st.sampled_from([3e-6, -3e-6, 1e-4]))
def test_a_wrong_constant_is_different(tree: Tree, pick: int, change: float) -> None:
    """One constant off by 3e-6 is not equal, where it has any influence that no other constant has."""
    other = perturbed(tree, pick, change)
    if other is None or not tame(tree) or not tame(other) or folds(tree):
        return
    sample = points(POSITIVE, 512, seed=9)
    if np.max(np.abs(evaluate(other, sample) / evaluate(tree, sample) - 1)) > 1.5e-6:
        found = decide(tree, other, POSITIVE)
        assert found.outcome == "different", (print_infix(tree), print_infix(other), found.reason)
