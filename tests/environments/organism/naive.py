"""An organism simulated with plain loops, written from the description alone; shares no code with ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp

from environments.organism.network import Fault, Network


class Naive:
    """A network as plain lists, iterated one condition and one gene at a time."""

    def __init__(self, network: Network) -> None:
        rows = network.weights.tolist()
        self.inputs = [[(j, row[j]) for j in range(len(row)) if row[j] != 0.0] for row in rows]
        self.u = network.signals.tolist()
        self.b = network.bias.tolist()
        self.k = float(network.steepness)
        self.v = network.readout.tolist()
        self.c = network.shift.tolist()
        self.kp = float(network.gain)
        self.n = len(self.b)

    def state(self, fault: Fault | None, plan: Mapping[int, str], tolerance: float) -> list[float]:
        """Iterate x ← (x + f(x))/2 from one half until nothing moves by ``tolerance``."""
        on = self.active(fault, plan)
        x = [0.5] * self.n
        for _ in range(5000):
            new = [0.5 * x[i] + 0.5 * self.gene(i, x, on, fault, plan) for i in range(self.n)]
            moved = max(abs(a - b) for a, b in zip(new, x, strict=True))
            x = new
            if moved < tolerance:
                return x
        raise AssertionError("no fixed point")

    def active(self, fault: Fault | None, plan: Mapping[int, str]) -> list[float]:
        """Return which signals are on."""
        on = [0.0] * len(self.u)
        if fault is not None and fault.kind == "PERSIST":
            on[fault.target - self.n] = 1.0
        for target, action in plan.items():
            if action == "ON":
                on[target - self.n] = 1.0
        return on

    def residual(self, x: Sequence[float], fault: Fault | None, plan: Mapping[int, str]) -> float:
        """Return how far a state is from being a fixed point: the largest |f(x) - x|."""
        on = self.active(fault, plan)
        return max(abs(self.gene(i, x, on, fault, plan) - x[i]) for i in range(self.n))

    def gene(
        self, i: int, x: Sequence[float], on: Sequence[float], fault: Fault | None, plan: Mapping[int, str]
    ) -> float:
        """Return f of one gene: its sigmoid, then its lock, then what is done to it."""
        drive = self.b[i]
        for j, weight in self.inputs[i]:
            drive += weight * x[j]
        for m in range(len(on)):
            drive += on[m] * self.u[m][i]
        value = 1.0 / (1.0 + exp(-self.k * drive))
        if fault is not None and fault.target == i:
            value = {"LOCK_HI": 1.0, "LOCK_LO": 0.0}[fault.kind]
        action = plan.get(i)
        if action == "BLOCK":
            return 0.0
        if action == "BOOST":
            return 1.0
        if action == "DAMPEN":
            return 0.5 * value
        return value

    def phenotypes(self, x: Sequence[float]) -> list[float]:
        """Return the logistic read-out of a state."""
        found = []
        for p in range(len(self.v)):
            drive = self.c[p]
            for j in range(self.n):
                drive += self.v[p][j] * x[j]
            found.append(1.0 / (1.0 + exp(-self.kp * drive)))
        return found
