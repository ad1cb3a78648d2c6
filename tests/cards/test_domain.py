"""The domain: sampling inside it, and saying why a point is not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cards.domain import Domain, Interval, contains, points, satisfied, stretch, unit_points
from cards.errors import InputError
from cards.infix import parse_constraint

BOX = Domain(
    {
        "x": Interval(-2.0, 3.0),
        "p": Interval(1e-3, 1e3, "log"),
        "n": Interval(1, 6, integer=True),
        "m": Interval(1, 1000, "log", integer=True),
    }
)


def test_points_lie_inside_and_fill_the_box() -> None:
    """Low-discrepancy points stay in the closed intervals and reach into every part of them."""
    found = points(BOX, 256)
    assert list(found) == ["x", "p", "n", "m"]
    for name, interval in BOX.intervals.items():
        assert found[name].shape == (256,)
        assert found[name].min() >= interval.low
        assert found[name].max() <= interval.high
    assert np.histogram(found["x"], 16, (-2, 3))[0].tolist() == [16] * 16
    assert np.histogram(np.log10(found["p"]), 16, (-3, 3))[0].tolist() == [16] * 16


def test_integers_are_whole_and_all_met() -> None:
    """Integer inputs take every whole value of a small range, about equally often."""
    found = points(BOX, 256)
    values, counts = np.unique(found["n"], return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5, 6]
    assert counts.min() >= 40  # 256 / 6 = 42.7; a Sobol net is even to within a few points
    assert np.all(found["m"] == np.rint(found["m"]))


def test_points_depend_on_domain_and_seed_alone() -> None:
    """The same call gives the same points; another seed gives others; fewer points are a prefix."""
    again = points(BOX, 100, seed=3)
    for name, column in points(BOX, 100, seed=3).items():
        assert np.array_equal(column, again[name])
        assert not np.array_equal(column, points(BOX, 100, seed=4)[name])
        assert np.array_equal(column[:17], points(BOX, 17, seed=3)[name])


@pytest.mark.parametrize("n", [1, 2, 3, 255, 256, 257])
def test_any_number_of_points(n: int) -> None:
    """As many points as asked for, also where that is no power of two, constraints or not."""
    half = Domain(BOX.intervals, (parse_constraint("x < p"),))
    for domain in (BOX, half):
        assert {len(column) for column in points(domain, n).values()} == {n}


def test_constraints_hold_at_every_point() -> None:
    """Points that violate a constraint are left out; parameters may stand in a constraint."""
    domain = Domain(
        {"a": Interval(0, 1), "b": Interval(0, 1)},
        (parse_constraint("b > a"), parse_constraint("a + b <= c")),
        {"c": 1.2},
    )
    found = points(domain, 300)
    assert np.all(found["b"] > found["a"])
    assert np.all(found["a"] + found["b"] <= 1.2)
    assert satisfied(domain, found).all()


def test_impossible_constraints_are_named() -> None:
    """A domain without a point is an error that says so, after bounded work."""
    with pytest.raises(InputError, match="constraints leave"):
        points(Domain({"a": Interval(0, 1)}, (parse_constraint("a > 2"),)), 4)


def test_an_undefined_constraint_does_not_hold() -> None:
    """Where a constraint cannot be evaluated the point is not in the domain."""
    domain = Domain({"a": Interval(-1, 1)}, (parse_constraint("sqrt(a) >= 0"),))
    assert np.all(points(domain, 50)["a"] >= 0)
    assert contains(domain, {"a": -0.5}) == "the constraint sqrt(a) >= 0 does not hold"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.booleans(), st.integers(0, 5))
def test_sampled_points_are_contained(low: float, width: float, log: bool, seed: int) -> None:
    """The sampler and the check speak of the same domain."""
    low = abs(low) + 1e-3 if log else low
    domain = Domain({"x": Interval(low, low + width, "log" if log else "linear")})
    for value in points(domain, 8, seed)["x"]:
        assert contains(domain, {"x": float(value)}) is None


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"x": 0.0}, "missing"),
        ({"x": 0.0, "n": 2, "q": 1}, "unknown input"),
        ({"x": 1.5, "n": 2}, "outside"),
        ({"x": math.nan, "n": 2}, "outside"),
        ({"x": math.inf, "n": 2}, "outside"),
        ({"x": 10**400, "n": 2}, "outside"),
        ({"x": 0.0, "n": 2.5}, "whole"),
        ({"x": True, "n": 2}, "not a number"),
        ({"x": "0", "n": 2}, "not a number"),
        ({"x": None, "n": 2}, "not a number"),
        ({"x": 0.9, "n": 1}, "constraint"),
    ],
)
def test_why_a_point_is_refused(values: dict[str, float], reason: str) -> None:
    """The oracle's feedback names the input and what is wrong with it."""
    domain = Domain(
        {"x": Interval(0, 1), "n": Interval(1, 3, integer=True)}, (parse_constraint("2*x <= n"),), {}
    )
    found = contains(domain, values)
    assert found is not None
    assert reason in found


def test_the_closed_ends_belong_to_the_domain() -> None:
    """Domains are closed: both ends may be asked for."""
    for x, n in ((0.0, 1), (1.0, 3)):
        domain = Domain({"x": Interval(0, 1), "n": Interval(1, 3, integer=True)})
        assert contains(domain, {"x": x, "n": n}) is None


def test_middles_are_arithmetic_or_geometric() -> None:
    """Pivots are the exact middle of the printed domain (laws, section 4, rule 10)."""
    assert Interval(1, 3).middle() == 2
    assert Interval(1, 100, "log").middle() == 10


def test_the_cube_maps_onto_the_box() -> None:
    """Corners of the unit cube are corners of the box."""
    corners = stretch(BOX, np.array([[0.0] * 4, [1.0] * 4]))
    for name, interval in BOX.intervals.items():
        assert corners[name] == pytest.approx([interval.low, interval.high], rel=1e-14)
    assert unit_points(BOX, 5).shape == (5, 4)
