"""Fixed points of many conditions at once.

A condition is a fault with a plan of interventions. Per condition and gene there are three numbers: the
drive k·(signals + bias), a factor on the gene's own value, and an offset; clamps, damping and locks are
all of this form, and an intervention overrides a lock.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (sigmoid update to a fixed point); damping,
start, tolerance and the logistic read-out are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from environments.organism.network import Fault, FloatArray, Network, Plan

START = 0.5
TOLERANCE = 1e-5
FAST_TOLERANCE = 4e-6
"""Tighter, so that also slowly settling states come out within 5e-5 of the slow path."""
MAX_STEPS = 200
CHECK_EVERY = 5
"""Steps between two looks at what has converged."""
DAMPEN_FACTOR = 0.5

Floats = NDArray[Any]


@dataclass(frozen=True)
class Conditions:
    """Rows of conditions: ``drive``, ``factor``, ``offset`` have shape (rows, genes)."""

    drive: FloatArray
    factor: FloatArray
    offset: FloatArray
    noise: FloatArray | None = None

    def take(self, rows: NDArray[np.intp]) -> Conditions:
        """Return some of the rows."""
        noise = None if self.noise is None else self.noise[rows]
        return Conditions(self.drive[rows], self.factor[rows], self.offset[rows], noise)


def conditions(network: Network, pairs: Sequence[tuple[Fault | None, Plan]]) -> Conditions:
    """Return the conditions of (fault, plan) pairs, one row each."""
    clamps = _clamps(network, pairs)
    return Conditions(_drive(network, clamps.active), clamps.factor, clamps.offset)


def product(network: Network, faults: Sequence[Fault | None], plans: Sequence[Plan]) -> Conditions:
    """Return the conditions of every fault with every plan, plans running fastest."""
    locked = _clamps(network, [(fault, {}) for fault in faults])
    treated = _clamps(network, [(None, plan) for plan in plans])
    # A plan acts on whatever value the fault leaves: factor·value + offset, twice in a row.
    factor = locked.factor[:, None, :] * treated.factor[None, :, :]
    offset = locked.offset[:, None, :] * treated.factor[None, :, :] + treated.offset[None, :, :]
    # A signal that is both stuck and switched on is on, once.
    active = np.maximum(locked.active[:, None, :], treated.active[None, :, :])
    shape = (len(faults) * len(plans), network.genes)
    drive = _drive(network, active.reshape(shape[0], len(network.signals)))
    return Conditions(drive, factor.reshape(shape), offset.reshape(shape))


def fixed_points(
    network: Network, rows: Conditions, *, tolerance: float = TOLERANCE, fast: bool = False
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the states (rows, genes) and whether each row converged.

    Args:
        network: whose weights.
        rows: the conditions.
        tolerance: largest change of a gene in one step at which a row has arrived.
        fast: iterate in single precision, to ``FAST_TOLERANCE`` at the loosest; states agree with the slow
            path to 5e-5.
    """
    kind: type[np.floating[Any]] = np.float32 if fast else np.float64
    wiring: Floats = np.ascontiguousarray((-network.steepness * network.weights).T, dtype=kind)
    now = _Working.of(rows, kind)
    states = np.empty(rows.drive.shape)
    converged = np.zeros(len(rows.drive), dtype=bool)
    tolerance = min(tolerance, FAST_TOLERANCE) if fast else tolerance
    limit = MAX_STEPS if fast or tolerance >= TOLERANCE else 10 * MAX_STEPS
    for step in range(1, limit + 1):
        now.step(wiring)
        if step % CHECK_EVERY and step < limit:
            continue
        done = now.change() < tolerance
        if done.any():
            states[now.left[done]] = now.state[done]
            converged[now.left[done]] = True
            now = now.keep(~done)
            if not len(now.left):
                break
    states[now.left] = now.state
    return states, converged


class _Working:
    """The rows that have not converged yet, negated so that a step needs no copy."""

    def __init__(self, left: NDArray[np.intp], arrays: Sequence[Floats], noise: Floats | None) -> None:
        self.left = left
        self.state, self._drive, self._factor, self._offset = arrays
        self._noise = noise
        self._next = np.empty_like(self.state)

    @classmethod
    def of(cls, rows: Conditions, kind: type[np.floating[Any]]) -> _Working:
        """Start every row in the middle."""
        arrays = [np.full(rows.drive.shape, START), -rows.drive, rows.factor, rows.offset]
        noise = None if rows.noise is None else rows.noise.astype(kind)
        return cls(np.arange(len(rows.drive)), [array.astype(kind) for array in arrays], noise)

    def step(self, wiring: Floats) -> None:
        """x ← (x + f(x))/2."""
        f = self._next
        np.matmul(self.state, wiring, out=f)
        np.add(f, self._drive, out=f)
        np.exp(f, out=f)
        np.add(f, 1, out=f)
        np.reciprocal(f, out=f)
        if self._noise is not None:
            np.add(f, self._noise, out=f)
        np.multiply(f, self._factor, out=f)
        np.add(f, self._offset, out=f)
        if self._noise is not None:
            np.maximum(f, 0, out=f)
            np.minimum(f, 1, out=f)
        np.subtract(f, self.state, out=f)
        np.multiply(f, 0.5, out=f)
        np.add(self.state, f, out=self.state)

    def change(self) -> Floats:
        """Return the largest change of each row in the last step."""
        largest: Floats = np.abs(self._next).max(axis=1)
        return largest

    def keep(self, mask: NDArray[np.bool_]) -> _Working:
        """Return the rows of a mask."""
        arrays = [array[mask] for array in (self.state, self._drive, self._factor, self._offset)]
        return _Working(self.left[mask], arrays, None if self._noise is None else self._noise[mask])


def read_out(network: Network, states: FloatArray) -> FloatArray:
    """Return the phenotypes (rows, 3) of states."""
    drive = network.gain * (states @ network.readout.T + network.shift)
    values: FloatArray = 1.0 / (1.0 + np.exp(-drive))
    return values


def _drive(network: Network, active: FloatArray) -> FloatArray:
    drive: FloatArray = network.steepness * (active @ network.signals + network.bias)
    return drive


@dataclass(frozen=True)
class _Clamps:
    active: FloatArray
    factor: FloatArray
    offset: FloatArray


def _clamps(network: Network, pairs: Sequence[tuple[Fault | None, Plan]]) -> _Clamps:
    genes = network.genes
    factor, offset = np.ones((len(pairs), genes)), np.zeros((len(pairs), genes))
    active = np.zeros((len(pairs), len(network.signals)))
    for row, (fault, plan) in enumerate(pairs):
        if fault is not None:
            if fault.kind == "PERSIST":
                active[row, fault.target - genes] = 1.0
            else:
                factor[row, fault.target] = 0.0
                offset[row, fault.target] = float(fault.kind == "LOCK_HI")
        for target, action in plan.items():
            if target >= genes:
                active[row, target - genes] = 1.0
            elif action == "DAMPEN":
                factor[row, target] *= DAMPEN_FACTOR
                offset[row, target] *= DAMPEN_FACTOR
            else:
                factor[row, target] = 0.0
                offset[row, target] = float(action == "BOOST")
    return _Clamps(active, factor, offset)
