"""The acceptance figures: expectations are exact, fleets are held against them."""

from __future__ import annotations

import numpy as np
import pytest

from environments.drone.components import MODULES, NAMES
from environments.drone.definition import Build, DroneDefinition
from environments.drone.flights import fly_out
from environments.drone.optimum import expected_survival
from environments.drone.scenarios import SCENARIOS
from tests.environments.drone.games import FAMILIES, definition

FILTER = "signal_filter"
EVERYTHING = dict.fromkeys(NAMES, 50.0)


def expected(name: str, module: str | None = None, stage: int = 2, **parts: float) -> float:
    """Return the expected survival in per cent of the default design with changes."""
    known = definition(name)
    build = Build(parts=known.default().parts | parts, module=module)
    return 100 * expected_survival(known.template, known.flown(build), known.parameters(stage))


@pytest.mark.parametrize(
    ("name", "module", "parts", "figure", "tolerance"),
    [
        ("antenna_trap", None, {"antenna": 0}, 82.1, 1.0),
        ("antenna_trap", None, {"antenna": 5}, 69.8, 3.0),
        ("antenna_trap", None, {"antenna": 10}, 48.6, 3.0),
        ("deployment_zone_trap_categorical", FILTER, {"shield": 25}, 80.5, 1.0),
        ("deployment_zone_trap_categorical", None, {}, 50.0, 1.0),
        ("deployment_zone_trap_categorical", FILTER, {}, 71.1, 1.0),
        ("deployment_zone_trap_categorical", None, {"shield": 50}, 77.7, 1.0),
        ("deployment_zone_trap_categorical", None, {**EVERYTHING, "shield": 50}, 77.7, 1.0),
        ("deployment_zone_trap_categorical_high_def", None, {**EVERYTHING, "shield": 50}, 68.4, 1.0),
        ("deployment_zone_trap_env_shift", None, {}, 32.4, 1.0),
        ("deployment_zone_trap_env_shift", FILTER, {}, 62.8, 1.0),
        ("deployment_zone_trap_env_shift", None, {"shield": 50}, 74.5, 1.0),
        ("deployment_zone_trap_env_shift", FILTER, {"shield": 25}, 80.5, 1.0),
        ("weather_noise", None, {"antenna": 8, "engine": 50}, 78.5, 1.0),
        ("weather_noise", None, dict.fromkeys(NAMES, 35.0), 25.0, 1.0),
        ("weather_noise", None, EVERYTHING, 26.3, 1.0),
        ("weather_noise", None, {"antenna": 21.5, "engine": 50}, 49.4, 1.0),
    ],
)
def test_expectations_of_designs(
    name: str, module: str | None, parts: dict[str, float], figure: float, tolerance: float
) -> None:
    """docs/games.md: the expectation of each named design is the paper's or the prototype's figure."""
    assert expected(name, module, **parts) == pytest.approx(figure, abs=tolerance)


def test_survival_along_the_antenna() -> None:
    """docs/games.md: the whole curve over antenna_def, to the printed digit."""
    curve = {0: 82.1, 1: 80.1, 2: 78.3, 3: 76.0, 5: 69.8, 8: 57.0, 10: 48.6, 15: 32.4, 20: 30.8, 50: 30.8}
    found = {x: expected("antenna_trap", antenna=x) for x in curve}
    assert found == pytest.approx(curve, abs=0.06)


def test_stage_one_of_the_shifting_games() -> None:
    """Stage 1 looks otherwise: benign zones, and a mirrored optimum in the weather game."""
    assert expected("deployment_zone_trap_env_shift", stage=1) == pytest.approx(73.2, abs=1.0)
    assert expected("weather_noise", stage=1, antenna=21.5, engine=50) == pytest.approx(76.5, abs=1.0)


def test_a_typical_weather_design() -> None:
    """docs/games.md: a design without insight survives in 22 to 29 per cent of the weather game."""
    for parts in (dict.fromkeys(NAMES, 35.0), EVERYTHING, dict.fromkeys(NAMES, 30.0) | {"antenna": 40.0}):
        assert 22 <= expected("weather_noise", **parts) <= 29


def test_no_other_part_matters_in_the_zones() -> None:
    """docs/games.md: only the shield and the filter change survival where there is no payload limit."""
    for name in NAMES:
        assert expected("deployment_zone_trap_categorical", **{name: 50.0}) == pytest.approx(50.0, abs=0.1)
    for module in MODULES[:-1]:
        assert expected("deployment_zone_trap_categorical", module) == pytest.approx(50.0, abs=0.1)


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_the_best_design_and_its_margin(name: str) -> None:
    """docs/games.md: optima of 82.3, 85.0 (gun hill), 80.5 and 79.0."""
    known = definition(name)
    best = {"antenna": 82.3, "zone": 80.5, "weather": 79.0}[known.scenario.family]
    if name == "antenna_trap_local_optima":
        best = 85.0
    assert 100 * known.expected.optimum == pytest.approx(best, abs=0.2)
    assert 100 * known.expected.optimum <= 85.5
    design = known.report.optimum
    if known.scenario.family == "antenna":
        assert design.parts["antenna"] == 0
        assert design.parts["gun"] == (36 if name == "antenna_trap_local_optima" else 5)
    elif known.scenario.family == "zone":
        assert design.module == FILTER
        assert design.parts["shield"] >= 22.2
    else:
        assert design.parts["antenna"] == pytest.approx(8.5, abs=0.3)
        assert design.parts["engine"] == 50
        # The paper's margin for its own optimum, x_ant = 8, is 23.5.
        assert expected(name, antenna=8, engine=50) - 55 == pytest.approx(23.5, abs=1.0)


