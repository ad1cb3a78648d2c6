"""The play of any regression on laws: gather readings as the protocol allows, fit, submit.

What is fitted is a ``Fitter``'s business. In Identification the two candidates are the whole library, so
that solving for the unknown is the regression, and the candidate-checker plays it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cards.card import Input
from cards.document import tree_document
from cards.domain import Domain, points
from cards.evaluate import evaluate_partial
from cards.expression import MAX_NODES, Apply, Number, Tree, Variable, size, substitute
from cards.infix import parse_constraint, print_infix
from environments.task import JSON, Reply, Tool
from evaluation.players.candidate_checker import CandidateChecker

FloatArray = npt.NDArray[np.float64]

MOST_EXPERIMENTS = 16
"""Experiments of an Adaptive episode, after which a fit is submitted whatever it is worth."""
FITTED_AT = (8, 12, 16)
"""Numbers of readings at which an Adaptive episode fits; in between it only gathers."""
MOST_REFUSED = 16
_CHECKED = 128
_SATISFIED = 0.5
"""A largest left-out error, in tolerances, at which no more readings are asked for."""


@dataclass(frozen=True)
class Readings:
    """One observable's readings.

    Attributes:
        inputs: columns of shape (n,), divided by the middles of their domains.
        values: shape (n,).
        scale: the error of one at each reading, a_r + λ|y|.
    """

    inputs: Mapping[str, FloatArray]
    values: FloatArray
    scale: FloatArray


@dataclass(frozen=True)
class Fit:
    """A fitted tree over ``u`` = input over middle, and its largest left-out error in tolerances."""

    tree: Tree
    error: float


Fitter = Callable[[Readings], Fit]


@dataclass(frozen=True)
class Bench:
    """What a brief says of the apparatus."""

    domain: Domain
    middles: Mapping[str, float]
    absolute: Mapping[str, float]
    relative: float
    tau: float

    @classmethod
    def read(cls, brief: Mapping[str, JSON]) -> Bench:
        """Read a brief."""
        inputs = [Input.model_validate(item) for item in brief["inputs"]]
        told = {item["name"]: float(item["value"]) for item in brief["parameters"]}
        domain = Domain(
            {item.name: item.interval() for item in inputs},
            [parse_constraint(text) for text in brief["constraints"]],
            told,
        )
        middles = {name: interval.middle() or 1.0 for name, interval in domain.intervals.items()}
        absolute = {item["name"]: float(item["absolute_tolerance"]) for item in brief["observables"]}
        return cls(
            domain, middles, absolute, float(brief["relative_tolerance"]), float(brief["protocol"]["tau"])
        )

    def readings(self, experiments: Sequence[Mapping[str, Mapping[str, float]]], name: str) -> Readings:
        """Return the readings of one observable."""
        columns = {
            key: np.array([float(item["inputs"][key]) for item in experiments]) / middle
            for key, middle in self.middles.items()
        }
        values = np.array([float(item["observations"][name]) for item in experiments])
        return Readings(columns, values, self.absolute[name] + self.relative * np.abs(values))

    def defined(self, tree: Tree) -> bool:
        """Whether a tree is defined on a sample of the domain."""
        columns = points(self.domain, _CHECKED)
        return bool(np.all(evaluate_partial(tree, columns)[1]))


class Regression:
    """Plays a law with a fitter.

    Args:
        fitter: fits one observable.
    """

    def __init__(self, fitter: Fitter) -> None:
        self._fitter = fitter
        self._checker: CandidateChecker | None = None
        self._bench: Bench | None = None
        self._tools: frozenset[str] = frozenset()
        self._experiments: list[Mapping[str, Mapping[str, float]]] = []
        self._asked: dict[str, float] = {}
        self._tried = 0
        self._completed = False
        self._last: dict[str, Fit] = {}
        self._fitted_at = -1

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the brief; hand Identification to the candidate-checker."""
        if "candidates" in brief:
            self._checker = CandidateChecker()
            self._checker.start(brief, tools)
            return
        self._bench = Bench.read(brief)
        self._tools = frozenset(tool.name for tool in tools)

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Gather, then complete once."""
        if self._checker is not None:
            return self._checker.act(last)
        assert self._bench is not None
        if self._completed:
            return None
        self._take(last)
        if "read_observations" in self._tools and last is None:
            return "read_observations", {}
        if "propose_experiment" in self._tools and self._tried < MOST_EXPERIMENTS + MOST_REFUSED:
            if len(self._experiments) in FITTED_AT and self._fitted_at != len(self._experiments):
                self._last = self._fits(self._bench)
                self._fitted_at = len(self._experiments)
            if len(self._experiments) < MOST_EXPERIMENTS and not self._satisfied():
                return self._propose(self._bench)
        self._completed = True
        fresh = self._fitted_at == len(self._experiments)
        return self._complete(self._bench, self._last if fresh else self._fits(self._bench))

    def _take(self, last: Reply | None) -> None:
        if last is None or not last.ok or not isinstance(last.data, dict):
            return
        if "experiments" in last.data:
            self._experiments = list(last.data["experiments"])
        elif "observations" in last.data:
            self._experiments.append({"inputs": self._asked, "observations": last.data["observations"]})

    def _fits(self, bench: Bench) -> dict[str, Fit]:
        if not self._experiments:
            return {name: Fit(Number(0.0), np.inf) for name in bench.absolute}
        fits = {}
        for name in bench.absolute:
            readings = bench.readings(self._experiments, name)
            fit = self._fitter(readings)
            if not bench.defined(over_inputs(fit.tree, bench.middles)):
                fit = Fit(Number(float(np.median(readings.values))), np.inf)
            fits[name] = fit
        return fits

    def _satisfied(self) -> bool:
        return bool(self._last) and all(fit.error < _SATISFIED for fit in self._last.values())

    def _propose(self, bench: Bench) -> tuple[str, JSON]:
        sample = points(bench.domain, MOST_EXPERIMENTS + MOST_REFUSED, seed=1)
        self._asked = {name: float(column[self._tried]) for name, column in sample.items()}
        self._tried += 1
        here = {name: np.array([value]) for name, value in self._asked.items()}
        guess, doubt = {}, {}
        for name in bench.absolute:
            tree = self._last[name].tree if self._last else Number(0.0)
            values, defined = evaluate_partial(over_inputs(tree, bench.middles), here)
            guess[name] = float(np.ravel(values)[0]) if bool(np.all(defined)) else 0.0
            doubt[name] = 2.0 * guess[name] + 10.0 * bench.absolute[name]
        reports = [
            {"id": "fit", "statement": "the present fit holds", "confidence": 0.5, "forecasts": guess},
            {"id": "other", "statement": "something else holds", "confidence": 0.5, "forecasts": doubt},
        ]
        return "propose_experiment", {
            "hypotheses": reports,
            "inputs": self._asked,
            "observables": list(bench.absolute),
        }

    def _complete(self, bench: Bench, fits: Mapping[str, Fit]) -> tuple[str, JSON]:
        trees = {name: over_inputs(fit.tree, bench.middles) for name, fit in fits.items()}
        if sum(size(tree) for tree in trees.values()) > MAX_NODES:
            trees = dict.fromkeys(trees, Number(0.0))
        sure = (1 + bench.tau) / 2
        formulas = "; ".join(f"{name} = {print_infix(tree)}" for name, tree in trees.items())
        return "complete", {
            "hypotheses": [
                {"id": "fit", "statement": "the submitted fit holds", "confidence": sure},
                {"id": "other", "statement": "something else holds", "confidence": 1 - sure},
            ],
            "selected": "fit",
            "predictor": {name: tree_document(tree) for name, tree in trees.items()},
            "explanation": f"A regression on {len(self._experiments)} readings gives {formulas}."[:4000],
            "conditions": ["Inside the printed domain of the inputs."],
        }


def over_inputs(tree: Tree, middles: Mapping[str, float]) -> Tree:
    """Return a tree over ratios as one over the inputs themselves."""
    ratios: dict[str, Tree] = {
        name: Apply("div", (Variable(name), Number(middle))) for name, middle in middles.items()
    }
    return substitute(tree, ratios)
