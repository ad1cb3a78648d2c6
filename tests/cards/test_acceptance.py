"""Acceptance of cards: each check finds its fault and nothing else, and nothing ever raises."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cards.acceptance import CHECKS, accept, significant_digits
from cards.card import Card
from cards.finding import errors
from cards.store import historical


def document() -> dict[str, Any]:
    """A sound card: a coil spring's extension and stored energy, with one told parameter."""
    return {
        "id": "coil-under-load",
        "title": "Hooke's law with stored energy",
        "collection": "historical",
        "discipline": "engineering",
        "source": {"authors": "Robert Hooke", "title": "De Potentia Restitutiva", "year": 1678},
        "inputs": [
            {"name": "M", "unit": "kg", "description": "mass hung on the coil", "low": 1.0, "high": 10.0},
            {"name": "n", "unit": "1", "description": "turns", "low": 5, "high": 20, "integer": True},
        ],
        "constraints": ["M*n < 150*q"],
        "parameters": [
            {"name": "g", "value": 9.80665, "unit": "m/s^2", "source": "CGPM 1901", "told": True},
            {"name": "k", "value": 2500.0, "unit": "N/m", "source": "test"},
            {"name": "q", "value": 1.0, "unit": "kg", "source": "test", "told": True},
        ],
        "observables": [
            {
                "name": "d", "unit": "m", "description": "how far the lower end sinks",
                "relation": "n*M*g/k", "absolute_tolerance": 1e-3, "resolution": 1e-4,
            },
            {
                "name": "E", "unit": "J", "description": "work kept in the coil",
                "relation": "n*(M*g)^2/(2*k)", "absolute_tolerance": 1e-2, "significant_digits": 4,
            },
        ],
        "relative_tolerance": 0.01,
        "conditions": ["small extensions"],
        "background": "A coil of wire hangs from a beam. Masses hang on its lower end, turns can be removed.",
    }  # fmt: skip


def change(path: str, value: Any) -> Card:
    """Return the sound card with one place changed (``inputs.0.low``)."""
    whole = document()
    *steps, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = whole
    for step in steps:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return Card.model_validate(whole)


def test_a_sound_card_has_no_findings() -> None:
    """The card from which all faults below are made passes every check."""
    assert accept(Card.model_validate(document())) == []


