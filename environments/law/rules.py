"""The rules that every report must keep, whatever the law: confidences, threshold, forecasts, domain.

A rule returns the first breach as an error, or None. No rule looks at the truth, so that no refusal
can tell one twin from the other.

Source: arXiv 2610.37919, section 3.3 and appendix A.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from cards.domain import contains
from environments.law.arguments import Completion, Forecast, Hypothesis, Proposal
from environments.law.definition import LawDefinition, Measured
from environments.law.protocol import CONFIDENCE_SUM_TOLERANCE, normal_statement
from environments.task import ActionError


def check_hypotheses(hypotheses: Sequence[Hypothesis], at_least: int) -> ActionError | None:
    """Ids are unique, confidences sum to one, and enough statements differ."""
    ids = [item.id for item in hypotheses]
    for index, identifier in enumerate(ids):
        if identifier in ids[:index]:
            message = f"the id {identifier[:64]!r} occurs twice"
            return _breach("hypotheses", message, f"hypotheses[{index}].id")
    total = math.fsum(item.confidence for item in hypotheses)
    if abs(total - 1.0) > CONFIDENCE_SUM_TOLERANCE:
        return _breach("confidences", f"the confidences sum to {total:.9g}; they must sum to 1", "hypotheses")
    different = len({normal_statement(item.statement) for item in hypotheses})
    if different < at_least:
        message = f"at least {at_least} hypotheses must differ in their statements"
        return _breach("hypotheses", message, "hypotheses")
    return None


def check_completion(completion: Completion, at_least: int) -> ActionError | None:
    """The hypotheses are well formed and the selected one is among them."""
    breach = check_hypotheses(completion.hypotheses, at_least)
    if breach is not None:
        return breach
    if completion.selected not in {item.id for item in completion.hypotheses}:
        message = f"{completion.selected[:64]!r} is the id of no hypothesis in this report"
        return _breach("selected", message, "selected")
    return None


def check_proposal(proposal: Proposal, definition: LawDefinition) -> ActionError | None:
    """A proposal keeps the form, the stopping rule and the apparatus' limits, in this order."""
    return (
        check_hypotheses(proposal.hypotheses, 2)
        or _below_threshold(proposal.hypotheses, definition.tau)
        or _observables(proposal, definition)
        or _forecasts(proposal)
        or _different_forecasts(proposal, definition)
        or _inputs(proposal, definition)
    )


def _below_threshold(hypotheses: Sequence[Hypothesis], tau: float) -> ActionError | None:
    for index, item in enumerate(hypotheses):
        if item.confidence >= tau:
            message = (
                f"a confidence has reached {tau:g}; an experiment may be proposed only while every "
                "confidence is below it, so complete instead"
            )
            return _breach("stopping_rule", message, f"hypotheses[{index}].confidence")
    return None


def _observables(proposal: Proposal, definition: LawDefinition) -> ActionError | None:
    known = [item.name for item in definition.observables]
    for index, name in enumerate(proposal.observables):
        if name not in known:
            message = f"there is no observable {name[:64]!r}; the observables are: {', '.join(known)}"
            return _breach("observables", message, f"observables[{index}]")
        if name in proposal.observables[:index]:
            return _breach("observables", f"{name} is requested twice", f"observables[{index}]")
    return None


def _forecasts(proposal: Proposal) -> ActionError | None:
    asked = set(proposal.observables)
    for index, item in enumerate(proposal.hypotheses):
        missing, extra = sorted(asked - set(item.forecasts)), sorted(set(item.forecasts) - asked)
        if missing:
            return _breach("forecasts", f"no forecast of {missing[0]}", f"hypotheses[{index}].forecasts")
        if extra:
            message = f"a forecast of {extra[0][:64]!r}, which is not requested"
            return _breach("forecasts", message, f"hypotheses[{index}].forecasts")
    return None


def _different_forecasts(proposal: Proposal, definition: LawDefinition) -> ActionError | None:
    asked = [item for item in definition.observables if item.name in proposal.observables]
    for one, other in combinations(proposal.hypotheses, 2):
        if normal_statement(one.statement) != normal_statement(other.statement) and any(
            _differ(one, other, item, definition.relative_tolerance) for item in asked
        ):
            return None
    message = (
        "no two hypotheses are different: their statements must differ, and at least one of their "
        "forecasts by more than the tolerance"
    )
    return _breach("hypotheses", message, "hypotheses")


def _differ(one: Forecast, other: Forecast, observable: Measured, relative: float) -> bool:
    left, right = one.forecasts[observable.name], other.forecasts[observable.name]
    return abs(left - right) > observable.absolute_tolerance + relative * max(abs(left), abs(right))


def _inputs(proposal: Proposal, definition: LawDefinition) -> ActionError | None:
    known = [item.name for item in definition.inputs]
    missing = [name for name in known if name not in proposal.inputs]
    extra = sorted(set(proposal.inputs) - set(known))
    if missing:
        return _breach("inputs", f"no value for {missing[0]}; all inputs must be set", "inputs")
    if extra:
        message = f"there is no input {extra[0][:64]!r}; the inputs are: {', '.join(known)}"
        return _breach("inputs", message, "inputs")
    outside = contains(definition.domain(), proposal.inputs)
    return _breach("domain", outside, "inputs") if outside else None


def _breach(code: str, message: str, path: str) -> ActionError:
    return ActionError(code=code, message=message, path=path)
