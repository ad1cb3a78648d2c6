"""What an organism is: a wired network with its read-out, and what can be done to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

FaultKind = Literal["LOCK_HI", "LOCK_LO", "PERSIST"]
FAULT_KINDS: tuple[FaultKind, ...] = ("LOCK_HI", "LOCK_LO", "PERSIST")
Action = Literal["BLOCK", "BOOST", "DAMPEN", "ON"]
GENE_ACTIONS: tuple[Action, ...] = ("BLOCK", "BOOST", "DAMPEN")
SIGNAL_ACTION: Action = "ON"

Plan = Mapping[int, Action]
"""Interventions by target: genes are 0 … n-1, signals n … n+2. Empty: none."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is broken: a gene locked at 1 or 0, or a signal that is always on."""

    kind: FaultKind
    target: int


@dataclass(frozen=True)
class Network:
    """A gene network with its signals and phenotypes; immutable by agreement.

    Shapes, for n genes: ``weights`` (n, n), row i holds what acts on gene i; ``signals`` (3, n);
    ``bias`` (n,); ``readout`` (3, n); ``shift`` (3,). ``steepness`` and ``gain`` are the slopes of the
    two logistic curves, ``noise`` the standard deviation of a gene's quenched noise.
    """

    tier: str
    weights: FloatArray
    signals: FloatArray
    bias: FloatArray
    steepness: float
    readout: FloatArray
    shift: FloatArray
    gain: float
    noise: float
    latent: tuple[int, ...] = ()

    @property
    def genes(self) -> int:
        """Number of genes, latent ones included."""
        return len(self.bias)

    @cached_property
    def visible(self) -> tuple[int, ...]:
        """Genes that a player may know of."""
        return tuple(gene for gene in range(self.genes) if gene not in self.latent)

    @cached_property
    def signal_targets(self) -> tuple[int, ...]:
        """Signals as targets."""
        return tuple(range(self.genes, self.genes + len(self.signals)))

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Every fault that a player could name; 43 for 20 visible genes."""
        locks = [Fault(kind, gene) for kind in ("LOCK_HI", "LOCK_LO") for gene in self.visible]
        return (*locks, *(Fault("PERSIST", signal) for signal in self.signal_targets))

    @cached_property
    def interventions(self) -> tuple[Plan, ...]:
        """Every single intervention; 63 for 20 visible genes."""
        acts: list[Plan] = [{gene: action} for action in GENE_ACTIONS for gene in self.visible]
        return (*acts, *({signal: SIGNAL_ACTION} for signal in self.signal_targets))


def plan_text(plan: Plan) -> str:
    """Return a plan as text that does not depend on the order in which it was written."""
    return ",".join(f"{target}:{plan[target]}" for target in sorted(plan))
