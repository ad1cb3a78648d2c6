"""The census: which other faults explain an organism, and which experiments tell them apart.

Exhaustive and without noise; it is printed with a release and never chosen.

Source: "Treating the Symptom, Missing the Cause", appendix 8.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from environments.organism.dynamics import conditions, fixed_points, product, read_out
from environments.organism.generate import DOUBT, Organism, truth
from environments.organism.network import Fault, FloatArray, Network, Plan

SEPARATION = 0.10
"""Readouts further apart than this tell two faults apart."""

Ambiguity = Literal["unambiguous", "resolvable", "structural"]


@dataclass(frozen=True)
class Census:
    """What one organism's ambiguity is.

    ``separating[a, i]``: intervention i tells alternative a from the truth.
    """

    alternatives: tuple[Fault, ...]
    separating: NDArray[np.bool_]

    @property
    def ambiguity(self) -> Ambiguity:
        """The class: no alternative, every one separable, or some not."""
        if not self.alternatives:
            return "unambiguous"
        return "resolvable" if self.separating.any(axis=1).all() else "structural"

    @property
    def discriminating(self) -> NDArray[np.bool_]:
        """Which interventions tell some alternative from the truth."""
        return np.asarray(self.separating.any(axis=0))

    @property
    def relevant(self) -> bool:
        """Whether some alternative is separable: rates of discrimination are taken over these."""
        return bool(self.separating.any())

    @property
    def single(self) -> bool:
        """Whether one intervention tells every alternative from the truth."""
        return bool(self.alternatives) and bool(self.separating.all(axis=0).any())

    @property
    def chance(self) -> float:
        """Share of discriminating interventions: what uniform choice would hit."""
        return float(self.discriminating.mean())


def take_census(organism: Organism) -> Census:
    """Return an organism's census."""
    network, cause = organism.network, organism.fault
    faults = network.faults
    states, _ = fixed_points(network, conditions(network, [(fault, {}) for fault in faults]), fast=True)
    values = read_out(network, states)
    own = faults.index(cause)
    gap = np.abs(values - values[own]).max(axis=1)
    for index in np.flatnonzero(np.abs(gap - SEPARATION) < DOUBT):
        gap[index] = _gap(network, (cause, faults[index]), {})
    rivals = tuple(faults[i] for i in np.flatnonzero(gap <= SEPARATION) if i != own)
    if not rivals:
        return Census((), np.zeros((0, len(network.interventions)), dtype=bool))
    return Census(rivals, _separating(network, cause, rivals))


def separates(network: Network, cause: Fault, rivals: Sequence[Fault], plan: Plan) -> list[bool]:
    """Return for each rival whether a plan, of any number of targets, tells it from the cause."""
    values = truth(network, [(fault, plan) for fault in (cause, *rivals)])
    apart = np.abs(values[1:] - values[0]).max(axis=1) > SEPARATION
    return [bool(item) for item in apart]


def _separating(network: Network, cause: Fault, rivals: Sequence[Fault]) -> NDArray[np.bool_]:
    plans = network.interventions
    states, _ = fixed_points(network, product(network, (cause, *rivals), plans), fast=True)
    values = read_out(network, states).reshape(1 + len(rivals), len(plans), -1)
    gaps: FloatArray = np.abs(values[1:] - values[0]).max(axis=2)
    for rival, plan in np.argwhere(np.abs(gaps - SEPARATION) < DOUBT):
        gaps[rival, plan] = _gap(network, (cause, rivals[rival]), plans[plan])
    apart: NDArray[np.bool_] = gaps > SEPARATION
    return apart


def _gap(network: Network, pair: tuple[Fault, Fault], plan: Plan) -> float:
    one, other = truth(network, [(fault, plan) for fault in pair])
    return float(np.abs(one - other).max())