def test_baselines_over_all_games() -> None:
    """docs/games.md: Default 49.0, Random 52.0, Uniform High 52.7 on average, within 1.5 points."""
    found = [definition(name).expected for name in SCENARIOS]
    assert 100 * np.mean([item.default for item in found]) == pytest.approx(49.0, abs=1.5)
    assert 100 * np.mean([item.random for item in found]) == pytest.approx(52.0, abs=1.5)
    assert 100 * np.mean([item.uniform_high for item in found]) == pytest.approx(52.7, abs=1.5)


def test_baselines_of_each_kind_of_game() -> None:
    """docs/games.md: Default, Random and Uniform High by kind of game."""
    figures = {
        "antenna_trap": (48.6, 39.2, 31.8),
        "antenna_trap_local_optima": (78.3, 41.2, 31.8),
        "deployment_zone_trap_categorical": (50.0, 66.8, 77.7),
        "deployment_zone_trap_categorical_simpsons_paradox": (50.0, 66.8, 68.4),
        "deployment_zone_trap_env_shift": (32.4, 57.1, 74.5),
        "weather_noise": (35.5, 41.3, 26.3),
    }
    for name, figure in figures.items():
        found = definition(name).expected
        shown = (100 * found.default, 100 * found.random, 100 * found.uniform_high)
        # A fifth of a point covers how the prototype's averages were rounded and sampled.
        assert shown == pytest.approx(figure, abs=0.25), name


def test_uniform_high_wins_four_of_six() -> None:
    """docs/games.md: in expectation Uniform High wins four of the six categorical games."""
    names = [name for name in FAMILIES["zone"] if "categorical" in name]
    wins = [name for name in names if definition(name).expected.uniform_high >= 0.75]
    assert len(names) == 6
    assert len(wins) == 4
    assert not [name for name in wins if "high_def" in name or "simpsons" in name]


def test_the_default_wins_one_game() -> None:
    """docs/games.md: in expectation the default design wins antenna_trap_local_optima and nothing else."""
    wins = [n for n in SCENARIOS if definition(n).expected.default >= definition(n).template.threshold]
    assert wins == ["antenna_trap_local_optima"]


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_fleets_agree_with_expectations(name: str) -> None:
    """docs/games.md: fleets of 1,000 scatter about the exact expectation with binomial standard deviation.

    Twenty fleets of each of three designs; each mean of twenty must lie within 4 standard errors.
    """
    known = definition(name)
    high = known.default().model_copy(update={"parts": dict.fromkeys(known.default().parts, 50.0)})
    for build in (known.default(), known.report.optimum, high):
        design, parameters = known.flown(build), known.parameters(2)
        truth = expected_survival(known.template, design, parameters)
        rates = [fly_out(known.template, design, 1000, parameters, b"fleet %d" % n) for n in range(20)]
        deviation = np.sqrt(truth * (1 - truth) / 1000)
        assert abs(np.mean(rates) - truth) <= 4 * deviation / np.sqrt(20)
        assert max(abs(rate - truth) for rate in rates) <= 4 * deviation
        assert 0.009 <= deviation <= 0.016


def test_the_best_of_each_game_was_confirmed() -> None:
    """The optimum stored with a game was flown by 100,000 drones within 4 standard deviations."""
    for name in SCENARIOS:
        known: DroneDefinition = definition(name)
        truth = known.expected.optimum
        assert abs(known.confirmed - truth) < 4 * np.sqrt(truth * (1 - truth) / 100_000)


def best_of_ten(name: str, plays: int) -> tuple[float, float]:
    """Return mean survival and share of wins (both in expectation) of the best of ten random designs."""
    known = definition(name)
    template, rng = known.template, np.random.default_rng(7)
    columns = {part.name: rng.uniform(0, 50, 10 * plays) for part in template.parts}
    if template.modules:
        columns["module"] = rng.integers(1, 6, 10 * plays).astype(float)
    first, second = (
        template.model.expectation(columns, known.parameters(stage)).reshape(plays, 10) for stage in (1, 2)
    )
    chosen = np.argmax(rng.binomial(20, first) + 0.0, axis=1)
    survival = second[np.arange(plays), chosen]
    wins = rng.binomial(1000, np.clip(survival, 0, 1)) >= 1000 * template.threshold
    return float(survival.mean()), float(wins.mean())


def test_the_bar_that_an_agent_must_beat() -> None:
    """docs/games.md: the best of ten random designs, 20 drones each, survives in 68.1 % on average.

    1,000 plays of each game: the mean of fourteen has a standard error below 0.2 points.
    """
    found = {name: best_of_ten(name, 1000) for name in SCENARIOS}
    assert 100 * np.mean([survival for survival, _ in found.values()]) == pytest.approx(68.1, abs=1.0)
    categorical = [found[name][1] for name in FAMILIES["zone"] if "categorical" in name]
    assert np.mean([found[name][1] for name in FAMILIES["antenna"]]) == pytest.approx(0.43, abs=0.06)
    assert np.mean(categorical) == pytest.approx(0.64, abs=0.06)
    assert found["deployment_zone_trap_env_shift"][1] == pytest.approx(0.22, abs=0.06)
    assert found["weather_noise"][1] == pytest.approx(0.03, abs=0.03)
