"""What a law record shows beside its score: effort, beliefs over time, forecasts against readings."""

from __future__ import annotations

from collections.abc import Mapping

from environments.law.definition import LawDefinition
from environments.law.failures import Refits, failure
from environments.law.judge import count_experiments
from environments.law.tools import COMPLETE, PROPOSE
from environments.task import JSON, Event, Record, Score


def analyses(
    definition: LawDefinition, record: Record, score: Score | None = None, refits: Refits | None = None
) -> Mapping[str, JSON]:
    """Return named values of one record.

    ``experiments``: readings seen. ``calls``, ``refused``: actions. ``confidences``: for each report
    its number of experiments so far and its confidences by hypothesis id. ``forecast_errors``: for
    each accepted proposal the largest normalised error of each hypothesis' forecasts, and of the
    most trusted one. ``capped``: whether the safety cap ended the session. ``tau``: the threshold of
    the stopping rule. ``failure``: why the episode failed, one of ``failures.CATEGORIES``.

    Args:
        definition: of the world that was played.
        record: of the finished session.
        score: its score, where it is known already.
        refits: as in ``failure``.
    """
    return {
        "experiments": count_experiments(record, definition),
        "calls": len(record.events),
        "refused": sum(event.outcome != "succeeded" for event in record.events),
        "confidences": _trajectory(record),
        "forecast_errors": [
            _forecast_errors(definition, event)
            for event in record.events
            if event.tool == PROPOSE and event.outcome == "succeeded"
        ],
        "capped": record.ending == "call_cap",
        "tau": definition.tau,
        "failure": failure(definition, record, score, refits),
    }


def _trajectory(record: Record) -> list[JSON]:
    steps: list[JSON] = []
    seen = 0
    for event in record.events:
        if event.outcome == "succeeded" and event.tool in (PROPOSE, COMPLETE):
            confidences = {item["id"]: float(item["confidence"]) for item in event.args["hypotheses"]}
            steps.append({"experiments": seen, "confidences": confidences, "top": max(confidences.values())})
            seen += event.tool == PROPOSE
    return steps


def _forecast_errors(definition: LawDefinition, event: Event) -> JSON:
    observed = event.reply.data["observations"]
    scales = {
        item.name: item.absolute_tolerance + definition.relative_tolerance * abs(observed[item.name])
        for item in definition.observables
        if item.name in observed
    }
    errors = {
        item["id"]: max(abs(item["forecasts"][n] - observed[n]) / scale for n, scale in scales.items())
        for item in event.args["hypotheses"]
    }
    top = max(event.args["hypotheses"], key=lambda item: item["confidence"])
    return {"seq": event.seq, "errors": errors, "top": errors[top["id"]]}
