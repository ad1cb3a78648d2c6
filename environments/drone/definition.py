"""What a game is made of: a scenario, budgets, seeds, the archive's attempt, and the known best."""

from __future__ import annotations

from functools import cached_property

from pydantic import Field

from environments.drone.components import MODULES
from environments.drone.engine import Value
from environments.drone.scenario import DataModel, Scenario
from environments.drone.template import TEMPLATES, Template


class Budgets(DataModel):
    """What a player has. Source: arXiv 2607.04293, section 3.1; queries and calls are ours."""

    drones: int = Field(default=200, ge=1)
    deployments: int = Field(default=10, ge=1)
    queries: int = Field(default=20, ge=1)
    fleet: int = Field(default=1000, ge=1)
    """Drones of Stage 2."""
    call_cap: int = Field(default=512, ge=1)
    """Carried-out actions of one episode; a refused one costs nothing."""
    calls_per_turn: int = Field(default=5, ge=1, le=10)
    """Tool calls that a model may make in one turn; kept by the players' side."""


class Build(DataModel):
    """One whole design: the DEF of every part, and the module by name."""

    parts: dict[str, float]
    module: str | None = None

    def columns(self) -> dict[str, float]:
        """Return the design variables by name, the module as its index where there is one."""
        return self.parts | {"module": float(0 if self.module is None else 1 + MODULES.index(self.module))}


class TaskReport(DataModel):
    """The truth in words, for a judge of reports."""

    chain: tuple[str, ...]
    mediators: tuple[str, ...]
    trap: str
    optimum: Build
    optimum_survival: float
    threshold: float


class Expected(DataModel):
    """Exact expected survival in Stage 2."""

    optimum: float
    default: float
    random: float
    uniform_high: float


class DroneDefinition(DataModel):
    """Everything that the simulator and the judge of one game need."""

    scenario: Scenario
    budgets: Budgets
    item: str = Field(pattern=r"^[0-9a-f]{64}$")
    """The item seed; archive, Stage 1 and Stage 2 have streams of their own."""
    attempt: int = Field(ge=0)
    """Which drawing of the archive showed what it must; 0 without an archive."""
    expected: Expected
    confirmed: float
    """Share that survives of 100,000 drones of the best design."""
    report: TaskReport

    @cached_property
    def template(self) -> Template:
        """The scenario's family."""
        return TEMPLATES[self.scenario.family]

    def parameters(self, stage: int) -> dict[str, Value]:
        """Return the model's parameters in Stage 1 or 2."""
        first = self.scenario.first_stage if stage == 1 else {}
        return self.template.model.bind(self.scenario.parameters, first)

    def default(self) -> Build:
        """Return the default design."""
        return Build(parts=self.template.defaults(self.scenario))

    def flown(self, build: Build) -> dict[str, float]:
        """Return the design variables that this family's model has."""
        columns = build.columns()
        return {name: columns[name] for name in self.template.model.design}
