"""The fourteen games as data.

Source: arXiv 2607.04293, table 6 (names, selection bias, confounders); the laws of the archives and the
rules by which flights were kept are our choice, see docs/games.md.
"""

from __future__ import annotations

from cards.errors import InputError
from environments.drone.engine import Value
from environments.drone.scenario import Archive, Champion, Habit, ModuleHabit, Scenario, Selection, Sign

_ANTENNA_TRAP = (
    "Antenna armour looks protective: in the archive, kept according to design and outcome, better armoured "
    "antennas go with survival. In truth an intact antenna emits and is detected; the association comes from "
    "which flights were filed."
)
_ZONE_TRAP = (
    "Altitude, and the engine that seems to buy it, look protective. In truth low zones have more "
    "electromagnetic interference; altitude and engine have no effect, and the archive under-reports "
    "survivors that carried the filter."
)
_POSITIVE_ANTENNA = Sign(measure="correlation", column="antenna", sign=1)
_ENGINE_LOOKS_GOOD = (
    Sign(measure="correlation", column="engine", sign=1),
    Sign(measure="correlation", column="altitude", sign=1),
)
_FILTER_LOOKS_BAD = Sign(measure="difference", column="has_filter", sign=-1)
_ZONE_FILED = Selection(
    part="engine",
    low=8,
    high=44,
    survived=(0.25, 0.75),
    lost=(1.0, -0.75),
    thinned=((("survived", "has_filter"), 0.35),),
)
_ZONE_HABITS = (Habit(part="engine", ranges=((8, 44),)),)
_ZONE_ARCHIVE = Archive(
    habits=_ZONE_HABITS,
    modules=ModuleHabit(filter_share=0.2),
    selection=_ZONE_FILED,
    signs=(*_ENGINE_LOOKS_GOOD, _FILTER_LOOKS_BAD),
)
_REVERSAL = (
    Sign(measure="difference", column="has_filter", sign=-1, margin=0.03),
    Sign(measure="difference", column="has_filter", sign=1, within="low_zone"),
)
_OVERLOAD: dict[str, Value] = {"overload": 0.12}


def _filed(low: float, high: float) -> Selection:
    """An archive that files the successes of well armoured antennas and the failures of light ones."""
    return Selection(part="antenna", low=low, high=high, survived=(0.12, 0.88), lost=(1.0, -0.92))


def _by_zone(others: tuple[float, float] | None = None) -> Archive:
    """An archive whose designers knew the zone."""
    return Archive(
        habits=(Habit(part="engine", ranges=((8, 26),), when="low_zone", otherwise=((18, 44),)),),
        others=others,
        modules=ModuleHabit(filter_share=0.8, when="low_zone", otherwise=0.03),
        selection=Selection(lost=(0.7, 0.0)),
        signs=(*_ENGINE_LOOKS_GOOD, *_REVERSAL),
    )


