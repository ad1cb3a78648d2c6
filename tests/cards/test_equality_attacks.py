"""Equality against submissions written to be judged wrongly: excuses, holes, slivers, and sheer work."""

from __future__ import annotations

import time
import warnings

import pytest

from cards.domain import Domain, Interval
from cards.equality import Verdict, decide
from cards.expression import Apply, Number, Tree, Variable
from cards.infix import parse_constraint, parse_infix

LINE = Domain({"x": Interval(1.0, 2.0)})
CUBE = Domain({name: Interval(1.0, 2.0) for name in "xyz"})
SIX = Domain({name: Interval(1.0, 2.0) for name in "xyzuvw"})
MOST_SECONDS = 2.0


def verdict(truth: str, submission: str, domain: Domain = LINE) -> Verdict:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return decide(parse_infix(truth), parse_infix(submission), domain)


@pytest.mark.parametrize(
    "factor",
    [
        "step(exp(1e-5*x) - exp(1.25e-5))*step(exp(1.35e-5) - exp(1e-5*x))",
        "step(exp(3e-6*x) - exp(3.9e-6))*step(exp(5.1e-6) - exp(3e-6*x))",
        "step(exp(3e-6*x) - exp(4.8e-6))",
        "step(x - ((1e5 + 1.3) - 1e5))*step(((1e5 + 1.5) - 1e5) - x)",
        "step(x - ((3e5 + 1.3) - 3e5))*step(((3e5 + 1.7) - 3e5) - x)",
        "step(max(x, 0) + 1e5 - 100001.3)*step(100001.7 - 1e5 - x)",
        "step(log(1e30*x) - log(1.3e30))*step(log(1.7e30) - log(1e30*x))",
        "step(exp(1e-5*x) - exp(1.250e-5))*step(exp(1.252e-5) - exp(1e-5*x))",
        "step(mod(2e5*x, 1) - 0.85)",
    ],
)
def test_an_ill_conditioned_surface_excuses_nothing(factor: str) -> None:
    """A move of 1e-6 of a large number that only its last digits matter of does not excuse a wrong share."""
    found = verdict("x", f"x*(1 + 0.009*{factor})")
    assert found.outcome == "different", found.reason


@pytest.mark.parametrize(
    ("truth", "submission", "domain"),
    [
        ("x", "x + 0/(x - 1.2345)", LINE),
        ("x", "x*(x - 1.2345)/(x - 1.2345)", LINE),
        ("x", "x*(x - pi/2)/(x - pi/2)", LINE),
        ("x", "x + 0*log(abs(x - 1.2345))", LINE),
        ("x", "x + 0*log(abs(x^2 - 2))", LINE),
        ("x", "x + 0*log2((x - 1.2345)^2)", LINE),
        ("x", "x + 0*(x - 1.2345)^(-2)", LINE),
        ("x", "x + 0*tan(x)", LINE),
        ("x", "x + 0*tan(1000*x)", LINE),
        ("x", "x + 0*mod(1, x - 1.2345)", LINE),
        ("x + y", "(x^2 - y^2)/(x - y)", CUBE),
        ("sin(x - 1.5)/(x - 1.5)", "sin(x - 1.5)*(x - 1.2)/((x - 1.5)*(x - 1.2))", LINE),
    ],
)
def test_a_submission_undefined_at_one_point_is_different(
    truth: str, submission: str, domain: Domain
) -> None:
    """An undefined sub-expression invalidates, also where a later operation hides it (laws, section 2)."""
    found = verdict(truth, submission, domain)
    assert found.outcome == "different", found.reason
    assert "undefined at" in found.reason


@pytest.mark.parametrize(
    ("truth", "submission", "domain"),
    [
        ("sin(x - 1.5)/(x - 1.5)", "sin(1.5 - x)/(1.5 - x)", LINE),
        ("sin(x - 1.5)/(x - 1.5)", "sin(x - 1.5)*(2*x - 3)^(-1)*2", LINE),
        ("sin(x - 1.5)/(x - 1.5)", "sin(x - 1.5)/(x - 1.5000000001)*1.0000000001", LINE),
        ("x/(1e-4 + (x - 1.3)^2)", "x/(x^2 - 2.6*x + 1.6901)", LINE),
        ("x", "x*(x - 1)/(x - 1)", LINE),
        ("x", "x*(x - 0.9999)/(x - 0.9999)", LINE),
        ("x + y", "(x^2 - y^2)/(x - y)", Domain(CUBE.intervals, (parse_constraint("x > y"),))),
    ],
)
def test_only_the_submissions_own_holes_inside_the_domain_count(
    truth: str, submission: str, domain: Domain
) -> None:
    """Excepted are the truth's own removable points, lows that are no zeros, edges, what constraints cut."""
    found = verdict(truth, submission, domain)
    assert "The submission is undefined" not in found.reason
    if "1.5000000001" not in submission:
        assert found.outcome == "equal", found.reason