CASES = [
    ("name_invalid", "inputs.0.name", "2M", "inputs[0].name", "'2M'"),
    ("name_invalid", "inputs.0.name", "M" * 33, "inputs[0].name", "32"),
    ("name_reserved", "parameters.0.name", "exp", "parameters[0].name", "exp_0"),
    ("name_reserved", "parameters.0.name", "pi", "parameters[0].name", "'pi'"),
    ("name_duplicate", "observables.0.name", "k", "observables[0].name", "parameters[1]"),
    ("name_undeclared", "observables.0.relation", "n*M*g/kk", "observables[0].relation.args[1]", "'kk'"),
    ("name_undeclared", "observables.0.relation", "E", "observables[0].relation", "'E'"),
    ("name_undeclared", "constraints.0", "M < z", "constraints[0].right", "'z'"),
    ("name_unused", "constraints", [], "parameters[2]", "'q'"),
    ("text_missing", "background", "  ", "background", "blank"),
    ("text_missing", "inputs.1.description", "", "inputs[1].description", "blank"),
    ("unit_syntax", "inputs.0.unit", "degC", "inputs[0].unit", "'M': 'degC'"),
    ("unit_syntax", "inputs.0.unit", "9**9**9**9", "inputs[0].unit", "factor 9"),
    ("unit_syntax", "observables.1.unit", "dB", "observables[1].unit", "ratio"),
    ("unit_dimension", "observables.0.unit", "s", "observables[0].relation", "expected s"),
    ("unit_dimension", "observables.0.relation", "n*M*g/k + M", "observables[0].relation.args[1]", "kg"),
    ("unit_dimension", "constraints.0", "M*n < 150", "constraints[0]", "right side"),
    ("unit_scale", "observables.0.unit", "km", "observables[0].relation", "factor of 0.001"),
    ("unit_scale", "parameters.2.unit", "g", "constraints[0]", "factor of"),
    ("constant_dimension", "parameters.1.constant", True, "parameters[1]", "'k'"),
    ("dependent", "parameters.1.relation", "2*q", "parameters[1].relation", "stands before"),
    ("dependent", "parameters.1.relation", "g*255", "parameters[1].value", "2500.69"),
    ("domain", "inputs.0.low", 10.0, "inputs[0]", "empty"),
    ("domain", "inputs.0.low", 20.0, "inputs[0]", "reversed"),
    ("domain", "inputs.1.low", 5.5, "inputs[1]", "whole"),
    ("domain", "inputs.0.low", 9.999999999, "inputs[0]", "all but a point"),
    ("domain_share", "constraints.0", "M*n < 5*q", "constraints", "0.00%"),
    ("number_size", "inputs.0.high", 1e300, "inputs[0].high", "1e+300"),
    ("number_size", "parameters.1.value", 2.5e-200, "parameters[1].value", "2.5e-200"),
    ("number_size", "observables.0.relation", "n*M*g/k*1e99", "observables[0].relation.args[1]", "1e+99"),
    ("finite", "observables.0.relation", "n*M*g/k*sqrt(3 - M/q)", "observables[0].relation.args[1]", "sqrt"),
    ("finite", "observables.0.relation", "n*M*g/k*(0*log(M/q - 1))", None, "log"),
    ("finite", "observables.0.relation", "n*M*g/k/(n - 7)", None, "n = 7"),
    ("tolerance", "observables.0.absolute_tolerance", 0.5, "observables[0].absolute_tolerance", "0.5"),
    ("influence", "relative_tolerance", 0.99, "inputs[1]", "'n'"),
    ("resolution", "observables.0.resolution", 0.01, "observables[0]", "0.01"),
    ("resolution", "observables.1.significant_digits", 1, "observables[1]", "1 significant"),
    ("resolution_twice", "observables.0.significant_digits", 3, "observables[0]", "one of them"),
    ("giveaway", "background", "A spring that follows Hooke's law is pulled.", "background", "Hooke"),
    ("giveaway", "background", "The coil that Hooke hung from a beam.", "background", "Hooke"),
    ("giveaway", "background", "The extension is proportional to the pull.", "background", "proportional"),
    ("giveaway", "background", "A coil with d = n*M*g/k hangs.", "background", "'='"),
    ("giveaway", "background", "The pull M*g acts on the coil.", "background", "M*g"),
    ("giveaway", "observables.0.description", "sinking, inversely with stiffness", None, "inversely with"),
    ("dates", "source.dates", {"first_preprint": "2025-02-31"}, "source.dates.first_preprint", "2025-02-31"),
    ("dates", "collection", "temporal", "source.dates", "no date"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "place", "value", "path", "word"), CASES)
def test_each_fault_is_found_by_its_check(
    check: str, place: str, value: Any, path: str | None, word: str
) -> None:
    """One changed field gives an error of the named check, at the place, with the value in the message."""
    found = accept(change(place, value))
    hits = [finding for finding in errors(found) if finding.check == check]
    assert hits, found
    assert any(word in finding.message for finding in hits)
    if path is not None:
        assert any(finding.path == path for finding in hits)


def test_log_scale_and_span() -> None:
    """A log scale needs low > 0; over more than three decades an absolute step is refused."""
    whole = document()
    whole["inputs"][0] |= {"low": 0.0, "scale": "log"}
    assert [item.check for item in accept(Card.model_validate(whole))] == ["domain"]
    whole["inputs"][0] |= {"low": 0.001, "high": 10.0}
    assert "resolution_span" in [item.check for item in accept(Card.model_validate(whole))]


def test_an_input_that_only_stands_there_has_no_influence() -> None:
    """An input in the tree that changes nothing beyond the tolerance is found; a narrow effect is not."""
    quiet = change("observables.0.relation", "M*g/k + 1e-9*n*M*g/k")
    whole = quiet.model_dump(mode="json")
    del whole["observables"][1]
    found = accept(Card.model_validate(whole))
    assert [(item.check, item.path) for item in found] == [("influence", "inputs[1]")]
    whole["observables"][0]["relation"] = "M*g/k*(1 + step(n - 18))"
    assert accept(Card.model_validate(whole)) == []


def test_a_constant_must_not_pass_for_the_law() -> None:
    """A law that shows itself in a corner of the domain only is refused: a constant is right elsewhere."""
    found = accept(change("observables.0.relation", "50*q*g/k*(1 + step(M/q - 9.5)*step(n - 18))"))
    assert [(item.check, item.path) for item in found] == [("tolerance", "observables[0]")]


