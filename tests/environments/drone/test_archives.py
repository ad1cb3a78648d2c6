"""Archives: spurious signs on average, and in every archive that a player gets."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cards.errors import InputError
from environments.drone.archive import attempt_seed, draw_archive, find_archive, measure, shows
from environments.drone.engine import Columns
from environments.drone.scenario import Archive, Habit, Sign
from environments.drone.scenarios import SCENARIOS
from environments.drone.template import TEMPLATES
from tests.environments.drone.games import definition, playing

SEEDS = 200
WITH_ARCHIVE = [name for name, item in SCENARIOS.items() if item.archive is not None]


def archive(name: str, seed: bytes) -> Columns:
    """Draw an archive of a scenario, whatever it shows."""
    item = SCENARIOS[name]
    template = TEMPLATES[item.family]
    assert item.archive is not None
    parameters = template.model.bind(item.parameters, item.first_stage)
    return draw_archive(template, item.archive, template.defaults(item), parameters, seed)


@cache
def drawn(name: str) -> list[Columns]:
    """Two hundred archives of a scenario."""
    return [archive(name, attempt_seed(b"seed %d" % number, 1)) for number in range(SEEDS)]


def values(name: str, measured: str, column: str, within: str | None = None) -> np.ndarray:
    sign = Sign(measure=measured, column=column, sign=1, within=within)  # type: ignore[arg-type]
    found = np.array([measure(sign, flights) for flights in drawn(name)])
    return found[~np.isnan(found)]


# The figures are a prototype's means over 200 archives, printed to 0.01. Both means have a standard
# error, so the tolerance is 4 standard errors of their difference and half of the last printed digit.
@pytest.mark.parametrize(
    ("name", "measured", "column", "within", "figure"),
    [
        ("antenna_trap", "correlation", "antenna", None, 0.28),
        ("antenna_trap_high_def", "correlation", "antenna", None, 0.57),
        ("antenna_trap_local_optima", "correlation", "antenna", None, 0.36),
        ("antenna_trap_no_selection_bias", "correlation", "antenna", None, -0.34),
        ("antenna_trap_simpsons_paradox", "correlation", "antenna", None, 0.22),
        ("antenna_trap_simpsons_paradox", "correlation", "antenna", "storm", -0.21),
        ("deployment_zone_trap_categorical", "correlation", "engine", None, 0.34),
        ("deployment_zone_trap_categorical", "correlation", "altitude", None, 0.41),
        ("deployment_zone_trap_categorical", "difference", "has_filter", None, 0.46 - 0.50),
        ("deployment_zone_trap_categorical_local_optima", "correlation", "engine", None, 0.34),
        ("deployment_zone_trap_env_shift", "correlation", "engine", None, 0.31),
        ("deployment_zone_trap_env_shift", "correlation", "altitude", None, 0.24),
        ("deployment_zone_trap_env_shift", "difference", "has_filter", None, 0.56 - 0.73),
        ("deployment_zone_trap_categorical_high_def", "correlation", "engine", None, 0.14),
        ("deployment_zone_trap_categorical_high_def", "correlation", "altitude", None, 0.23),
        ("deployment_zone_trap_categorical_high_def", "difference", "has_filter", "low_zone", 0.66 - 0.27),
        ("deployment_zone_trap_categorical_simpsons_paradox", "correlation", "engine", None, 0.14),
        ("deployment_zone_trap_categorical_simpsons_paradox", "difference", "has_filter", None, 0.67 - 0.72),
        ("deployment_zone_trap_categorical_no_selection_bias", "correlation", "engine", None, 0.0),
        ("deployment_zone_trap_categorical_no_selection_bias", "correlation", "altitude", None, 0.39),
        ("deployment_zone_trap_categorical_no_selection_bias", "difference", "has_filter", None, 0.71 - 0.50),
    ],
)
def test_spurious_signs(name: str, measured: str, column: str, within: str | None, figure: float) -> None:
    """docs/games.md: the association that an archive shows, on average over 200 seeds."""
    found = values(name, measured, column, within)
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - figure) <= 4 * np.sqrt(2) * error + 0.005 * (
        2 if measured == "difference" else 1
    )


def test_the_champion_is_false() -> None:
    """docs/games.md: radar boost with a thin shield looks best, .53 of survival, and is not."""
    rates = {"champion": [], "others": [], "filter": []}
    for flights in drawn("deployment_zone_trap_categorical_local_optima"):
        champion = flights["shield"] > 0
        filtered = (flights["has_filter"] > 0) & ~champion
        for label, chosen in (
            ("champion", champion),
            ("filter", filtered),
            ("others", ~champion & ~filtered),
        ):
            if chosen.any():
                rates[label].append(flights["survived"][chosen].mean())
    means = {label: np.mean(found) for label, found in rates.items()}
    errors = {label: np.std(found, ddof=1) / np.sqrt(len(found)) for label, found in rates.items()}
    for label, figure in (("champion", 0.53), ("others", 0.50), ("filter", 0.48)):
        assert abs(means[label] - figure) <= 4 * np.sqrt(2) * errors[label] + 0.005, label


def test_the_weather_turns_the_sign() -> None:
    """docs/games.md: antenna armour goes with survival in Stage 1, against it in Stage 2."""
    item = SCENARIOS["weather_noise"]
    template = TEMPLATES["weather"]
    kept_all = Archive(habits=item.archive.habits)  # type: ignore[union-attr]
    sign = Sign(measure="correlation", column="antenna", sign=1)
    for changes, figure in ((item.first_stage, 0.24), ({}, -0.28)):
        parameters = template.model.bind(changes)
        found = [
            measure(sign, draw_archive(template, kept_all, template.defaults(item), parameters, b"w%d" % n))
            for n in range(SEEDS)
        ]
        error = np.std(found, ddof=1) / np.sqrt(SEEDS)
        assert abs(np.mean(found) - figure) <= 4 * np.sqrt(2) * error + 0.005
    assert np.mean(values("weather_noise", "correlation", "antenna") > 0) >= 0.97


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("antenna_trap", 0.39),
        ("antenna_trap_no_selection_bias", 0.59),
        ("antenna_trap_local_optima", 0.93),
    ],
)
def test_survivors_with_broken_antennas(name: str, share: float) -> None:
    """docs/games.md: how many surviving records have less than half an antenna."""
    shares = [(f["antenna_hp"][f["survived"] > 0] < 25).mean() for f in drawn(name)]
    assert np.mean(shares) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("name", WITH_ARCHIVE)
def test_every_archive_of_a_release_shows_its_signs(name: str) -> None:
    """The build redraws until the required signs hold, and counts the attempts."""
    known = definition(name)
    item = bytes.fromhex(known.item)
    assert known.scenario.archive is not None
    assert shows(known.scenario.archive, archive(name, attempt_seed(item, known.attempt)))
    for earlier in range(1, known.attempt):
        assert not shows(known.scenario.archive, archive(name, attempt_seed(item, earlier)))


def test_simpsons_reversal_is_asked_for() -> None:
    """The filter must look worse by .03 over all flights and better inside the low zones."""
    name = "deployment_zone_trap_categorical_simpsons_paradox"
    known = definition(name)
    flights = archive(name, attempt_seed(bytes.fromhex(known.item), known.attempt))
    assert measure(Sign(measure="difference", column="has_filter", sign=-1), flights) < -0.03
    assert measure(Sign(measure="difference", column="has_filter", sign=1, within="low_zone"), flights) > 0


def test_an_archive_has_200_flights_with_designs_in_range() -> None:
    """200 records; every DEF has one decimal and lies in [0, 50]."""
    for name in WITH_ARCHIVE:
        flights = drawn(name)[0]
        parts = [part.name for part in TEMPLATES[SCENARIOS[name].family].parts]
        designs = np.stack([flights[part] for part in parts])
        assert designs.shape[1] == 200
        assert designs.min() >= 0
        assert designs.max() <= 50
        assert np.allclose(designs, np.round(designs, 1))


def test_the_player_reads_the_archive_that_was_checked() -> None:
    """What a session shows is the archive of the definition, equal in every repetition."""
    name = "deployment_zone_trap_categorical"
    first = playing(name)("get_history")["archive"]
    assert first == playing(name, "prompting", 2)("get_history")["archive"]
    known = definition(name)
    flights = archive(name, attempt_seed(bytes.fromhex(known.item), known.attempt))
    assert [record["survived"] for record in first] == (flights["survived"] > 0).tolist()
    assert [record["design"]["engine_def"] for record in first] == flights["engine"].tolist()


def test_signs_that_cannot_be_had_are_an_error() -> None:
    """A scenario that asks for the impossible is refused, not built without its trap."""
    template = TEMPLATES["antenna"]
    item = SCENARIOS["antenna_trap"]
    wanted = Sign(measure="correlation", column="antenna", sign=1, margin=0.99)
    impossible = Archive(size=20, habits=(Habit(part="antenna", ranges=((0, 24),)),), signs=(wanted,))
    with pytest.raises(InputError, match="required signs"):
        find_archive(template, impossible, template.defaults(item), template.model.bind(), b"s" * 32)
