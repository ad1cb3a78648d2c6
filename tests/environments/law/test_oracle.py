"""Readings are rounded exactly, ties to even, without residue."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from environments.law.definition import Measured
from environments.law.oracle import observe, quantise, quantise_all, step_of
from tests.environments.examples import definition

values = st.floats(-1e12, 1e12, allow_nan=False)
resolutions = st.tuples(st.sampled_from([1, 2, 5]), st.integers(-9, 6)).map(lambda p: p[0] * 10.0 ** p[1])


def instrument(resolution: float | None = None, digits: int | None = None) -> Measured:
    """Return an observable with a resolution or a number of digits."""
    return Measured(
        name="y",
        unit="1",
        description="",
        absolute_tolerance=1.0,
        resolution=resolution,
        significant_digits=digits,
    )


@pytest.mark.parametrize(
    ("value", "resolution", "reading"),
    [
        (0.15, 0.1, 0.2),
        (0.25, 0.1, 0.2),
        (0.35, 0.1, 0.4),
        (-0.25, 0.1, -0.2),
        (2.5, 5.0, 0.0),
        (7.5, 5.0, 10.0),
        (0.1 + 0.2, 0.1, 0.3),
        (1.005, 0.01, 1.0),
        (-0.04, 0.1, 0.0),
        (1e300, 1e-12, 1e300),
        (1e-300, 0.1, 0.0),
        (123456.789, 0.002, 123456.788),
    ],
)
def test_ties_go_to_even_and_no_residue_is_left(value: float, resolution: float, reading: float) -> None:
    """The reading is the float nearest to the rounded decimal; a zero has no sign."""
    found = quantise(value, instrument(resolution))
    assert repr(found) == repr(reading)


ties = st.integers(-9999, 9999).map(lambda n: n / 2000)
AWKWARD = [0.0, -0.0, 1e-300, 1e300, -2.5, 0.125, 9.995, 99.95, 999.9999999999999, 1000.0, 1e22, 1e23, 5e-324]


@given(
    st.lists(
        values | st.sampled_from(AWKWARD) | st.integers(-9999, 9999).map(lambda n: n / 2000), min_size=1
    ),
    resolutions.map(instrument) | st.integers(1, 15).map(lambda digits: instrument(digits=digits)),
)
def test_an_array_is_rounded_as_its_elements_are(many: list[float], observable: Measured) -> None:
    """The fast way gives the same bits as decimals do, ties and ends of the range included."""
    with np.errstate(all="raise"):
        found = quantise_all(np.array(many), observable)
    assert [repr(v) for v in found.tolist()] == [repr(quantise(v, observable)) for v in many]


@pytest.mark.parametrize(
    ("value", "digits", "reading"),
    [(1234.5, 4, 1234.0), (1235.5, 4, 1236.0), (0.00012345, 2, 0.00012), (-9.96, 2, -10.0), (0.0, 3, 0.0)],
)
def test_significant_digits(value: float, digits: int, reading: float) -> None:
    """Significant digits are kept from the first one that is not zero, ties to even."""
    assert quantise(value, instrument(digits=digits)) == reading


@given(values, resolutions)
def test_a_reading_is_the_nearest_multiple(value: float, resolution: float) -> None:
    """The reading is a multiple of the resolution, at most half a step away, and reads as itself."""
    reading = quantise(value, instrument(resolution))
    count = Decimal(repr(reading)) / Decimal(repr(resolution))
    assert abs(count - round(count)) < Decimal("1e-3") * (1 if abs(count) < 10**12 else 10**9)
    assert abs(reading - value) <= resolution / 2 * (1 + 1e-9) + abs(value) * 1e-15
    assert quantise(reading, instrument(resolution)) == reading


@given(values, st.integers(1, 12))
def test_digits_bound_the_relative_error(value: float, digits: int) -> None:
    """The reading differs by at most half a unit of the last digit, and reads as itself."""
    reading = quantise(value, instrument(digits=digits))
    assert abs(reading - value) <= 0.5 * 10.0 ** (1 - digits) * abs(value) * (1 + 1e-12)
    assert quantise(reading, instrument(digits=digits)) == reading


@given(values)
def test_no_resolution_means_exact(value: float) -> None:
    """Without a declared resolution the response is returned as it is."""
    assert quantise(value, instrument()) == value
    assert step_of(instrument(), np.array([value])) is None


def test_observations_are_quantised_responses() -> None:
    """What is observed is the response of the twin that holds, rounded observable by observable."""
    for variant in ("original", "counterfactual"):
        known = definition(variant)
        columns = known.columns(known.design)
        seen, exact = observe(known, columns), known.respond(columns)
        for item in known.observables:
            assert list(seen[item.name]) == [quantise(float(v), item) for v in exact[item.name]]