@pytest.mark.parametrize(
    "extra",
    [
        "0*sqrt((x - 1.2345)^2 - 1e-20)",
        "1e9*step(1e-9 - abs(x - 1.2345))",
        "1e9*step(1e-12 - abs(x - 1.2345))",
        "0.1*step(x - 1.2345)*step(1.2345001 - x)",
    ],
)
def test_a_piece_within_reach_altogether_is_never_a_success(extra: str) -> None:
    """Where no point shows that the submission is right in a piece, the trees are not judged equal."""
    found = verdict("x", f"x + {extra}")
    assert found.outcome == "undetermined", found.reason
    assert "too narrow" in found.reason


@pytest.mark.parametrize(
    ("truth", "submission", "domain"),
    [
        ("floor(n/3)", "floor(0.3333333333333333*n)", Domain({"n": Interval(1, 30, integer=True)})),
        ("floor(n/3)", "floor(0.3333333333333333*n)", Domain({"n": Interval(0, 9, integer=True)})),
        ("floor(7*x)", "floor(7.0000001*x)", LINE),
        ("x*step(x - 1.3)", "x*step(x - 1.3000001)", LINE),
        ("x*step(x^3.5 - 3)", "x*step(x^3.5000001 - 3)", LINE),
        ("max(x - 273.15, 20)", "max(x - 273.15000001, 20)", Domain({"x": Interval(273.0, 320.0)})),
        ("x", "min(max(x, 0), 1e300)", LINE),
        ("x", "x + round(x*0.1)", LINE),
    ],
)
def test_a_rounded_constant_of_a_surface_stays_equal(truth: str, submission: str, domain: Domain) -> None:
    """The limits on what is excused leave the right answers right."""
    found = verdict(truth, submission, domain)
    assert found.outcome == "equal", found.reason


@pytest.mark.parametrize("submission", ["x + 0*floor(8e307*x*(x - 1.5))", "x + 0*abs(1.7e308*(1.5 - x))"])
def test_numbers_near_the_end_of_the_range_warn_of_nothing(submission: str) -> None:
    """Overflow inside the search is no warning on stderr."""
    assert verdict("x", submission).outcome in ("equal", "undetermined")


def test_a_product_that_overflows_on_its_way_is_undefined() -> None:
    """As in float64, in which 1e308·1.9 is no number although 1e308·1.9·0.4 would be."""
    assert verdict("x", "x + 0*(1e308*x*(x - 1.5))").outcome == "different"


@pytest.mark.parametrize(
    ("truth", "submission"),
    [
        ("max(z, sin(z))", "max(cos(1.5707963267948966 - z), z)"),
        ("cbrt(sin(7*z^2))", "-cbrt(-cos(1.5707963267948966 - 7*z*z))"),
        ("y - cbrt(min(y, z) - y)", "y - cbrt(log(exp((0 - y)/9)*exp(min(y, z)/9))*9)"),
        ("sqrt(abs(y + z - y))", "sqrt(abs(log(exp(y/9)*exp((z - y)/9))*9))"),
    ],
)
def test_rounding_at_a_point_of_contact_stays_equal(truth: str, submission: str) -> None:
    """Where a surface is only touched, or a root magnifies what equal terms leave, no constant has moved."""
    found = verdict(truth, submission, Domain({"y": Interval(-1, 1), "z": Interval(-1, 1)}))
    assert found.outcome == "equal", found.reason


def test_a_surface_that_is_the_whole_domain_excuses_nothing() -> None:
    """The inner minimum is z everywhere, so every point lies on the surface of the outer one."""
    domain = Domain({"y": Interval(1, 3), "z": Interval(-1, 1)})
    truth = "min(min(8.11 + y, z), z)"
    assert verdict(truth, f"{truth} + 5e-8*sin(3*y + z)", domain).outcome == "different"
    assert verdict(truth, f"{truth} + 1e-9*z", domain).outcome == "different"


