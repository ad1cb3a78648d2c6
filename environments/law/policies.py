"""Scripted players of a law world: one knows the truth, one remembers, one knows nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cards.document import tree_document
from cards.infix import print_infix
from environments.law.definition import LawDefinition, Variant
from environments.law.oracle import observe
from environments.law.tools import COMPLETE, PROPOSE, READ
from environments.task import JSON, Reply, Tool

_UNSURE = (0.5, 0.5)


class Answering:
    """Answers with one twin's relation under every protocol, keeping all rules on the way.

    With ``variant`` the twin that holds it is the reference; with "original" always it is a perfect
    memory that never looks at evidence. Under Adaptive it makes one proposal, at the preset
    experiment where the twins differ most, and then completes.
    """

    def __init__(self, definition: LawDefinition, variant: Variant) -> None:
        self._definition = definition
        self._variant = variant
        self._names: set[str] = set()

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Note which actions there are."""
        self._names = {tool.name for tool in tools}

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Look once where that is possible, then complete; stop when refused."""
        if last is None:
            if READ in self._names:
                return READ, {}
            if PROPOSE in self._names:
                return PROPOSE, self._proposal()
            return COMPLETE, self._completion()
        return (COMPLETE, self._completion()) if last.ok and not last.done else None

    def _completion(self) -> JSON:
        trees = self._definition.truth(self._variant)
        return {
            "hypotheses": _reports(self._statements(), _sure(self._definition.tau)),
            "selected": "h1",
            "predictor": {name: tree_document(tree) for name, tree in trees.items()},
            "explanation": self._statements()[0],
            "conditions": ["Inside the printed domain of the inputs."],
        }

    def _proposal(self) -> JSON:
        index, forecasts = self._sharpest()
        points = {name: float(values[index]) for name, values in self._definition.design.items()}
        reports = _reports(self._statements(), _UNSURE)
        return {
            "hypotheses": [report | {"forecasts": f} for report, f in zip(reports, forecasts, strict=True)],
            "inputs": points,
            "observables": [item.name for item in self._definition.observables],
        }

    def _sharpest(self) -> tuple[int, tuple[dict[str, float], dict[str, float]]]:
        columns = self._definition.columns(self._definition.design)
        own = observe(self._definition, columns, self._variant)
        other = observe(self._definition, columns, self._other)
        gaps = []
        for item in self._definition.observables:
            left, right = own[item.name], other[item.name]
            larger = np.maximum(np.abs(left), np.abs(right))
            gaps.append(np.abs(left - right) / self._definition.scale_of_error(item, larger))
        index = int(np.argmax(np.max(np.array(gaps), axis=0)))
        return index, (_at(own, index), _at(other, index))

    @property
    def _other(self) -> Variant:
        return "counterfactual" if self._variant == "original" else "original"

    def _statements(self) -> tuple[str, str]:
        return _statement(self._definition, self._variant), _statement(self._definition, self._other)


class Ignorant:
    """Completes at once with a constant, the last resort of a player who knows nothing."""

    def __init__(self) -> None:
        self._observables: list[str] = []
        self._tau = 0.0

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the observables' names and the threshold."""
        self._observables = [item["name"] for item in brief["observables"]]
        self._tau = brief["protocol"]["tau"]

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Complete, once."""
        if last is not None:
            return None
        statements = ("The observables do not depend on the inputs.", "They depend on the inputs somehow.")
        return COMPLETE, {
            "hypotheses": _reports(statements, _sure(self._tau)),
            "selected": "h1",
            "predictor": dict.fromkeys(self._observables, 0.0),
            "explanation": "Nothing was measured and nothing is known.",
            "conditions": [],
        }


def _sure(tau: float) -> tuple[float, float]:
    """Return confidences of which the first has reached the threshold."""
    return (1 + tau) / 2, (1 - tau) / 2


def _reports(statements: tuple[str, str], confidences: tuple[float, float]) -> list[dict[str, JSON]]:
    return [
        {"id": f"h{number}", "statement": statement, "confidence": confidence}
        for number, (statement, confidence) in enumerate(zip(statements, confidences, strict=True), start=1)
    ]


def _statement(definition: LawDefinition, variant: Variant) -> str:
    return "; ".join(f"{name} = {print_infix(tree)}" for name, tree in definition.truth(variant).items())


def _at(readings: dict[str, np.ndarray], index: int) -> dict[str, float]:
    return {name: float(values[index]) for name, values in readings.items()}
