"""The prediction tasks of a session: three genes at once, with an outcome that is not the baseline.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (two held-out tasks); construction ours.
"""

from __future__ import annotations

import numpy as np

from cards.errors import InputError
from environments.organism.generate import Organism, truth
from environments.organism.network import GENE_ACTIONS, Network, Plan

TASKS = 2
TARGETS = 3
TOLERANCE = 0.08
"""A predicted value this close to the truth is right."""
_BATCH, _BATCHES = 16, 25


def draw_tasks(organism: Organism, rng: np.random.Generator, *, diseased: bool) -> list[Plan]:
    """Return two different plans that move some phenotype by more than the tolerance.

    Raises:
        InputError: when the organism is so stiff that none is found.
    """
    fault = organism.fault if diseased else None
    found: list[Plan] = []
    for _ in range(_BATCHES):
        plans = [_draw(organism.network, rng) for _ in range(_BATCH)]
        base, *values = truth(organism.network, [(fault, {}), *((fault, plan) for plan in plans)])
        for plan, value in zip(plans, values, strict=True):
            if np.abs(value - base).max() > TOLERANCE and plan not in found:
                found.append(plan)
            if len(found) == TASKS:
                return found
    raise InputError("no intervention on three genes moves this organism.", "Use another seed.")


def _draw(network: Network, rng: np.random.Generator) -> Plan:
    genes = sorted(rng.choice(network.visible, size=TARGETS, replace=False).tolist())
    return {gene: GENE_ACTIONS[int(rng.integers(len(GENE_ACTIONS)))] for gene in genes}