_ALL = (
    Scenario(
        name="antenna_trap",
        family="antenna",
        trap=_ANTENNA_TRAP,
        selection_bias=True,
        archive=Archive(
            habits=(Habit(part="antenna", ranges=((0, 24),)),),
            selection=_filed(0, 16),
            signs=(_POSITIVE_ANTENNA,),
        ),
    ),
    Scenario(
        name="antenna_trap_high_def",
        family="antenna",
        trap=_ANTENNA_TRAP + " The archive holds heavy drones only, and weather chose the antenna.",
        selection_bias=True,
        confounder=True,
        archive=Archive(
            habits=(Habit(part="antenna", ranges=((14, 40),), when="storm", otherwise=((4, 20),)),),
            others=(25, 50),
            selection=_filed(4, 24),
            signs=(_POSITIVE_ANTENNA,),
        ),
    ),
    Scenario(
        name="antenna_trap_local_optima",
        family="antenna",
        trap=_ANTENNA_TRAP + " A heavy gun is a false hill that helps a little.",
        parameters={"hill": 0.15},
        defaults={"antenna": 2.0},
        selection_bias=True,
        null_may_win=True,
        archive=Archive(
            habits=(Habit(part="antenna", ranges=((1, 8),)), Habit(part="gun", ranges=((2, 12), (26, 46)))),
            selection=_filed(1, 7),
            signs=(_POSITIVE_ANTENNA,),
        ),
    ),
    Scenario(name="antenna_trap_no_history", family="antenna", trap=_ANTENNA_TRAP, selection_bias=True),
    Scenario(
        name="antenna_trap_no_selection_bias",
        family="antenna",
        trap="Protecting every part looks prudent. An intact antenna emits and is detected; the data say so.",
        selection_bias=False,
        archive=Archive(
            habits=(Habit(part="antenna", ranges=((0, 24),)),),
            signs=(Sign(measure="correlation", column="antenna", sign=-1),),
        ),
    ),
    Scenario(
        name="antenna_trap_simpsons_paradox",
        family="antenna",
        trap=(
            "Over all flights antenna armour goes with survival, within storms against it: designers "
            "armoured the antenna in storms, and losses in storms are what the weather decides."
        ),
        selection_bias=True,
        confounder=True,
        archive=Archive(
            habits=(Habit(part="antenna", ranges=((8, 18),), when="storm", otherwise=((0, 6),)),),
            selection=Selection(lost=(0.7, 0.0), thinned=((("storm",), 0.3),)),
            signs=(
                _POSITIVE_ANTENNA,
                Sign(measure="correlation", column="antenna", sign=-1, within="storm"),
            ),
        ),
    ),
    Scenario(
        name="deployment_zone_trap_categorical",
        family="zone",
        trap=_ZONE_TRAP,
        selection_bias=True,
        archive=_ZONE_ARCHIVE,
    ),
    Scenario(
        name="deployment_zone_trap_categorical_high_def",
        family="zone",
        trap=_ZONE_TRAP + " Filters went where drones are lost, and weight costs performance.",
        parameters=_OVERLOAD,
        selection_bias=True,
        confounder=True,
        archive=_by_zone(others=(25, 50)),
    ),
    Scenario(
        name="deployment_zone_trap_categorical_local_optima",
        family="zone",
        trap=_ZONE_TRAP + " The common radar_boost with a thin shield is a false champion.",
        selection_bias=True,
        archive=Archive(
            habits=_ZONE_HABITS,
            modules=ModuleHabit(filter_share=0.2),
            champion=Champion(share=0.7, module="radar_boost", ranges={"shield": (4, 10)}),
            selection=_ZONE_FILED,
            signs=(*_ENGINE_LOOKS_GOOD, _FILTER_LOOKS_BAD),
        ),
    ),
    Scenario(
        name="deployment_zone_trap_categorical_no_history",
        family="zone",
        trap=_ZONE_TRAP,
        selection_bias=True,
    ),
    Scenario(
        name="deployment_zone_trap_categorical_no_selection_bias",
        family="zone",
        trap="Altitude goes with survival and has no effect on it: low zones have more interference.",
        selection_bias=False,
        archive=Archive(
            habits=_ZONE_HABITS,
            modules=ModuleHabit(filter_share=0.2),
            signs=(
                Sign(measure="correlation", column="altitude", sign=1),
                Sign(measure="difference", column="has_filter", sign=1),
            ),
        ),
    ),
    Scenario(
        name="deployment_zone_trap_categorical_simpsons_paradox",
        family="zone",
        trap=(
            _ZONE_TRAP + " Filters were given to drones bound for low zones, so they go with loss over all "
            "flights and with survival inside those zones."
        ),
        parameters=_OVERLOAD,
        selection_bias=True,
        confounder=True,
        archive=_by_zone(),
    ),
    Scenario(
        name="deployment_zone_trap_env_shift",
        family="zone",
        trap=_ZONE_TRAP + " In Stage 1 the zones are benign and protection looks useless.",
        parameters={"zone_shares": (0.37, 0.32, 0.16, 0.05, 0.10)},
        first_stage={"zone_shares": (0.02, 0.05, 0.18, 0.30, 0.45)},
        selection_bias=True,
        forecast=True,
        archive=_ZONE_ARCHIVE,
    ),
    Scenario(
        name="weather_noise",
        family="weather",
        trap=(
            "Stage 1 is mostly stormy and rewards a well armoured antenna; Stage 2 is mostly clear and "
            "rewards the opposite. Readings are noisy, most of all in rain."
        ),
        first_stage={"clear_share": 0.3},
        defaults={"antenna": 30.0},
        selection_bias=True,
        forecast=True,
        archive=Archive(
            habits=(Habit(part="antenna", ranges=((0, 50),)), Habit(part="engine", ranges=((10, 30),))),
            selection=Selection(lost=(0.5, 0.0)),
            signs=(_POSITIVE_ANTENNA,),
        ),
    ),
)

SCENARIOS: dict[str, Scenario] = {item.name: item for item in _ALL}
"""The fourteen games by name."""


def scenario(name: str) -> Scenario:
    """Return a scenario by name; there is no default for a name that is not known.

    Raises:
        InputError: when there is no such scenario.
    """
    if name not in SCENARIOS:
        raise InputError(f"there is no game {name[:80]!r}.", f"The games are: {', '.join(SCENARIOS)}.")
    return SCENARIOS[name]
