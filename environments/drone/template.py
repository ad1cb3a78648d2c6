"""The three families of games: a model, its parts, what a record shows, and what can be asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from environments.drone import antenna, weather, zone
from environments.drone.components import COMPONENTS, MODULES, SHIELD, Component
from environments.drone.engine import Model, Value
from environments.drone.scenario import FamilyName, Scenario


@dataclass(frozen=True)
class Reading:
    """A column of the model as a record shows it.

    ``labels``: words for 0, 1, …; else a number to ``digits`` decimals. A whole number (``digits`` 0)
    and a label are exact; any other reading bears the measurement error.
    """

    name: str
    column: str
    description: str
    digits: int = 1
    labels: tuple[str, ...] = ()
    of_the_lost: bool = True
    """Whether it is known of a lost drone where losses leave no record."""


@dataclass(frozen=True)
class Hidden:
    """A variable that a player can ask for; one whose text holds a word that begins like a keyword gets it.

    ``reading`` is added to every record. ``statement`` says something about the next stage instead.
    """

    name: str
    keywords: tuple[str, ...]
    description: str
    reading: Reading | None = None
    statement: Callable[[Mapping[str, Value]], str] | None = None


@dataclass(frozen=True)
class Template:
    """One family of games."""

    model: Model
    parts: tuple[Component, ...]
    modules: tuple[str, ...]
    cues: tuple[Reading, ...]
    hidden: tuple[Hidden, ...]
    threshold: float
    background: str
    chain: tuple[str, ...]
    mediators: tuple[str, ...]
    storm: str | None = None
    """The column that says whether there was a storm, which damages parts."""
    noise: tuple[float, float] = (0.0, 0.0)
    """Relative measurement error of continuous readings in a storm and in clear weather."""

    @property
    def measurement_error(self) -> bool:
        """Whether readings bear an error at all."""
        return any(self.noise)

    def variables(self, scenario: Scenario) -> tuple[Hidden, ...]:
        """Return what can be asked for in one scenario."""
        return tuple(item for item in self.hidden if item.statement is None or scenario.forecast)

    def defaults(self, scenario: Scenario) -> dict[str, float]:
        """Return the default DEF of every part."""
        return {part.name: part.default for part in self.parts} | scenario.defaults


def _zone_statement(parameters: Mapping[str, Value]) -> str:
    shares = parameters["zone_shares"]
    assert isinstance(shares, tuple)
    mix = ", ".join(f"{100 * share:.0f} % in zone {number}" for number, share in enumerate(shares))
    return f"Of the flights of Stage 2 about {mix}; zone 0 is the lowest."


def _season_statement(parameters: Mapping[str, Value]) -> str:
    clear = parameters["clear_share"]
    assert isinstance(clear, float)
    return f"In Stage 2 about {100 * (1 - clear):.0f} % of the flights meet a storm."


_FORECAST = ("forecast", "next stage", "future", "validation")
_WEATHER = ("clear", "storm")

TEMPLATES: dict[FamilyName, Template] = {
    "antenna": Template(
        model=antenna.MODEL,
        parts=COMPONENTS,
        modules=(),
        cues=(
            Reading("wind_kmh", "wind", "wind speed in km/h"),
            Reading("temperature_c", "temperature", "temperature in °C"),
            Reading("humidity", "humidity", "relative humidity in per cent"),
        ),
        hidden=(
            Hidden(
                "weather_state",
                ("weather", "storm"),
                "Weather during the flight.",
                Reading("weather_state", "storm", "weather during the flight", labels=_WEATHER),
            ),
            Hidden(
                "signal_emission",
                ("signal", "emission", "radio", "antenna signal"),
                "Whether a radio signal of the drone was noted (1) or not (0); wrong now and then.",
                Reading("signal_emission", "emission_reading", "radio signal noted", digits=0),
            ),
            Hidden(
                "radar_contact",
                ("radar", "detect", "enem"),
                "Whether the enemy had the drone on radar (1) or not (0).",
                Reading("radar_contact", "detected", "radar contact", digits=0, of_the_lost=False),
            ),
        ),
        threshold=0.75,
        background=(
            "Reconnaissance drones fly through a hostile canyon in changing weather. Some come back, some do "
            "not. The armour of each part can be set."
        ),
        chain=(
            "weather damages the antenna, and antenna_def protects it",
            "an antenna with hit points left emits a signal; one with none is silent",
            "the more of it is intact, the likelier the drone is detected",
            "a detected drone is almost always destroyed",
            "so the least antenna_def gives the highest survival: storms then silence the antenna",
        ),
        mediators=("antenna hit points", "signal emission", "detection"),
        storm="storm",
    ),
    "zone": Template(
        model=zone.MODEL,
        parts=(*COMPONENTS, SHIELD),
        modules=MODULES,
        cues=(
            Reading("altitude_m", "altitude", "altitude in m", digits=1),
            Reading("temperature_c", "temperature", "temperature in °C"),
        ),
        hidden=(
            Hidden(
                "emi_level",
                ("emi", "electromagnetic", "interference", "noise floor"),
                "Level of electromagnetic interference met by the flight, from 0 to 1.",
                Reading("emi_level", "emi_reading", "electromagnetic interference", digits=3),
            ),
            Hidden(
                "mission_zone",
                ("zone", "sector", "region"),
                "Number of the zone in which the flight was deployed.",
                Reading("mission_zone", "mission_zone", "zone of deployment", digits=0),
            ),
            Hidden(
                "comm_quality",
                ("comm", "link", "radio"),
                "Quality of the radio link during the flight, from 0 to 1.",
                Reading("comm_quality", "link_reading", "quality of the radio link", digits=3),
            ),
            Hidden(
                "deployment_forecast",
                _FORECAST,
                "Where the flights of Stage 2 will be deployed.",
                statement=_zone_statement,
            ),
        ),
        threshold=0.75,
        background=(
            "Drones are deployed over a wide area and fly their missions at different altitudes. Some come "
            "back, some do not. The armour of each part can be set, and one module can be carried."
        ),
        chain=(
            "the zone of deployment decides the altitude, which has no effect, and the level of interference",
            "shield_def (1.5 % each) and the signal_filter (55 %) lower the interference that gets through",
            "interference that gets through makes communication fail",
            "a drone whose communication fails is lost",
            "so a shield of at least 22.2 with the signal_filter gives the highest survival",
        ),
        mediators=("electromagnetic interference", "effective interference", "communication failure"),
    ),
    "weather": Template(
        model=weather.MODEL,
        parts=COMPONENTS,
        modules=(),
        cues=(
            Reading("wind_kmh", "wind", "wind speed in km/h"),
            Reading("rain_mm", "rain", "rain in mm/h"),
            Reading("pressure_hpa", "pressure", "air pressure in hPa"),
        ),
        hidden=(
            Hidden(
                "season_forecast",
                ("forecast", "season", "future", "validation"),
                "What weather the flights of Stage 2 will meet.",
                statement=_season_statement,
            ),
            Hidden(
                "weather_state",
                ("weather", "storm", "rain"),
                "Weather during the flight.",
                Reading("weather_state", "storm", "weather during the flight", labels=_WEATHER),
            ),
        ),
        threshold=0.55,
        background=(
            "Drones patrol a coast in all weathers. Some come back, some do not. The armour of each part can "
            "be set; instruments are not exact."
        ),
        chain=(
            "the weather decides which antenna_def suits: much in storms, little in clear weather",
            "how well it suits decides survival, and the engine adds a little",
            "armour beyond a total of about 120 costs survival in any weather",
            "Stage 2 is mostly clear: an antenna_def near 8.5 with the heaviest engine is best there",
        ),
        mediators=("weather", "handling", "payload"),
        storm="storm",
        noise=(0.20, 0.05),
    ),
}
"""The families by name."""
