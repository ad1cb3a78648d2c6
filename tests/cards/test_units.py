"""Unit strings and dimensional analysis."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import constants

from cards.dimensions import BASES, DIMENSIONLESS, Unit
from cards.errors import UnitError
from cards.infix import parse_infix
from cards.operators import OPERATORS
from cards.units import infer, matches, parse_unit


def unit(scale: float = 1.0, **exponents: int | float | Fraction) -> Unit:
    places = [name for name, _ in BASES]
    assert set(exponents) <= set(places)
    return Unit(scale, tuple(Fraction(exponents.get(place, 0)) for place in places))


def same(left: Unit, right: Unit) -> bool:
    return left.same_dimension(right) and left.same_scale(right)


# --- strings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", unit()),
        ("1", unit()),
        ("rad", unit()),
        ("kg m-3", unit(mass=1, length=-3)),
        ("kg·m⁻³", unit(mass=1, length=-3)),
        ("J mol^{-1} K^{-1}", unit(mass=1, length=2, time=-2, amount=-1, temperature=-1)),
        ("J/(mol*K)", unit(mass=1, length=2, time=-2, amount=-1, temperature=-1)),
        ("km s−1 Mpc−1", unit(1e3 / (1e6 * constants.parsec), time=-1)),
        (r"\mathrm{km\,s^{-1}\,Mpc^{-1}}", unit(1e3 / (1e6 * constants.parsec), time=-1)),
        (r"M_{\odot}", unit(1.3271244e20 / 6.67430e-11, mass=1)),
        ("M_☉", unit(1.3271244e20 / 6.67430e-11, mass=1)),
        ("10^{9} M_sun", unit(1e9 * 1.3271244e20 / 6.67430e-11, mass=1)),
        ("g/(mol*K)", unit(1e-3, mass=1, amount=-1, temperature=-1)),
        ("m^(1/3)", unit(length=Fraction(1, 3))),
        ("kg^0.5/(mol^0.5*m)", unit(mass=0.5, amount=-0.5, length=-1)),
        ("s/m^(1/3)", unit(time=1, length=Fraction(-1, 3))),
        ("W/(m^2*K^4)", unit(mass=1, time=-3, temperature=-4)),
        ("Jy", unit(1e-26, mass=1, time=-2)),
        ("erg s^-1 cm^-2 Å^-1", unit(1e-7 * 1e4 * 1e10, mass=1, length=-1, time=-3)),
        ("µm", unit(1e-6, length=1)),
        (r"\mu m", unit(1e-6, length=1)),
        ("mag", unit(magnitude=1)),
        ("mmag", unit(1e-3, magnitude=1)),
        ("dex", unit(dex=1)),
        ("cm^-2/mag", unit(1e4, length=-2, magnitude=-1)),
        ("%", unit(0.01)),
        ("deg", unit(math.pi / 180)),
        ("(m/s)^2", unit(length=2, time=-2)),
        ("m**2", unit(length=2)),
        ("1/s", unit(time=-1)),
        ("eV", unit(constants.eV, mass=1, length=2, time=-2)),
        ("au", unit(constants.au, length=1)),
        ("ly", unit(constants.light_year, length=1)),
        ("atm", unit(constants.atm, mass=1, length=-1, time=-2)),
        ("mmHg", unit(constants.mmHg, mass=1, length=-1, time=-2)),
        ("mM", unit(amount=1, length=-3)),
        ("yr", unit(constants.Julian_year, time=1)),
    ],
)
def test_units_as_people_and_papers_write_them(text: str, expected: Unit) -> None:
    """The normaliser reads the spellings of packages.md trap 7 and of the laws at hand."""
    found = parse_unit(text)
    assert found.exponents == expected.exponents
    assert math.isclose(found.scale, expected.scale, rel_tol=1e-6)  # conventional values differ beyond that


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("9**9**9**9", "factor 9"),
        ("9" * 5000, "characters"),
        ("m^2^3", "power of a power"),
        ("m^9**9**9", "power"),
        ("m^999999999", "exponent"),
        ("10^99 m", "factor 10"),
        ("((((((m", "parenthesis"),
        ("__import__('os').system('true')", "holds"),
        ("m;s", "holds"),
        ("degC", "kelvin"),
        ("°C", "kelvin"),
        ("J/celsius", "kelvin"),
        ("dB", "ratio"),
        ("pH", "ratio"),
        ("ABmag", "ratio"),
        ("c", "parameter"),
        ("k_B", "parameter"),
        ("gauss", "SI unit"),
        ("1000 kg", "told parameter"),
        ("W/m2 K", "parentheses"),
        ("J/mol*K", "parentheses"),
        ("m^1/2", "m^(1/2)"),
        ("m^0.333", "m^(1/3)"),
        ("furlongs", "unit table"),
        ("m -3", "'-'"),
        ("*m", "'*'"),
        ("m/", "too early"),
        ("m^(1/0)", "zero"),
        ("Qm^12 Qm^12", "out of range"),
        ("m+s", "'+'"),
    ],
)
def test_what_is_not_a_unit_is_refused_at_once_with_a_remedy(text: str, word: str) -> None:
    """Hostile, ambiguous, offset and logarithmic strings are refused in no time, and the message helps."""
    parse_unit("m")  # the unit library is loaded once per process
    start = time.process_time()
    with pytest.raises(UnitError) as caught:
        parse_unit(text)
    assert time.process_time() - start < 0.05
    assert word in str(caught.value)
    assert caught.value.check == "unit_syntax"
    assert len(str(caught.value)) < 400


@given(st.text(max_size=130) | st.text("kgmsAKol^*/(){}-+ 0123456789.μ_\\", max_size=130))
@settings(max_examples=300, deadline=1000)
def test_any_text_is_a_unit_or_a_unit_error(text: str) -> None:
    """No string makes the reader hang, recurse away or raise anything but a UnitError."""
    try:
        found = parse_unit(text)
    except UnitError:
        return
    assert math.isfinite(found.scale)
    assert found.scale > 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["kg", "km", "s", "mol", "mJy", "M_sun", "K"]),
            st.fractions(min_value=-1, max_value=1, max_denominator=6).filter(bool),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_spellings_agree(factors: list[tuple[str, Fraction]]) -> None:
    """Star, blank, braces and a quotient say the same unit."""
    star = "*".join(f"{name}^({power})" for name, power in factors)
    tex = r"\,".join(f"{name}^{{{power}}}" for name, power in factors)
    quotient = "1" + "".join(f"/{name}^({-power})" for name, power in factors)
    assert same(parse_unit(star), parse_unit(tex))
    assert same(parse_unit(star), parse_unit(quotient))


# --- trees ---------------------------------------------------------------------------------------

UNITS = {
    name: parse_unit(text)
    for name, text in {
        "m": "kg", "v": "m/s", "w": "km/s", "x": "m", "y": "km", "z": "cm", "t": "s", "T": "K", "n": "mol",
        "V": "m^3", "R": "J/(mol*K)", "a": "", "p": "", "theta": "rad", "phi": "deg", "A": "mag", "E0": "mag",
        "share": "%", "C": "m^(1/3)/s",
    }.items()
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m*v^2/2", "J"),
        ("n*R*T/V", "Pa"),
        ("sqrt(x/(v/t))", "s"),
        ("cbrt(V)", "m"),
        ("V^(1/3)", "m"),
        ("V^0.3333333333333333", "m"),
        ("x^(2/3)*C", "m/s"),
        ("x^(-1)", "1/m"),
        ("x^(3 - 1)", "m^2"),
        ("a^p", ""),
        ("2^a", ""),
        ("(v*t/x)^p", ""),
        ("x*exp(-v*t/x)", "m"),
        ("x + v*t", "m"),
        ("max(x, v*t)", "m"),
        ("abs(-x)", "m"),
        ("mod(x, v*t)", "m"),
        ("atan2(x, v*t)", ""),
        ("sign(x)*step(t)*m", "kg"),
        ("sin(theta)", ""),
        ("10^(-0.4*A/E0)", ""),
        ("A + 3.1*E0", "mag"),
        ("share*x*100", "m %"),
        ("pi*x^2", "m^2"),
        ("log10(y/y) + floor(a)", ""),
    ],
)
def test_units_of_relations(text: str, expected: str) -> None:
    """Each dimension rule of the operator table, on relations that are sound."""
    assert same(infer(parse_infix(text), UNITS), parse_unit(expected))


@pytest.mark.parametrize(
    ("text", "check", "path", "words"),
    [
        ("x + t", "unit_dimension", "args[1]", ("unit s", "expected m")),
        ("v*(x + v)", "unit_dimension", "args[1].args[1]", ("expected m",)),
        ("x + y", "unit_scale", "args[1]", ("km", "1000 m", "expected m")),
        ("max(x, t*v, y)", "unit_scale", "args[2]", ("1000",)),
        ("x - z", "unit_scale", "args[1]", ("0.01",)),
        ("atan2(x, y)", "unit_scale", "args[1]", ("1000",)),
        ("mod(x, t)", "unit_dimension", "args[1]", ("mod",)),
        ("exp(x)", "unit_dimension", "args[0]", ("exp", "pure number")),
        ("sin(phi)", "unit_scale", "args[0]", ("sin", "rad")),
        ("exp(share)", "unit_scale", "args[0]", ("0.01",)),
        ("floor(x)", "unit_dimension", "args[0]", ("floor",)),
        ("x + 1", "unit_dimension", "args[1]", ("dimensionless", "expected m")),
        ("max(x, 0)", "unit_dimension", "args[1]", ("max",)),
        ("x^p", "unit_dimension", "args[1]", ("constant rational exponent",)),
        ("a^x", "unit_dimension", "args[1]", ("exponent",)),
        ("a^(x/y)", "unit_scale", "args[1]", ("exponent",)),
        ("x^1000", "unit_dimension", "args[1]", ("1000",)),
        ("10^(0.4*A)", "unit_dimension", "args[1]", ("mag",)),
        ("unknown + x", "unit_dimension", "args[0]", ("unknown",)),
        ("y^a^p", "unit_dimension", "args[1]", ("constant",)),
    ],
)
def test_unsound_relations_say_where_and_what_was_expected(
    text: str, check: str, path: str, words: tuple[str, ...]
) -> None:
    """The inference names the node, what it found and what it expected; scale is told from dimension."""
    with pytest.raises(UnitError) as caught:
        infer(parse_infix(text), UNITS)
    assert caught.value.check == check
    assert caught.value.path.startswith(path)
    for word in words:
        assert word in str(caught.value)


def test_kilometres_against_metres_name_both() -> None:
    """km against m must not pass, and the message holds both units and the factor."""
    with pytest.raises(UnitError) as caught:
        matches(infer(parse_infix("y"), UNITS), parse_unit("m"), "the relation")
    assert caught.value.check == "unit_scale"
    assert "km (1000 m)" in str(caught.value)
    assert "expected m" in str(caught.value)


def test_the_factor_as_a_told_parameter_mends_the_scale() -> None:
    """A card that mixes units carries the factor as a parameter with its unit."""
    units = {**UNITS, "k": parse_unit("m/km")}
    assert same(infer(parse_infix("x + k*y"), units), parse_unit("m"))


def test_an_exponent_may_be_a_parameter_marked_constant() -> None:
    """A dimensional base takes a constant parameter as its exponent, and no other variable."""
    tree = parse_infix("x^(-p)")
    assert same(infer(tree, UNITS, {"p": 1.5}), parse_unit("m^(-3/2)"))
    with pytest.raises(UnitError, match="constant"):
        infer(tree, UNITS)


def test_percent_and_degrees_keep_their_scale() -> None:
    """A product carries the factor of a percent; nothing is converted behind the scenes."""
    with pytest.raises(UnitError) as caught:
        matches(infer(parse_infix("share*x"), UNITS), parse_unit("m"), "the relation")
    assert caught.value.check == "unit_scale"


def test_scales_of_long_products_stay_exact_enough() -> None:
    """Rounding in products of exact factors never reaches the tolerance of 1e-12."""
    left = infer(parse_infix("y*z/(x*x)*(y/z)^3*(z/y)^3"), UNITS)
    assert same(left, unit(10.0))


def test_every_dimension_rule_of_the_operator_table_has_a_meaning() -> None:
    """No operator can be added to the table without its rule being walked."""
    for name, operator in OPERATORS.items():
        count = operator.min_args
        text = f"{name}({', '.join(['a'] * count)})"
        assert infer(parse_infix(text), UNITS) == DIMENSIONLESS


def test_a_parse_is_fast() -> None:
    """Fresh strings cost well under a millisecond each once the table is warm (33 µs is the peer's)."""
    parse_unit("kg m s A K mol")
    start = time.process_time()
    for power in range(1, 12):
        for other in range(1, 12):
            parse_unit(f"kg^{power}*m^{other}/(s*K*mol^{power})")
    assert (time.process_time() - start) / 121 < 1e-3