def floors(count: int, first: float, names: str) -> Tree:
    """Write x plus nothing, with many surfaces in all inputs."""
    inputs = tuple(Variable(name) for name in names)
    terms = [
        Apply("mul", (Number(0.0), Apply("floor", (Apply("mul", (Number(first + k), *inputs)),))))
        for k in range(count)
    ]
    return Apply("add", (Variable("x"), *terms))


def signs(op: str, scale: float, count: int) -> Tree:
    """Write x plus nothing, with surfaces that are dear to evaluate."""
    terms = [parse_infix(f"0*sign({op}({scale * (k + 1)!r}*x*y) - z)") for k in range(count)]
    return Apply("add", (Variable("x"), *terms))


def nested(count: int) -> Tree:
    """Write surfaces that hold one another."""
    tree: Tree = Apply("add", tuple(parse_infix(f"x*y*z*{1 + k / 97!r}") for k in range(100)))
    for k in range(count):
        tree = Apply("abs", (Apply("sub", (tree, Number(1 / (k + 2)))),))
    return Apply("add", (Variable("x"), Apply("mul", (Number(0.0), tree))))


@pytest.mark.parametrize(
    ("submission", "domain"),
    [
        (floors(60, 1e6, "xyz"), CUBE),
        (floors(60, 11.3, "xyz"), CUBE),
        (floors(40, 11.3, "xyzuvw"), SIX),
        (floors(100, 1e6, "x"), CUBE),
        (signs("sin", 20.0, 24), CUBE),
        (signs("sin", 1e300, 50), CUBE),
        (signs("atan", 1.1, 100), CUBE),
        (Apply("add", (Variable("x"), parse_infix("+".join(f"0/(x*y - z*{k}.3)" for k in range(80))))), CUBE),
        (nested(28), CUBE),
    ],
)
def test_the_search_for_surfaces_is_counted_work(submission: Tree, domain: Domain) -> None:
    """A decision ends within two CPU seconds, whatever the surfaces, inputs, lines and breaks."""
    start = time.process_time()
    found = decide(Variable("x"), submission, domain)
    assert time.process_time() - start < MOST_SECONDS
    assert found.reason


def test_the_number_of_surfaces_is_told() -> None:
    """Out of work is undetermined, with the number of surfaces in the reason."""
    found = decide(Variable("x"), floors(60, 1e6, "xyz"), CUBE)
    assert found.outcome == "undetermined"
    assert "60 surfaces" in found.reason


def log(low: float, high: float) -> Interval:
    """Return an interval on a logarithmic scale."""
    return Interval(low, high, scale="log")


def whole(low: int, high: int) -> Interval:
    """Return an interval of whole numbers."""
    return Interval(low, high, integer=True)


POWERS = Domain({"x": Interval(-1, 1), "n": whole(1, 5)})


