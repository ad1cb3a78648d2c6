"""A scientist by rule, speaking the model player's wire format: what a scripted model server answers.

It reads nothing but the text of the request. Identification it solves from readings: it takes the two
candidates from the brief, compares them with what was measured, and asks for one measurement where it
may. Discovery is beyond it: it hands in a constant.
"""

from __future__ import annotations

import json
import re
from typing import Any

from cards.evaluate import evaluate
from cards.infix import parse_infix
from tests.fakes.model_server import Ask

Numbers = dict[str, float]


def scientist(ask: Ask) -> str:
    """Answer one turn."""
    brief = json.loads(ask.text.partition("The brief:\n")[2].partition("\n\nThe actions:\n")[0])
    readings = _readings(ask)
    if brief["protocol"]["kind"] == "adaptive" and not readings:
        return json.dumps({"tool": "propose_experiment", "args": _proposal(brief)})
    return json.dumps({"tool": "complete", "args": _completion(brief, readings)})


def _candidates(brief: dict[str, Any]) -> list[dict[str, str]]:
    """Return the formulas at s = 0 and at s = 1; where none are given, two constants far apart."""
    given = brief.get("candidates")
    if given is None:
        return [{item["name"]: text for item in brief["observables"]} for text in ("0", "1e9")]
    word = re.compile(rf"\b{given['unknown']}\b")
    return [{name: word.sub(s, text) for name, text in given["formulas"].items()} for s in "01"]


def _predicted(formulas: dict[str, str], brief: dict[str, Any], inputs: Numbers) -> Numbers:
    known = {item["name"]: item["value"] for item in brief["parameters"]} | inputs
    return {name: float(evaluate(parse_infix(text), known)) for name, text in formulas.items()}


def _readings(ask: Ask) -> list[tuple[Numbers, Numbers]]:
    found = []
    for before, message in zip([None, *ask.messages], ask.messages, strict=False):
        for line in message["content"].splitlines() if message["role"] == "user" else []:
            if not line.startswith('{"ok": true'):
                continue
            data = json.loads(line)["data"]
            found += [(item["inputs"], item["observations"]) for item in data.get("experiments", [])]
            if "observations" in data and before is not None:
                asked = json.loads(before["content"])["args"]["inputs"]
                found.append(({item["name"]: item["value"] for item in asked}, data["observations"]))
    return found


def _reports(confidences: tuple[float, float]) -> list[dict[str, Any]]:
    return [
        {"id": f"h{index}", "statement": f"candidate {index} holds", "confidence": confidence}
        for index, confidence in enumerate(confidences)
    ]


def _proposal(brief: dict[str, Any]) -> dict[str, Any]:
    # Away from the middle, where a changed law may agree with the old one.
    inputs = {item["name"]: item["low"] + 0.15 * (item["high"] - item["low"]) for item in brief["inputs"]}
    reports = _reports((0.5, 0.5))
    for report, formulas in zip(reports, _candidates(brief), strict=True):
        expected = _predicted(formulas, brief, inputs)
        report["forecasts"] = [{"observable": name, "value": value} for name, value in expected.items()]
    return {
        "rationale": "Here the candidates differ.",
        "hypotheses": reports,
        "inputs": [{"name": name, "value": value} for name, value in inputs.items()],
        "observables": [item["name"] for item in brief["observables"]],
    }


def _completion(brief: dict[str, Any], readings: list[tuple[Numbers, Numbers]]) -> dict[str, Any]:
    candidates = _candidates(brief)
    misses = [sum(_miss(formulas, brief, *reading) for reading in readings) for formulas in candidates]
    best = misses.index(min(misses))
    return {
        "rationale": "It fits best.",
        "hypotheses": _reports((0.99, 0.01) if best == 0 else (0.01, 0.99)),
        "selected": f"h{best}",
        "predictor": [{"observable": name, "expression": text} for name, text in candidates[best].items()],
        "explanation": "The selected candidate agrees with all readings.",
        "conditions": ["inside the printed domain"],
    }


def _miss(formulas: dict[str, str], brief: dict[str, Any], inputs: Numbers, observed: Numbers) -> float:
    expected = _predicted(formulas, brief, inputs)
    return sum(abs(expected[name] / value - 1) for name, value in observed.items() if value)
