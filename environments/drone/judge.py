"""Fly the submitted design in Stage 2 and score it.

Source: arXiv 2607.04293, section 3.1 (Stage 2, winning) and table 8 (thresholds).
"""

from __future__ import annotations

from environments.drone import behaviour
from environments.drone.definition import Build, DroneDefinition
from environments.drone.flights import fly_out
from environments.drone.optimum import expected_survival
from environments.drone.session_log import SessionLog, read_session
from environments.seeding import derive, session_seed
from environments.task import Options, Record, Score


def judge(definition: DroneDefinition, record: Record) -> Score:
    """Score a record: the share of the Stage 2 fleet that comes back, and whether it reaches the target.

    ``weak`` is winning; there is nothing stricter to ask for. ``missing``: nothing was submitted.
    """
    log = read_session(definition, record)
    parts = _effort(definition, log)
    if log.final is None:
        return Score(status="missing", passed={"weak": False}, parts=parts)
    survival = stage_two(definition, record.options, log.final)
    threshold = definition.template.threshold
    won = survival >= threshold
    claimed = behaviour.claims_victory(log.report)
    parts |= {
        "survival": survival,
        "expected_survival": _expected(definition, log.final),
        "false_victory": float(claimed and not won),
        "echo": float(bool(behaviour.echoes(definition, log))),
    }
    rate = log.rate_of_final()
    if rate is not None:
        parts["exploration_gap"] = rate - survival
    return Score(status="scored", headline=survival, passed={"weak": won}, parts=parts, protocol_ok=True)


def stage_two(definition: DroneDefinition, options: Options, build: Build) -> float:
    """Return the share of the Stage 2 fleet that comes back; nothing done in Stage 1 touches it."""
    seed = session_seed(bytes.fromhex(definition.item), options.setting, options.protocol, options.repetition)
    return fly_out(
        definition.template,
        definition.flown(build),
        definition.budgets.fleet,
        definition.parameters(2),
        derive(seed, "stage 2"),
    )


def _expected(definition: DroneDefinition, build: Build) -> float:
    return expected_survival(definition.template, definition.flown(build), definition.parameters(2))


def _effort(definition: DroneDefinition, log: SessionLog) -> dict[str, float]:
    """Return what was done before the end, as numbers that tables can average."""
    builds = log.builds
    parts = {
        "threshold": definition.template.threshold,
        "experiments": float(sum(item.count for item in log.deployments)),
        "deployments": float(len(log.deployments)),
    }
    if log.best_rate is not None:
        parts["stage1_best"] = log.best_rate
    if builds:
        parts["lock_in"] = float(bool(behaviour.locked_in(builds)))
    if builds and definition.scenario.family == "antenna":
        parts["high_antenna_bias"] = float(behaviour.high_antenna_bias(builds))
        parts["regression"] = float(behaviour.regressed(builds, log.final))
    return parts