@pytest.mark.parametrize(
    ("truth", "submission", "domain"),
    [
        # equal sub-trees share their constants, also as factors of a product
        ("(x + 3.0000001)^1.5", "(x + 3)*sqrt(x + 3)", LINE),
        ("x/(x^2 + 2.3456789012)^1.5", "x/(x^2 + 2.3456789)/sqrt(x^2 + 2.3456789)", LINE),
        ("9.81*x*sqrt(2.2345678901*x + 1)", "9.81*x*(2.2345679*x + 1)/sqrt(2.2345679*x + 1)", LINE),
        # a constant that could do another's work is not asked to
        ("1.2345678 + 0.025693*log(x/0.1)", "1.234568 + 0.025693*log(x/0.1)", LINE),
        ("1.2345674*x*(x/1.5)^0.16", "1.234567*x*(x/1.5)^0.16", LINE),
        # what float64 loses to cancellation, slopes at fifty digits still have
        (
            "9.1093837e-31*299792458^2*(1/sqrt(1 - v^2/299792458^2) - 1)",
            "8.187105776e-14*((1 - (v/299792458)^2)^-0.5 - 1)",
            Domain({"v": Interval(1e3, 1e6)}),
        ),
        (
            "(9.8/1e-4)*(t - (1 - exp(-1e-4*t))/1e-4)",
            "98000.001*(t - 10000*(1 - exp(-t/10000)))",
            Domain({"t": Interval(1, 2)}),
        ),
        ("2*(1 - cos(x))", "2.00000001*(1 - cos(x))", Domain({"x": log(1e-12, 1e-9)})),
        ("3*log(1 + x)", "3.00000001*log(1 + x)", Domain({"x": log(1e-20, 1e-17)})),
        # a negative base wants whole constants in its exponent
        ("3.1234567*x^(2*n)/(2*n + 1)", "3.123457*x^(2*n)/(2*n + 1)", POWERS),
        ("(x - 0.31234567)^(n + 1)", "(x - 0.3123457)^(n + 1)", POWERS),
        ("(x - 0.31234567)^3", "(x - 0.3123457)^(6/2)", POWERS),
        # rounding leaves whole numbers whole
        ("floor(log2(n)) + 1", "floor(log(n)/log(2)) + 1", Domain({"n": whole(1, 1024)})),
        ("x + n", "x + floor(exp(log(n)))", POWERS),
        ("mod(n*0.1, 0.1) + 1", "mod(n/10, 0.1) + 1", POWERS),
        ("mod(x, 0.1)", "x - 0.1*floor(10*x)", Domain({"x": Interval(1, 10)})),
        # undefined only in the corner, as the other form's derivative is
        ("sqrt(y - z)", "(y - z)/sqrt(y - z)", Domain({"y": Interval(1, 3), "z": Interval(-1, 1)})),
    ],
)
def test_the_truth_in_another_form_with_rounded_constants_is_equal(
    truth: str, submission: str, domain: Domain
) -> None:
    """Forms in which players write a law, with constants to seven digits and more."""
    found = verdict(truth, submission, domain)
    assert found.outcome == "equal", found.reason


@pytest.mark.parametrize(
    ("truth", "submission", "domain"),
    [
        ("exp(n/10)", "exp(n/10)*(1 + 1e-8*n) + 0*floor(1.0000001*n)", Domain({"n": whole(1, 10)})),
        ("n", "n*(1 + 5e-6) + 0*floor(1.0000001*n)", Domain({"n": whole(1, 10)})),
        ("exp(x)", "exp(x) + 1e100", Domain({"x": Interval(0, 700)})),
        ("x^4", "x^4 + 1e-50", Domain({"x": log(1e-15, 1e15)})),
        ("1e-12*(exp(x/0.02585) - 1)", "1e-12*exp(x/0.02585)", Domain({"x": Interval(0, 8)})),
        ("x", "x + 1e280", Domain({"x": log(1e-300, 1e300)})),
    ],
)
def test_nothing_hides_where_the_truth_is_small_or_points_are_few(
    truth: str, submission: str, domain: Domain
) -> None:
    """Hundreds of decades, and surfaces on which every whole number lies."""
    assert verdict(truth, submission, domain).outcome == "different"


@pytest.mark.parametrize(
    "submission",
    [
        "x + 1e-5*x*step(x - 1.2345)*step(1.2345001 - x)",
        "x + 5e-6*x*step(x - 1.2345)*step(1.234502 - x)",
    ],
)
def test_a_small_difference_in_a_narrow_band_is_never_equal(submission: str) -> None:
    """A band of 1e-7 of the domain, and a difference of a few millionths inside."""
    assert verdict("x", submission).outcome != "equal"


@pytest.mark.parametrize(
    ("truth", "submission", "domain"),
    [
        ("x", "1.00000001*x + 0*((1e-200*exp(200*x + 200))*(1e-200*exp(200*x + 200)))", LINE),
        (
            "1e-200*x*(1e-200*y)",
            "(1.00000001e-200*x)*(1e-200*y)",
            Domain({"x": log(1e160, 1e200), "y": log(1e160, 1e200)}),
        ),
        (
            "floor(sqrt(n/3 - 1)) + 1",
            "floor(sqrt(0.3333333333333333*n - 1)) + 1",
            Domain({"n": whole(3, 30)}),
        ),
        ("abs(acos(n/3)) + 1", "abs(acos(0.33333333333333337*n)) + 1", Domain({"n": whole(1, 3)})),
        ("x", "x + 0*abs(sqrt(sin(x)^2 + cos(x)^2 - 1))", LINE),
    ],
)
def test_what_only_rounding_defines_gets_a_verdict(truth: str, submission: str, domain: Domain) -> None:
    """Freed constants may leave float64's range, and a surface may be undefined at fifty digits."""
    assert verdict(truth, submission, domain).outcome in ("equal", "different", "undetermined")
