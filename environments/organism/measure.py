"""What an experiment reads: the fixed point under noise that is drawn once per condition.

Repeating an experiment repeats its reading. The noise depends on the organism, on whether its fault is at
work, on the interventions and on the purpose, and on nothing else.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (deterministic simulation); the rest is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from environments.organism.dynamics import conditions, fixed_points, read_out
from environments.organism.generate import Organism
from environments.organism.network import FloatArray, Plan, plan_text
from environments.seeding import derive, generator

Purpose = Literal["experiment", "rescue"]


def measure(
    organism: Organism, plans: Sequence[Plan], *, diseased: bool = True, purpose: Purpose = "experiment"
) -> FloatArray:
    """Return the noisy phenotypes (plans, 3)."""
    network = organism.network
    fault = organism.fault if diseased else None
    rows = conditions(network, [(fault, plan) for plan in plans])
    noise = np.array([_noise(organism, plan, diseased, purpose) for plan in plans])
    states, _ = fixed_points(network, replace(rows, noise=noise))
    return read_out(network, states)


def _noise(organism: Organism, plan: Plan, diseased: bool, purpose: Purpose) -> FloatArray:
    network = organism.network
    state = "diseased" if diseased else "healthy"
    seed = derive(organism.seed, "quenched", network.tier, state, plan_text(plan), purpose)
    return generator(seed).normal(0.0, network.noise, network.genes)
