"""What happened in a session, read from its record: deployments and the final submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from environments.drone.arguments import Deploy, Submit, read_design
from environments.drone.definition import Build, DroneDefinition
from environments.drone.tools import DEPLOY, QUERY, SUBMIT
from environments.task import Record


@dataclass(frozen=True)
class Deployment:
    """One accepted deployment of Stage 1."""

    build: Build
    count: int
    rate: float


@dataclass(frozen=True)
class SessionLog:
    """A session as its judge sees it; ``final`` is None where nothing was submitted."""

    deployments: tuple[Deployment, ...]
    final: Build | None
    report: str
    unlocked: tuple[str, ...]

    @property
    def builds(self) -> Sequence[Build]:
        """All designs in their order, the final one last."""
        return [*(item.build for item in self.deployments), *([self.final] if self.final else [])]

    @property
    def best_rate(self) -> float | None:
        """The highest share that survived in Stage 1."""
        return max((item.rate for item in self.deployments), default=None)

    def rate_of_final(self) -> float | None:
        """Return Stage 1's rate of the final design over all its deployments; else the best rate."""
        same = [item for item in self.deployments if item.build == self.final]
        if not same:
            return self.best_rate
        return sum(item.rate * item.count for item in same) / sum(item.count for item in same)


def read_session(definition: DroneDefinition, record: Record) -> SessionLog:
    """Read a record's accepted actions."""
    deployments, unlocked = [], []
    final, report = None, ""
    for event in record.events:
        if event.outcome != "succeeded":
            continue
        if event.tool == DEPLOY:
            asked = Deploy.model_validate(event.args)
            build = _build(definition, asked)
            data = event.reply.data
            deployments.append(Deployment(build, asked.count, data["survived"] / data["deployed"]))
        elif event.tool == QUERY and event.reply.data["variable"] is not None:
            unlocked.append(event.reply.data["variable"]["name"])
        elif event.tool == SUBMIT:
            submitted = Submit.model_validate(event.args)
            final, report = _build(definition, submitted), submitted.report
    return SessionLog(tuple(deployments), final, report, tuple(dict.fromkeys(unlocked)))


def _build(definition: DroneDefinition, asked: Deploy | Submit) -> Build:
    build = read_design(definition.template, definition.default().parts, asked.design, asked.equipment)
    if not isinstance(build, Build):
        raise ValueError(f"an accepted design cannot be read: {build.message}")
    return build
