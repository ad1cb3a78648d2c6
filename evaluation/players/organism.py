"""Players of the organisms that do not know the truth: Random, Heuristic, and a reader of probes.

ContrastSweep belongs to the family, because the probes are made of its sessions.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (Random and Heuristic); what it leaves open
is ours: the guesses of Random, and that Heuristic adds up block effects whatever the action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from environments.seeding import derive, generator
from environments.task import JSON, Reply, Tool

FloatArray = NDArray[np.float64]
Action = tuple[str, JSON]

RUN, PREDICT = "run_experiment", "submit_prediction"
DIAGNOSE, RESCUE, FINISH = "submit_malfunction_hypothesis", "test_rescue", "finish"
GENE_ACTIONS = ("BLOCK", "BOOST", "DAMPEN")
_HALF = 0.5
_NUMBER = r"(\d+\.\d+)"


def submission(
    brief: Mapping[str, JSON],
    predictions: Mapping[str, Sequence[float]],
    fault: tuple[str, str],
    rescue: Mapping[str, str],
) -> Iterator[Action]:
    """Yield the actions that submit everything and end the session.

    Args:
        brief: of the session; a healthy one gets predictions only.
        predictions: phenotype values by task, in the brief's order.
        fault: target and type.
        rescue: what is done to which target.
    """
    for task, values in predictions.items():
        named = {name: float(v) for name, v in zip(brief["phenotypes"], values, strict=True)}
        yield PREDICT, {"task": task, "values": named}
    if "aberrant" in brief:
        yield DIAGNOSE, {"target": fault[0], "type": fault[1]}
        yield RESCUE, {"interventions": dict(rescue)}
    yield FINISH, {}


class RandomGuess:
    """Predicts one half everywhere, names any fault, and rescues with any single intervention.

    Args:
        seed: of the slot.
    """

    def __init__(self, seed: bytes) -> None:
        self._rng = generator(derive(seed, "random guess"))
        self._actions: Iterator[Action] = iter(())

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Make all guesses; a probe gets none."""
        if "prompt" in brief:
            return
        genes, signals = list(brief["genes"]), list(brief["signals"])
        faults = [(gene, kind) for kind in ("LOCK_HI", "LOCK_LO") for gene in genes]
        faults += [(signal, "PERSIST") for signal in signals]
        acts = [(gene, act) for act in GENE_ACTIONS for gene in genes] + [
            (signal, "ON") for signal in signals
        ]
        halves = {task: [_HALF] * len(brief["phenotypes"]) for task in brief["prediction_tasks"]}
        fault, act = (pool[int(self._rng.integers(len(pool)))] for pool in (faults, acts))
        self._actions = submission(brief, halves, fault, dict([act]))

    def act(self, last: Reply | None) -> Action | None:
        """Return the next guess."""
        return next(self._actions, None)


class Heuristic:
    """Blocks every gene once, adds block effects up, and trusts the largest."""

    def __init__(self) -> None:
        self._brief: dict[str, JSON] = {}
        self._untried: list[str] = []
        self._readings: dict[str, FloatArray] = {}
        self._rest: Iterator[Action] | None = None

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the brief; a probe is left unanswered."""
        self._brief = brief
        self._untried = list(brief.get("genes", []))

    def act(self, last: Reply | None) -> Action | None:
        """Block the next gene, or submit."""
        if "prompt" in self._brief:
            return None
        if last is not None and self._rest is None:
            self._note(last)
        if self._untried and self._rest is None:
            return RUN, {"interventions": {self._untried[0]: "BLOCK"}}
        if self._rest is None:
            self._rest = submission(self._brief, *heuristic(self._brief, self._readings))
        return next(self._rest, None)

    def _note(self, last: Reply) -> None:
        gene = self._untried.pop(0)
        # A reading that was refused teaches nothing: the gene counts as one without effect.
        values = last.data["phenotypes"] if last.ok else self._brief["baseline"]
        self._readings[gene] = _array(self._brief, values)


def heuristic(
    brief: Mapping[str, JSON], blocked: Mapping[str, FloatArray]
) -> tuple[dict[str, list[float]], tuple[str, str], dict[str, str]]:
    """Return predictions, fault and rescue from the readings of every gene blocked.

    Predictions add block effects to the baseline whatever the action; the cause is the gene with the
    largest effect, locked high; the rescue is the block that comes closest to the healthy centre.
    """
    base = _array(brief, brief["baseline"])
    ranges = brief["healthy_ranges"]
    centre = np.array([float(np.mean(ranges[name])) for name in brief["phenotypes"]])
    effects = {gene: values - base for gene, values in blocked.items()}
    predictions = {
        task: np.clip(base + sum(effects[gene] for gene in plan), 0.0, 1.0).tolist()
        for task, plan in brief["prediction_tasks"].items()
    }
    cause = max(effects, key=lambda gene: float(np.abs(effects[gene]).sum()))
    rescue = min(blocked, key=lambda gene: float(np.sum((blocked[gene] - centre) ** 2)))
    return predictions, (cause, "LOCK_HI"), {rescue: "BLOCK"}


class Closer:
    """Answers probes 1 and 2 with the candidate whose prediction is numerically closer, always.

    It never says that a result tells nothing, which is the trap that the fillers set.
    """

    def __init__(self) -> None:
        self._answer: str | None = None

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the two predictions and the observation, where there is one of each."""
        prompt = str(brief.get("prompt", ""))
        observed = re.search(rf"^Observed .*?{_NUMBER}$", prompt, re.MULTILINE)
        predicted = re.findall(rf"^ *if ([AB]) holds: about {_NUMBER}$", prompt, re.MULTILINE)
        if observed is None or [letter for letter, _ in predicted] != ["A", "B"]:
            return
        seen = float(observed.group(1))
        pick = min(predicted, key=lambda pair: abs(float(pair[1]) - seen))[0]
        held = re.search(r"^Your working hypothesis is ([AB])\.$", prompt, re.MULTILINE)
        self._answer = pick if held is None else "RETAIN" if held.group(1) == pick else "REVISE"

    def act(self, last: Reply | None) -> Action | None:
        """Answer once, or leave the task alone."""
        if last is not None or self._answer is None:
            return None
        return "answer", {"text": self._answer}


def _array(brief: Mapping[str, JSON], values: Mapping[str, float]) -> FloatArray:
    return np.array([values[name] for name in brief["phenotypes"]])
