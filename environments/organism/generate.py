"""Draw an organism for (seed, tier, n): a wired network with one fault that can be undone.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (sizes, what tiers vary, what a fault must
fulfil); the laws of weights and the order of choice are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cards.errors import InputError
from environments.organism.dynamics import conditions, fixed_points, product, read_out
from environments.organism.network import FAULT_KINDS, Fault, FloatArray, Network, Plan
from environments.organism.tiers import GENES, MODULE, PHENOTYPES, SIGNALS, Tier, tier
from environments.seeding import derive, generator

HALF_WIDTH = 0.13
"""Half the width of a healthy range."""
MOST_ABERRANT = 2
LARGEST_DEVIATION = 0.35
NEAR_EDGE = 0.02
NEAR_EDGE_KEPT = 0.3
"""Share of near-edge faults that are kept."""
MOST_CANDIDATES = 8
MOST_ATTEMPTS = 50
DOUBT = 1e-4
"""A single-precision figure this close to a threshold is worked out again in double precision."""
EXACT = 1e-12
"""Tolerance of such a second look."""

_WEIGHT, _POSITIVE = (0.50, 0.95), 0.50
_STRENGTH, _EXCITING, _DRIVEN = (1.2, 1.8), 0.75, 2
_BIAS_SPREAD = 0.67
_READ, _READ_WEIGHT, _READ_POSITIVE, _SHIFT_SPREAD, _GAIN = 5, (0.41, 1.0), 0.95, 0.082, 0.92
_REACH = 5
"""How far back a gene without input looks for one."""


@dataclass(frozen=True)
class Organism:
    """A network with its hidden fault; ``seed`` (32 bytes) also seeds all its noise."""

    seed: bytes
    network: Network
    fault: Fault
    attempt: int = 0

    @cached_property
    def healthy(self) -> FloatArray:
        """The phenotypes without fault and noise."""
        return np.asarray(truth(self.network, [(None, {})])[0])

    @cached_property
    def diseased(self) -> FloatArray:
        """The phenotypes with the fault, without noise."""
        return np.asarray(truth(self.network, [(self.fault, {})])[0])

    @cached_property
    def aberrant(self) -> NDArray[np.bool_]:
        """Which phenotypes lie outside their healthy range."""
        return np.abs(self.diseased - self.healthy) > HALF_WIDTH

    def ranges(self) -> list[tuple[float, float]]:
        """Return the healthy range of each phenotype."""
        return [(max(0.0, y - HALF_WIDTH), min(1.0, y + HALF_WIDTH)) for y in self.healthy.tolist()]


def truth(network: Network, pairs: Sequence[tuple[Fault | None, Plan]]) -> FloatArray:
    """Return the noise-free phenotypes (rows, 3) of (fault, plan) pairs, to 1e-12."""
    states, _ = fixed_points(network, conditions(network, pairs), tolerance=EXACT)
    return read_out(network, states)


def make_organism(seed: bytes, tier_name: str = "medium", n: int = GENES) -> Organism:
    """Return the organism of a key; equal keys give equal organisms.

    Args:
        seed: any bytes.
        tier_name: easy, medium or hard.
        n: number of genes, a multiple of five from 10 on.

    Raises:
        InputError: an unknown tier, an impossible size, or a seed that admits no organism.
    """
    kind = tier(tier_name)
    if n < 2 * MODULE or n % MODULE:
        raise InputError(f"an organism cannot have {n} genes.", "Give a multiple of 5, at least 10.")
    for attempt in range(MOST_ATTEMPTS):
        rng = generator(derive(seed, "organism", tier_name, str(n), str(attempt)))
        network = make_network(rng, kind, n)
        fault = choose_fault(network, rng)
        if fault is not None:
            return Organism(derive(seed, "noise", tier_name, str(n)), network, fault, attempt)
    raise InputError(f"no organism came out of {MOST_ATTEMPTS} attempts.", "Use another seed.")


def make_network(rng: np.random.Generator, kind: Tier, n: int = GENES) -> Network:
    """Draw a network; see organisms of the source for what each number is."""
    weights = _wire(rng, kind, n)
    signals = np.zeros((SIGNALS, n))
    for row in signals:
        driven = rng.choice(n // 2, size=_DRIVEN, replace=False)
        row[driven] = _signed(rng, _STRENGTH, _EXCITING, _DRIVEN)
    bias = -0.5 * weights.sum(axis=1) + rng.normal(0.0, _BIAS_SPREAD, n)
    readout = np.zeros((PHENOTYPES, n))
    for row in readout:
        row[rng.choice(n, size=_READ, replace=False)] = _signed(rng, _READ_WEIGHT, _READ_POSITIVE, _READ)
    shift = -0.5 * readout.sum(axis=1) + rng.normal(0.0, _SHIFT_SPREAD, PHENOTYPES)
    latent = tuple(sorted(rng.choice(n, size=kind.latent, replace=False).tolist()))
    return Network(
        kind.name, weights, signals, bias, kind.steepness, readout, shift, _GAIN, kind.noise, latent
    )


def choose_fault(network: Network, rng: np.random.Generator) -> Fault | None:
    """Return a fault that shows, is not too gross, and can be undone by one intervention.

    Returns:
        None when a state does not converge or none of the first eight candidates will do.
    """
    states, converged = fixed_points(
        network, conditions(network, [(None, {}), *((fault, {}) for fault in network.faults)]), fast=True
    )
    if not converged.all():
        return None
    values = read_out(network, states)
    deviations = np.abs(values[1:] - values[0])
    for index in _candidates(network, deviations, rng):
        fault, deviation = network.faults[index], deviations[index]
        if np.abs(deviation - HALF_WIDTH).min() < DOUBT or abs(deviation.max() - LARGEST_DEVIATION) < DOUBT:
            healthy, diseased = truth(network, [(None, {}), (fault, {})])
            deviation = np.abs(diseased - healthy)
        if _acceptable(deviation, rng) and corrective(network, fault, values[0]).any():
            return fault
    return None


def corrective(network: Network, fault: Fault, healthy: FloatArray) -> NDArray[np.bool_]:
    """Return which single interventions put every aberrant phenotype back, without noise."""
    plans: list[Plan] = [{}, *network.interventions]
    states, _ = fixed_points(network, product(network, [fault], plans), fast=True)
    values = read_out(network, states)
    doubtful = np.abs(np.abs(values - healthy) - HALF_WIDTH).min(axis=1) < DOUBT
    if doubtful.any():
        healthy = truth(network, [(None, {})])[0]
        again = np.flatnonzero(doubtful)
        values[again] = truth(network, [(fault, plans[row]) for row in again])
    outside = np.abs(values - healthy) > HALF_WIDTH
    restored: NDArray[np.bool_] = ~(outside[1:] & outside[0]).any(axis=1)
    return restored


def _wire(rng: np.random.Generator, kind: Tier, n: int) -> FloatArray:
    gene = np.arange(n)
    target, source = gene[:, None], gene[None, :]
    step = target // MODULE - source // MODULE
    chance = np.select(
        [(step == 0) & (source < target), (step == 0) & (source > target), step == 1, step > 1, step < 0],
        [kind.forward, kind.feedback, kind.adjacent, kind.earlier, kind.later],
        0.0,
    )
    present = rng.random((n, n)) < chance
    weights = np.where(present, _signed(rng, _WEIGHT, _POSITIVE, (n, n)), 0.0)
    for lonely in np.flatnonzero(~present.any(axis=1)).tolist():
        if lonely >= 2:
            one = int(rng.integers(max(0, lonely - _REACH), lonely))
            weights[lonely, one] = _signed(rng, _WEIGHT, _POSITIVE, 1)[0]
    return weights


def _signed(
    rng: np.random.Generator, size: tuple[float, float], positive: float, shape: int | tuple[int, int]
) -> FloatArray:
    magnitude = rng.uniform(*size, shape)
    return np.where(rng.random(shape) < positive, magnitude, -magnitude)


def _candidates(network: Network, deviations: FloatArray, rng: np.random.Generator) -> list[int]:
    """Visible faults, the three kinds in random order and at random inside a kind; at most eight."""
    shows = deviations.max(axis=1) > HALF_WIDTH
    order: list[int] = []
    for kind in rng.permutation(len(FAULT_KINDS)):
        own = [i for i, f in enumerate(network.faults) if f.kind == FAULT_KINDS[kind] and shows[i]]
        order.extend(rng.permutation(np.array(own, dtype=int)).tolist())
    return order[:MOST_CANDIDATES]


def _acceptable(deviation: FloatArray, rng: np.random.Generator) -> bool:
    aberrant = deviation > HALF_WIDTH
    if not 0 < aberrant.sum() <= MOST_ABERRANT or deviation.max() > LARGEST_DEVIATION:
        return False
    if (deviation[aberrant] - HALF_WIDTH).min() < NEAR_EDGE:
        return bool(rng.random() < NEAR_EDGE_KEPT)
    return True
