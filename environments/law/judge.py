"""Score a finished law session by program.

Source: arXiv 2610.37919, section 3.4 (prediction score, weak and strict success) and appendix A.2
(when a predictor is invalid).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import ValidationError

from cards.document import read_trees
from cards.equality import decide
from cards.errors import ExpressionError
from cards.evaluate import evaluate
from cards.expression import Tree
from environments.law.arguments import Completion
from environments.law.definition import FloatArray, LawDefinition
from environments.law.protocol import read_protocol
from environments.law.tools import COMPLETE, PROPOSE, READ
from environments.task import JSON, Event, Record, Score

LARGEST_ERROR = 1e300
"""Normalised errors beyond this count as this, so that sums stay finite."""


def judge(definition: LawDefinition, record: Record) -> Score:
    """Score a record: S on the hidden inputs, weak and strict success, or why there is none.

    ``missing``: no completion. ``invalid``: a predictor that cannot be read or evaluated, with the
    path to the node. ``undetermined``: weak success whose exactness could not be decided. Weak means
    that no error exceeds one and the stopping rule was kept; strict is asked for only where the
    family is not weak-only.
    """
    experiments = float(count_experiments(record, definition))
    completion = completed(record)
    if completion is None:
        return Score(status="missing", passed=_failed(definition), parts={"experiments": experiments})
    kept = keeps_stopping_rule(definition, record, completion)
    try:
        trees = read_predictor(definition, completion.predictor)
        errors = normalised_errors(definition, trees)
    except ExpressionError as error:
        return Score(
            status="invalid",
            passed=_failed(definition),
            parts={"experiments": experiments},
            protocol_ok=kept,
            findings=(str(error),),
        )
    score = 1.0 / (1.0 + float(np.mean(errors)))
    largest = float(np.max(errors))
    weak = largest <= 1.0 and kept
    strict, reason = _strict(definition, trees, weak)
    undecided = definition.strict and weak and strict is None
    return Score(
        status="undetermined" if undecided else "scored",
        headline=score,
        passed={"weak": weak, "strict": strict},
        parts={
            "prediction": score,
            "max_e": largest,
            "mean_e": float(np.mean(errors)),
            "experiments": experiments,
        },
        protocol_ok=kept,
        findings=(reason,) if reason else (),
    )


def completed(record: Record) -> Completion | None:
    """Return the accepted completion of a record, if there is one."""
    for event in reversed(record.events):
        if event.tool == COMPLETE and event.outcome == "succeeded":
            try:
                return Completion.model_validate(event.args)
            except ValidationError:
                return None
    return None


def read_predictor(definition: LawDefinition, predictor: Mapping[str, JSON]) -> dict[str, Tree]:
    """Read a submitted predictor: inputs and told parameters may be named, nothing else.

    Raises:
        ExpressionError: with the path to the offending node.
    """
    return read_trees(predictor, [item.name for item in definition.observables], definition.names())


def normalised_errors(definition: LawDefinition, trees: Mapping[str, Tree]) -> FloatArray:
    """Return e at every hidden input, observables in rows.

    Raises:
        ExpressionError: when the predictor is undefined at a hidden input. The message leads to the
            node and keeps the input to itself, because hidden inputs stay sealed.
    """
    columns = definition.columns(definition.eval_inputs)
    truth = definition.respond(columns)
    rows = []
    for item in definition.observables:
        try:
            predicted = evaluate(trees[item.name], {**columns, **definition.told_values()})
        except ExpressionError as error:
            path = ".".join(part for part in (item.name, error.path) if part)
            raise ExpressionError("undefined or not finite at a hidden input", path=path) from None
        with np.errstate(over="ignore"):
            distance = np.abs(predicted - truth[item.name])
            errors = distance / definition.scale_of_error(item, truth[item.name])
        rows.append(np.minimum(errors, LARGEST_ERROR))
    return np.array(rows)


def keeps_stopping_rule(definition: LawDefinition, record: Record, completion: Completion) -> bool:
    """Return whether the completion obeys its protocol's stopping rule."""
    if read_protocol(record.options.protocol).kind != "adaptive":
        return True
    return completion.confidence() >= definition.tau


def count_experiments(record: Record, definition: LawDefinition) -> int:
    """Return how many experiments the player saw the readings of."""
    protocol = read_protocol(record.options.protocol)
    if protocol.kind == "fixed":
        seen = any(event.tool == READ and _succeeded(event) for event in record.events)
        return protocol.budget if seen else 0
    return sum(1 for event in record.events if event.tool == PROPOSE and _succeeded(event))


def _succeeded(event: Event) -> bool:
    return event.outcome == "succeeded"


def _failed(definition: LawDefinition) -> dict[str, bool | None]:
    return {"weak": False, "strict": False if definition.strict else None}


def _strict(definition: LawDefinition, trees: Mapping[str, Tree], weak: bool) -> tuple[bool | None, str]:
    if not definition.strict:
        return None, ""
    if not weak:
        return False, ""
    truth, domain = definition.truth(), definition.domain()
    undecided = ""
    for item in definition.observables:
        verdict = decide(truth[item.name], trees[item.name], domain)
        if verdict.outcome == "different":
            return False, ""
        if verdict.outcome == "undetermined":
            undecided = f"{item.name}: {verdict.reason}"
    return (None, undecided) if undecided else (True, "")
