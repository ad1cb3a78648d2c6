"""The candidate-checker: plays Identification by solving for the one unknown, with one observation.

Source: arXiv 2610.37919, section 3.3, equation 1: G(x; s) = (1 - s) g(x) + s g'(x).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cards.card import Input
from cards.document import read_trees, tree_document
from cards.domain import Domain, points
from cards.evaluate import evaluate_partial
from cards.expression import Tree, bind
from cards.infix import parse_constraint
from environments.task import JSON, Reply, Tool

FloatArray = npt.NDArray[np.float64]

SEARCH = 256
"""Points of the domain among which the most discriminating one is chosen."""
HALF = 0.5


@dataclass(frozen=True)
class _Question:
    """What an Identification brief asks: G, its unknown, where it holds, and how finely it is judged."""

    trees: Mapping[str, Tree]
    unknown: str
    whole: bool
    """Whether the unknown is exactly 0 or exactly 1."""
    domain: Domain
    absolute: Mapping[str, float]
    relative: float
    sure: float
    """A confidence above the threshold at which a hypothesis may be selected."""

    def ends(self, inputs: Mapping[str, FloatArray]) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Return G at s = 0 and at s = 1 for each observable; NaN where it is undefined."""
        found = {}
        for name, tree in self.trees.items():
            pair = [self._values(tree, inputs, s) for s in (0.0, 1.0)]
            found[name] = (pair[0], pair[1])
        return found

    def _values(self, tree: Tree, inputs: Mapping[str, FloatArray], s: float) -> FloatArray:
        values, defined = evaluate_partial(tree, {**inputs, **self.domain.constants, self.unknown: s})
        size = len(next(iter(inputs.values())))
        return np.where(np.broadcast_to(defined, size), np.broadcast_to(values, size), np.nan)

    def separation(self, name: str, ends: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return how many tolerances lie between the two ends at each point; 0 where undefined."""
        scale = self.absolute[name] + self.relative * np.maximum(np.abs(ends[0]), np.abs(ends[1]))
        return np.nan_to_num(np.abs(ends[1] - ends[0]) / scale, nan=0.0, posinf=0.0)

    def solve(self, experiments: Sequence[Mapping[str, Mapping[str, float]]]) -> float:
        """Return s from the reading that tells the two ends apart best."""
        best, found = 0.0, 0.0
        for experiment in experiments:
            ends = self.ends({name: np.array([value]) for name, value in experiment["inputs"].items()})
            for name, reading in experiment["observations"].items():
                apart = float(self.separation(name, ends[name])[0])
                if apart > best:
                    low, high = (float(end[0]) for end in ends[name])
                    best, found = apart, (reading - low) / (high - low)
        return float(found > HALF) if self.whole else found


class CandidateChecker:
    """A policy for Identification in all three protocols.

    Adaptive: one proposal at the most discriminating point, then a completion. Fixed: reads the preset
    experiments. Prior: supposes s = 0. Where no candidates are given it has nothing to check and stops.
    """

    def __init__(self) -> None:
        self._question: _Question | None = None
        self._tools: frozenset[str] = frozenset()
        self._asked: Mapping[str, float] | None = None

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the candidates, if there are any."""
        self._tools = frozenset(tool.name for tool in tools)
        if "candidates" in brief:
            self._question = _read_question(brief)

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Observe once where that is possible, then complete."""
        question = self._question
        if question is None or (last is not None and not last.ok):
            return None
        if last is not None:
            return self._complete(question, question.solve(self._experiments(last)))
        if "propose_experiment" in self._tools:
            return self._propose(question)
        if "read_observations" in self._tools:
            return "read_observations", {}
        return self._complete(question, 0.0)

    def _experiments(self, last: Reply) -> Sequence[Mapping[str, Mapping[str, float]]]:
        if self._asked is None:
            experiments: Sequence[Mapping[str, Mapping[str, float]]] = last.data["experiments"]
            return experiments
        return [{"inputs": self._asked, "observations": last.data["observations"]}]

    def _propose(self, question: _Question) -> tuple[str, JSON]:
        sample = points(question.domain, SEARCH)
        ends = question.ends(sample)
        apart = {name: question.separation(name, pair) for name, pair in ends.items()}
        best = max(apart, key=lambda name: float(apart[name].max()))
        at = int(apart[best].argmax())
        self._asked = {name: float(values[at]) for name, values in sample.items()}
        hypotheses = [_hypothesis(s, HALF) | {"forecasts": {best: float(ends[best][s][at])}} for s in (0, 1)]
        return "propose_experiment", {"hypotheses": hypotheses, "inputs": self._asked, "observables": [best]}

    def _complete(self, question: _Question, s: float) -> tuple[str, JSON]:
        chosen = int(s > HALF)
        bound = {
            name: tree_document(bind(tree, {question.unknown: s})) for name, tree in question.trees.items()
        }
        return "complete", {
            "hypotheses": [
                _hypothesis(end, question.sure if end == chosen else 1 - question.sure) for end in (0, 1)
            ],
            "selected": f"s{chosen}",
            "predictor": bound,
            "explanation": f"The most telling reading gives {question.unknown} = {s:g}.",
            "conditions": ["The apparatus follows one of the given candidates."],
        }


def _hypothesis(s: int, confidence: float) -> dict[str, JSON]:
    return {"id": f"s{s}", "statement": f"the unknown is {s}", "confidence": confidence}


def _read_question(brief: Mapping[str, JSON]) -> _Question:
    candidates = brief["candidates"]
    inputs = [Input.model_validate(item) for item in brief["inputs"]]
    told = {item["name"]: float(item["value"]) for item in brief["parameters"]}
    observables = {item["name"]: float(item["absolute_tolerance"]) for item in brief["observables"]}
    allowed = {item.name for item in inputs} | set(told) | {candidates["unknown"]}
    return _Question(
        trees=read_trees(candidates["expressions"], list(observables), allowed),
        unknown=candidates["unknown"],
        whole=not candidates["intermediate_values_allowed"],
        domain=Domain(
            {item.name: item.interval() for item in inputs},
            [parse_constraint(text) for text in brief["constraints"]],
            told,
        ),
        absolute=observables,
        relative=float(brief["relative_tolerance"]),
        sure=(1 + float(brief["protocol"]["tau"])) / 2,
    )
