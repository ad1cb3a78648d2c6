"""The engine of structural equations."""

from __future__ import annotations

import numpy as np
import pytest

from cards.errors import InputError
from environments.drone.components import COMPONENTS
from environments.drone.engine import FloatArray, Model, chance, uniform
from environments.drone.template import TEMPLATES

DEFAULTS = {part.name: part.default for part in COMPONENTS}


def doubled(u: FloatArray, x: FloatArray, scale: float) -> FloatArray:
    return np.clip(scale * u * x, 0, 1)


def survived(doubled: FloatArray, luck: FloatArray) -> FloatArray:
    return np.where(luck < doubled, 1.0, 0.0)


def model(**changes: object) -> Model:
    made = {
        "name": "toy",
        "exogenous": (uniform("u"), chance("luck")),
        "design": ("x",),
        "parameters": {"scale": 1.0},
        "equations": (doubled, survived),
        "probability": "doubled",
    }
    return Model(**(made | changes))  # type: ignore[arg-type]


def test_a_name_must_be_defined_before_it_is_used() -> None:
    """An equation in the wrong place, or of something unknown, is an error when the model is made."""
    with pytest.raises(InputError, match="'doubled'"):
        model(equations=(survived, doubled))
    with pytest.raises(InputError, match="'scale'"):
        model(parameters={})


def test_a_name_stands_for_one_thing() -> None:
    """A parameter with the name of a design variable is an error."""
    with pytest.raises(InputError, match="twice"):
        model(parameters={"scale": 1.0, "x": 2.0})


def test_unknown_and_missing_parameters_are_errors() -> None:
    """No value is supposed: a parameter with a wrong name, shape or none at all is refused."""
    with pytest.raises(InputError, match="no parameter 'slace'"):
        model().bind({"slace": 2.0})
    with pytest.raises(InputError, match="scale must be like"):
        model().bind({"scale": (1.0, 2.0)})
    with pytest.raises(InputError, match="misses 'scale'"):
        model().simulate({"x": 1.0}, 3, b"s", parameters={}, wanted=("survived",))


def test_only_the_design_can_be_set() -> None:
    """Setting weather, luck or an equation is no intervention that the engine knows."""
    for name in ("u", "luck", "doubled", "survived"):
        with pytest.raises(InputError, match="no design variable"):
            model().simulate({"x": 1.0, name: 1.0}, 3, b"s", parameters=model().bind(), wanted=("survived",))


def test_a_missing_design_variable_is_an_error() -> None:
    """A design without a needed part is refused, and so is a variable that does not exist."""
    with pytest.raises(InputError, match="lacks 'x'"):
        model().simulate({}, 3, b"s", parameters=model().bind(), wanted=("survived",))
    with pytest.raises(InputError, match="no variable 'nothing'"):
        model().simulate({"x": 1.0}, 3, b"s", parameters=model().bind(), wanted=("nothing",))


def test_looking_at_more_changes_nothing() -> None:
    """Each draw has a stream of its own, so the same fleet survives whichever variables are wanted."""
    for template in TEMPLATES.values():
        design = {**DEFAULTS, **({"shield": 0.0, "module": 0.0} if template.modules else {})}
        one, all_of = (
            template.model.simulate(design, 500, b"seed", parameters=template.model.bind(), wanted=wanted)
            for wanted in (("survived",), ("survived", *template.model.parents))
        )
        assert np.array_equal(one["survived"], all_of["survived"])


def test_designs_meet_the_same_weather() -> None:
    """Under one seed another design changes outcomes, never the weather."""
    template = TEMPLATES["antenna"]
    flown = [
        template.model.simulate(
            DEFAULTS | {"antenna": x},
            500,
            b"seed",
            parameters=template.model.bind(),
            wanted=("wind", "survived"),
        )
        for x in (0.0, 20.0)
    ]
    assert np.array_equal(flown[0]["wind"], flown[1]["wind"])
    assert not np.array_equal(flown[0]["survived"], flown[1]["survived"])


def test_an_expectation_is_exact() -> None:
    """The mean over u of clip(2u) is 0.75; the midpoint rule on 128 points is good to 1e-4."""
    found = model().expectation({"x": np.array([0.5, 2.0])}, model().bind())
    assert found == pytest.approx([0.25, 0.75], abs=1e-4)


def test_an_expectation_cannot_rest_on_the_last_draw() -> None:
    """The outcome itself is a draw; only its probability has an expectation."""
    with pytest.raises(InputError, match="cannot rest on 'luck'"):
        model(probability="survived").expectation({"x": np.array([1.0])}, model().bind())