def test_magnitudes_stand_for_differences_only() -> None:
    """mag is allowed for a colour excess, and refused for an apparent magnitude."""
    whole = document()
    whole["inputs"][0] |= {"unit": "mag", "description": "colour excess of the star"}
    whole["parameters"] = [{"name": "R", "value": 3.1, "unit": "1/mag", "source": "test"}]
    whole["constraints"] = []
    whole["observables"] = [
        {
            "name": "A", "unit": "1", "description": "extinction over that of one turn",
            "relation": "R*M*n", "absolute_tolerance": 0.1,
        }
    ]  # fmt: skip
    assert accept(Card.model_validate(whole)) == []
    whole["inputs"][0]["description"] = "apparent visual magnitude of the star"
    assert [item.check for item in accept(Card.model_validate(whole))] == ["unit_magnitude"]


def test_a_long_hidden_number_is_a_warning() -> None:
    """A hidden parameter of more than three digits makes a family weak-only, it does not refuse the card."""
    found = accept(change("parameters.1.value", 2512.5))
    assert [(item.check, item.severity) for item in found] == [("hidden_precision", "warning")]
    assert [significant_digits(value) for value in (0.0, 1200.0, 1.23e-7, 0.00450, 9.80665, -8e22)] == [
        1, 2, 3, 2, 6, 1,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "background",
    [
        "A gas is kept in a vessel with a piston; pressure is read in pascal, temperature in kelvin.",
        "A beam at 0.5 W/m^2 crosses a cuvette of 10 mm; the detector has an area of 2 cm^2.",
        "Light from a lamp falls on a grating. The number of lines is set by choosing a plate.",
        "The ratio of both readings is formed by the instrument.",
    ],
)
def test_plain_backgrounds_give_nothing_away(background: str) -> None:
    """Apparatus, unit names and ordinary words are no giveaway."""
    assert accept(change("background", background)) == []


def test_every_check_has_a_description_and_is_tested() -> None:
    """Each check says what it looks at, why and with what example; each has a case in this file."""
    for name, check in CHECKS.items():
        assert check.name == name
        assert all(text.strip() for text in (check.what, check.why, check.example))
    elsewhere = {"readable", "resolution_span", "unit_magnitude", "hidden_precision"}
    assert {case[0] for case in CASES} | elsewhere == set(CHECKS)


def test_a_fault_in_names_is_told_alone() -> None:
    """One slip gives one finding: unit and value checks wait until the names are sound."""
    found = accept(change("observables.0.relation", "n*M*g/stiffness"))
    assert [finding.check for finding in found] == ["name_undeclared"]


def test_historical_cards_are_accepted_fast() -> None:
    """Every shipped card passes, each in less than 50 ms once units and tables are warm (fastest of 3)."""
    for card in historical():
        assert errors(accept(card)) == []
        times = []
        for _ in range(3):
            start = time.process_time()
            accept(card)
            times.append(time.process_time() - start)
        assert min(times) < 0.05


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, 1e308, -1e308, 5e-324, 1.0]
)
RELATIONS = st.sampled_from(
    [
        "n*M*g/k",
        "M^n^M",
        "exp(exp(M*n))",
        "1/(M - M)",
        "M",
        "7",
        "mod(M, n)",
        "g^(1/n)",
        "k^0.123456789",
        "-M^-n",
    ]
)


@given(
    low=NUMBERS,
    high=NUMBERS,
    value=NUMBERS,
    relation=RELATIONS,
    scale=st.sampled_from(["linear", "log"]),
    whole_numbers=st.booleans(),
    unit=st.sampled_from(["kg", "m^12", "Qm^12", "", "degC", "10^40 m", "M_sun^9"]),
    constraint=st.sampled_from(["M < n", "log(M) > n", "1/0 < M", "M > 1e308*1e308", "exp(k) > 0"]),
)
@settings(max_examples=200, deadline=3000)
def test_accept_never_raises(
    *,
    low: float,
    high: float,
    value: float,
    relation: str,
    scale: str,
    whole_numbers: bool,
    unit: str,
    constraint: str,
) -> None:
    """Whatever numbers a card holds, the answer is a list of findings."""
    whole = document()
    whole["inputs"][0] |= {"low": low, "high": high, "scale": scale, "integer": whole_numbers, "unit": unit}
    whole["parameters"][1]["value"] = value
    whole["observables"][0]["relation"] = relation
    whole["constraints"] = [constraint]
    card = Card.model_validate(whole)
    for finding in accept(card):
        assert finding.check in CHECKS
        assert finding.message
        assert len(finding.message) < 600
