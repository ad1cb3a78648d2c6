"""Scripted players of a game: one knows the best design, one submits the default unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from environments.drone.definition import Build, DroneDefinition
from environments.drone.tools import DEPLOY, SUBMIT
from environments.task import JSON, Reply, Tool

_TRIAL = 20


class Submitting:
    """Submits one design; where a deployment must come first, it deploys ``trial`` drones of it."""

    def __init__(self, design: dict[str, float], equipment: str | None, report: str, trial: int = 1) -> None:
        self._design = design
        self._equipment = equipment
        self._report = report
        self._trial = trial
        self._guarded = False

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Note whether a deployment must come first."""
        self._guarded = bool(brief["protocol"]["deploy_before_submit"])

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Deploy where asked, then submit; stop when refused."""
        if last is not None and (last.done or not last.ok):
            return None
        build: dict[str, JSON] = {"design": self._design, "equipment": self._equipment}
        if last is None and self._guarded:
            return DEPLOY, {**build, "count": self._trial}
        return SUBMIT, {**build, "report": self._report}


def reference(definition: DroneDefinition) -> Submitting:
    """Return the player that knows the truth: the best design, with the mechanism in its report."""
    report = definition.report
    best: Build = report.optimum
    words = (
        "Mechanism: " + "; ".join(report.chain) + ". What misleads here: " + report.trap + " "
        f"Prediction: of 1,000 drones about {1000 * report.optimum_survival:.0f} come back; changing what "
        "the mechanism names should move this, changing anything else should not."
    )
    design = {f"{name}_def": value for name, value in best.parts.items()}
    return Submitting(design, best.module, words, trial=_TRIAL)


def default() -> Submitting:
    """Return the player that knows nothing: the default design, no module.

    Source: arXiv 2607.04293, appendix G: baseline Default.
    """
    return Submitting({}, None, "The default design, unchanged; nothing was tested.")
