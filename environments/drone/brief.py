"""What a player is told; the same in every scenario of a family but for the target."""

from __future__ import annotations

from environments.drone.definition import DroneDefinition
from environments.drone.tools import SETTING
from environments.task import JSON

_GOAL = (
    "Find the design with which the most drones come back, and submit it with a short report. Your design "
    "succeeds when the share of the Stage 2 fleet that comes back reaches the target."
)
_STAGES = (
    "Stage 1: deploy drones to learn. Stage 2: your one final design is flown by a fleet of its own. "
    "Conditions vary from flight to flight, and need not be those of earlier flights."
)
_RECORDS = (
    "A record holds the design, whether the drone came back, how often it was hit, what is left of each part "
    "(hp, from 0 to 1), and readings of the environment. Not everything is measured, and not every flight "
    "could be recorded in full. Other measurements can be asked for."
)
_GUARD = {
    True: "At least one deployment must come before the final design.",
    False: "The final design may be submitted without a deployment.",
}


def task_brief(definition: DroneDefinition) -> dict[str, JSON]:
    """Return the part of the brief that holds under every protocol."""
    budgets, template = definition.budgets, definition.template
    return {
        "setting": SETTING,
        "goal": _GOAL,
        "background": template.background,
        "stages": _STAGES,
        "records": _RECORDS,
        "target": template.threshold,
        "design": {
            "keys": [f"{part.name}_def" for part in template.parts],
            "low": 0,
            "high": 50,
            "equipment": list(template.modules),
        },
        "budget": {
            "drones": budgets.drones,
            "deployments": budgets.deployments,
            "queries": budgets.queries,
            "calls": budgets.call_cap,
            "fleet": budgets.fleet,
        },
    }


def brief(definition: DroneDefinition, protocol: str) -> dict[str, JSON]:
    """Return the whole brief of one session."""
    guarded = guard(protocol)
    return task_brief(definition) | {
        "protocol": {
            "name": protocol,
            "deploy_before_submit": guarded,
            "calls_per_turn": definition.budgets.calls_per_turn,
            "rules": [_GUARD[guarded], "A refused action costs nothing; its error says why."],
        }
    }


def guard(protocol: str) -> bool:
    """Return whether a protocol asks for a deployment before the final design."""
    return protocol == "agentic"
