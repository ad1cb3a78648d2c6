"""Score a finished session: prediction, diagnosis, rescue, and how the player got there.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (scores, with the corrected rescue metric).
"""

from __future__ import annotations

import numpy as np

from environments.organism.audit import audit, axes
from environments.organism.definition import OrganismDefinition
from environments.organism.generate import Organism, truth
from environments.organism.measure import measure
from environments.organism.network import Fault, Plan
from environments.organism.predictions import TOLERANCE
from environments.organism.record import Play, read_play
from environments.organism.world import within
from environments.task import Record, Score


def judge(definition: OrganismDefinition, record: Record) -> Score:
    """Score a record. What was not submitted counts as zero; nothing submitted at all is ``missing``.

    ``headline``: the prediction score of a healthy session; the mean of prediction, diagnosis and rescue
    of a diseased one. ``weak``: every value predicted, or every aberrant phenotype restored. ``strict``
    (diseased only): restored, and the cause named exactly. ``parts`` holds each figure by itself.
    """
    play = read_play(definition, record)
    parts = {"prediction": prediction_score(definition, play), **axes(definition, play)}
    if not definition.diseased:
        passed: dict[str, bool | None] = {"weak": parts["prediction"] == 1.0, "strict": None}
        return _score(play, parts["prediction"], passed, parts)
    organism = definition.organism
    parts |= {
        "diagnosis": diagnosis_score(organism.fault, play.hypothesis),
        "exact": float(play.hypothesis == organism.fault),
        "rescue": rescue_score(organism, play.rescues[-1] if play.rescues else None),
    }
    parts["restored"] = float(parts["rescue"] == 1.0)
    parts["gap"] = parts["rescue"] - parts["diagnosis"]
    parts |= audit(definition, play)
    restored = parts["rescue"] == 1.0
    passed = {"weak": restored, "strict": restored and play.hypothesis == organism.fault}
    headline = (parts["prediction"] + parts["diagnosis"] + parts["rescue"]) / 3
    return _score(play, headline, passed, parts)


def prediction_score(definition: OrganismDefinition, play: Play) -> float:
    """Return the share of all asked phenotype values that lie within the tolerance of the truth."""
    plans = [definition.plan(task) for task in definition.tasks]
    right = truth(definition.organism.network, [(definition.state, plan) for plan in plans])
    given = np.full(right.shape, np.inf)
    for number, values in play.predictions.items():
        given[number] = [values[name] for name in definition.phenotypes]
    return float(np.mean(np.abs(given - right) <= TOLERANCE))


def diagnosis_score(cause: Fault, hypothesis: Fault | None) -> float:
    """Return 1 for target and kind, 0.5 for the target alone, 0 otherwise."""
    if hypothesis is None or hypothesis.target != cause.target:
        return 0.0
    return 1.0 if hypothesis.kind == cause.kind else 0.5


def rescue_score(organism: Organism, plan: Plan | None) -> float:
    """Return the share of the aberrant phenotypes that a plan puts back, under the rescue's own noise.

    No plan at all is 0; the empty plan is what doing nothing scores.
    """
    if plan is None:
        return 0.0
    values = measure(organism, [plan], purpose="rescue")[0]
    inside = np.array(within(values, organism.healthy))
    return float(inside[organism.aberrant].mean())


def _score(play: Play, headline: float, passed: dict[str, bool | None], parts: dict[str, float]) -> Score:
    if not play.submitted:
        none = {name: None if value is None else False for name, value in passed.items()}
        return Score(status="missing", passed=none, parts=parts)
    return Score(status="scored", headline=headline, passed=passed, parts=parts)
