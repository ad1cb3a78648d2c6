"""What can be made of blocking and boosting single genes: the sweeping baselines' reasoning.

Everything here is a function of a brief and of readings; nothing knows the truth. The paper leaves much
of CausalSweep open; what is ours is said where it stands.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (non-LLM baselines).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from environments.organism.network import FloatArray
from environments.task import JSON

Reading = Mapping[tuple[str, str], FloatArray]
"""Phenotypes by (gene, action)."""

NO_EFFECT = 0.05
"""A change of every phenotype by no more than this is none."""
_FLOOR = 1e-4


@dataclass(frozen=True)
class Sheet:
    """A brief as numbers: ``base`` and ``centre`` (3,), the centre being that of the healthy ranges."""

    genes: tuple[str, ...]
    phenotypes: tuple[str, ...]
    base: FloatArray
    centre: FloatArray
    tasks: Mapping[str, Mapping[str, str]]
    budget: int
    diseased: bool

    @classmethod
    def of(cls, brief: Mapping[str, JSON]) -> Sheet:
        """Read a brief."""
        phenotypes = tuple(brief["phenotypes"])
        return cls(
            genes=tuple(brief["genes"]),
            phenotypes=phenotypes,
            base=np.array([brief["baseline"][name] for name in phenotypes]),
            centre=np.array([float(np.mean(brief["healthy_ranges"][name])) for name in phenotypes]),
            tasks=brief["prediction_tasks"],
            budget=int(brief["budget"]),
            diseased="aberrant" in brief,
        )

    def distance(self, values: FloatArray) -> float:
        """Return the squared distance to the healthy centre."""
        return float(np.sum((values - self.centre) ** 2))


@dataclass(frozen=True)
class Decision:
    """What a baseline submits: predictions by task, the hypothesis, and the rescue."""

    predictions: Mapping[str, FloatArray]
    target: str
    kind: str
    rescue: Mapping[str, str] = field(default_factory=dict)


def causal_sweep(sheet: Sheet, readings: Reading) -> Decision:
    """Effects added in logit; the gene with the largest lever, pushed its better way, is rescue and cause.

    How the lever is chosen and diagnosed is ours.
    """

    def lever(gene: str) -> float:
        return sum(float(np.abs(readings[gene, way] - sheet.base).sum()) for way in ("BLOCK", "BOOST"))

    gene = max(sheet.genes, key=lever)
    way = min(("BLOCK", "BOOST"), key=lambda way: sheet.distance(readings[gene, way]))
    return _undone(sheet, readings, gene, way)


def sweep_best(sheet: Sheet, readings: Reading) -> Decision:
    """The best of all tested actions as rescue, and the lock that it undoes as cause. Ours."""
    gene, way = min(readings, key=lambda pair: sheet.distance(readings[pair]))
    return _undone(sheet, readings, gene, way)


def contrast_sweep(sheet: Sheet, readings: Reading) -> Decision:
    """A locked gene answers in one direction only: take the one whose answer helps most. Ours.

    Among the genes tried both ways, those with no effect one way and some the other are kept; without
    any, the best action of all is taken. It never names a signal.
    """
    effect = {pair: float(np.abs(values - sheet.base).max()) > NO_EFFECT for pair, values in readings.items()}
    one_way = [
        (gene, way)
        for gene, way in readings
        if effect[gene, way] and not effect.get((gene, _opposite(way)), True)
    ]
    gene, way = min(one_way or readings, key=lambda pair: sheet.distance(readings[pair]))
    return _undone(sheet, readings, gene, way)


def contrast_boosts(sheet: Sheet, readings: Reading, rng: np.random.Generator, count: int) -> list[str]:
    """Return which genes to boost after all were blocked: the three best, and genes that did not answer.

    Args:
        sheet: the brief.
        readings: every gene blocked.
        rng: draws among the genes without effect.
        count: how many experiments are left for it.
    """
    by_distance = sorted(sheet.genes, key=lambda gene: sheet.distance(readings[gene, "BLOCK"]))
    best = by_distance[: min(3, count)]
    quiet = [
        gene
        for gene in sheet.genes
        if gene not in best and np.abs(readings[gene, "BLOCK"] - sheet.base).max() <= NO_EFFECT
    ]
    drawn = [quiet[i] for i in rng.permutation(len(quiet))]
    return [*best, *drawn[: count - len(best)]]


def additive_logit(sheet: Sheet, readings: Reading) -> dict[str, FloatArray]:
    """Predict each task by adding effects in logit; DAMPEN is half a BLOCK, what was not tried is nothing."""

    def effect(gene: str, action: str) -> FloatArray:
        share, way = (0.5, "BLOCK") if action == "DAMPEN" else (1.0, action)
        values = readings.get((gene, way))
        return np.zeros(len(base)) if values is None else share * (_logit(values) - base)

    base = _logit(sheet.base)
    return {
        name: 1.0 / (1.0 + np.exp(-(base + sum(effect(gene, action) for gene, action in task.items()))))
        for name, task in sheet.tasks.items()
    }


def _undone(sheet: Sheet, readings: Reading, gene: str, way: str) -> Decision:
    kind = "LOCK_HI" if way == "BLOCK" else "LOCK_LO"
    return Decision(additive_logit(sheet, readings), gene, kind, {gene: way})


def _opposite(way: str) -> str:
    return "BOOST" if way == "BLOCK" else "BLOCK"


def _logit(values: FloatArray) -> FloatArray:
    inside = np.clip(values, _FLOOR, 1 - _FLOOR)
    return np.asarray(np.log(inside / (1 - inside)))
