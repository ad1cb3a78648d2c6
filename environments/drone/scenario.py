"""What a scenario is, as data: a family's model with other numbers, an archive, and how it was kept."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from environments.drone.engine import Value

FamilyName = Literal["antenna", "zone", "weather"]


class DataModel(BaseModel):
    """Frozen plain data without surprises."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Habit(DataModel):
    """How the archive's designers chose one part's DEF: uniformly on one of ``ranges``, each as likely.

    With ``when`` (a 0/1 variable that they knew and the archive does not show), ``ranges`` hold where it
    is 1 and ``otherwise`` where it is 0.
    """

    part: str
    ranges: tuple[tuple[float, float], ...]
    when: str | None = None
    otherwise: tuple[tuple[float, float], ...] = ()


class ModuleHabit(DataModel):
    """How often they took the filter; the other modules share the rest. ``when`` as in ``Habit``."""

    filter_share: float = Field(ge=0, le=1)
    when: str | None = None
    otherwise: float = Field(default=0.0, ge=0, le=1)


class Champion(DataModel):
    """A favourite combination of module and DEF that a share of the archive's drones carried."""

    share: float = Field(ge=0, le=1)
    module: str
    ranges: dict[str, tuple[float, float]]


class Selection(DataModel):
    """With which probability a flight is kept: a line in t for survivors and one for losses.

    t is the DEF of ``part`` on its way from ``low`` to ``high``, limited to [0, 1]. ``thinned`` holds
    further factors, each applied where all named 0/1 variables are 1.
    """

    part: str | None = None
    low: float = 0.0
    high: float = 1.0
    survived: tuple[float, float] = (1.0, 0.0)
    lost: tuple[float, float] = (1.0, 0.0)
    thinned: tuple[tuple[tuple[str, ...], float], ...] = ()


class Sign(DataModel):
    """Something that the archive must show.

    ``correlation`` of a column with survival, or ``difference`` of survival rates between flights where
    a 0/1 column is 1 and where it is 0, among flights where ``within`` is 1. ``sign`` times the value
    must be above ``margin``.
    """

    measure: Literal["correlation", "difference"]
    column: str
    sign: Literal[1, -1]
    margin: float = 0.0
    within: str | None = None


class Archive(DataModel):
    """The flights of others that a player may read at the start."""

    size: int = Field(default=200, ge=1)
    habits: tuple[Habit, ...] = ()
    others: tuple[float, float] | None = None
    """Range of every DEF without a habit (a shield never); None: the default times U(0.6, 1.4)."""
    modules: ModuleHabit | None = None
    champion: Champion | None = None
    selection: Selection | None = None
    signs: tuple[Sign, ...] = ()


class Scenario(DataModel):
    """One game, whole."""

    name: str
    family: FamilyName
    trap: str
    """What misleads a player here, for the judge's task report."""
    parameters: dict[str, Value] = {}
    """Changes to the family's parameters, in both stages."""
    first_stage: dict[str, Value] = {}
    """Further changes in Stage 1 and in the archive."""
    defaults: dict[str, float] = {}
    """Changes to the default DEF."""
    archive: Archive | None = None
    selection_bias: bool
    """Whether a lost drone leaves no record but the fact."""
    confounder: bool = False
    forecast: bool = False
    """Whether the next stage's conditions can be asked for."""
    null_may_win: bool = False
    """Whether the default design is good enough here, by construction."""
