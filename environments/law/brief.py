"""What a player is told. Nothing here depends on which twin holds.

The task's part is the same under all protocols and stands in the release's sealed part; the
protocol's part is added when a session opens.
"""

from __future__ import annotations

from cards.expression import MAX_DEPTH, MAX_NODES
from cards.infix import print_constraint
from cards.operators import OPERATORS
from environments.law.definition import LawDefinition
from environments.law.identification import candidates
from environments.law.protocol import CONFIDENCE_SUM_TOLERANCE, Protocol
from environments.task import JSON

SETTINGS = ("identification", "discovery")

_GOAL = {
    "identification": (
        "Find out which of the given candidate relations governs this apparatus, and submit it as one "
        "expression per observable."
    ),
    "discovery": (
        "Find the relation by which the inputs determine the observables of this apparatus, and submit it "
        "as one expression per observable."
    ),
}
_CONSTANTS = (
    "The apparatus may or may not follow what is known from textbooks; only what it shows counts. "
    "Constants that are not listed here have few significant digits. Where a quantity is compared with a "
    "reference value, that value is the exact middle of the printed domain of an input: the arithmetic "
    "mean of its two ends, or the geometric mean where the scale is log."
)
_SUBMISSION = (
    'A leaf is a finite number or {"var": name}, where the name is an input or a listed parameter. An '
    'inner node is {"op": operator, "args": [...]}. Numbers are real and angles in radians; pow takes a '
    "negative base only with a whole exponent; step(x) is 1 for x > 0 and 0 otherwise; round goes to the "
    "even neighbour at a half; mod is the remainder with the sign of the divisor. An expression that is "
    "undefined or not finite anywhere in the domain, in any of its parts, is invalid."
)
_READINGS = (
    "Readings are free of noise and rounded to the resolution, or to the number of significant digits, "
    "that is given with the observable; hidden inputs are judged against the unrounded relation."
)
_NOISY = (
    "Each reading carries Gaussian noise of its own, with mean zero and a standard deviation of {noise:g} "
    "times (absolute_tolerance + relative_tolerance * |true|), and is then rounded to the resolution, or to "
    "the number of significant digits, that is given with the observable; hidden inputs are judged against "
    "the relation without noise."
)
_REPORTS = (
    f"Confidences lie between 0 and 1 and sum to 1 within {CONFIDENCE_SUM_TOLERANCE:g}. A completion "
    "selects one hypothesis by its id."
)
_PRIOR = "No experiment can be made. Complete from what this brief says and from what you know."
_FIXED = "{budget} preset experiments can be read; no other experiment can be made. Then complete."
_ADAPTIVE = (
    "Nothing has been measured yet. Each action reports at least two different hypotheses and either "
    "proposes one experiment or completes. Hypotheses are different when their statements differ and at "
    "least one of their forecasts differs by more than the tolerance.",
    "A proposal sets every input, names the observables to measure, and forecasts each of them under "
    "every hypothesis. A refused proposal returns the reason and no observation.",
    "An experiment may be proposed only while every confidence is below {tau:g}. The hypothesis that a "
    "completion selects must have a confidence of at least {tau:g}; a completion that breaks this rule is "
    "scored but does not succeed.",
)


def task_brief(definition: LawDefinition, setting: str) -> dict[str, JSON]:
    """Return the part of the brief that holds under every protocol."""
    told: dict[str, JSON] = {
        "setting": setting,
        "goal": _GOAL[setting],
        "background": definition.background,
        "inputs": [item.model_dump(mode="json") for item in definition.inputs],
        "constraints": [print_constraint(item) for item in definition.constraints],
        "parameters": [item.model_dump(mode="json") for item in definition.told],
        "observables": [item.model_dump(mode="json") for item in definition.observables],
        "relative_tolerance": definition.relative_tolerance,
        "constants": _CONSTANTS,
        "scoring": _scoring(definition),
        "submission": {
            "expression": _SUBMISSION,
            "max_nodes_over_all_observables": MAX_NODES,
            "max_depth": MAX_DEPTH,
            "operators": [
                {"name": name, "min_args": operator.min_args, "max_args": operator.max_args}
                for name, operator in OPERATORS.items()
            ],
        },
    }
    if setting == "identification":
        told["candidates"] = candidates(definition)
    return told


def brief(definition: LawDefinition, setting: str, protocol: Protocol) -> dict[str, JSON]:
    """Return the whole brief of one session."""
    return task_brief(definition, setting) | {"protocol": _protocol(definition, protocol)}


def _scoring(definition: LawDefinition) -> JSON:
    return (
        "The submitted expressions are evaluated at hidden inputs inside the domain. The error of an "
        "observable at one input is e = |predicted - true| / (absolute_tolerance + relative_tolerance * "
        "|true|), with the observable's absolute_tolerance and the relative_tolerance "
        f"{definition.relative_tolerance:g}. The score is 1 / (1 + mean e). A completion succeeds when no e "
        "exceeds 1, and succeeds strictly when each expression is, in addition, the true relation itself, "
        "its constants to a relative 1e-6."
    )


def _protocol(definition: LawDefinition, protocol: Protocol) -> JSON:
    rules = {
        "prior": [_PRIOR],
        "fixed": [_FIXED.format(budget=protocol.budget)],
        "adaptive": [rule.format(tau=definition.tau) for rule in _ADAPTIVE],
    }
    return {
        "kind": protocol.kind,
        "preset_experiments": protocol.budget,
        "tau": definition.tau,
        "call_cap": definition.call_cap,
        "rules": [*rules[protocol.kind], _REPORTS, _instrument(definition)],
    }


def _instrument(definition: LawDefinition) -> str:
    return _NOISY.format(noise=definition.noise) if definition.noise > 0 else _READINGS
