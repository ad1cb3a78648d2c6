"""Is a counterfactual harder only because it is more complex? Paired differences, matched and unmatched.

A pair is matched when both truths have equally many nodes and hidden constants (a plain change of a
coefficient, for example). On matched pairs a player that has no memory of textbooks should succeed
equally often on both twins: the 90 % interval of the paired difference, families drawn anew, must lie
inside ±0.10. Of the other pairs the difference is shown beside the gap in complexity; that is a figure
and not a gate. Source: two one-sided tests in the form of an interval; the margin is ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.episode import EpisodeRow
from evaluation.statistics import seeded

MARGIN = 0.10
LEVEL = 0.90
RESAMPLES = 4000
SENSITIVE = (0.2, 0.9)
"""Success on Originals outside of this range says little about a difference."""


@dataclass(frozen=True)
class Twins:
    """One family's success on both twins, means over its episodes, and their complexity."""

    cluster: str
    original: float
    counterfactual: float
    nodes: tuple[int, int]
    constants: tuple[int, int]

    @property
    def matched(self) -> bool:
        """Whether both are equally complex."""
        return self.nodes[0] == self.nodes[1] and self.constants[0] == self.constants[1]


@dataclass(frozen=True)
class Difference:
    """A mean paired difference (counterfactual less original) with its 90 % interval over clusters."""

    pairs: int
    clusters: int
    original: float
    counterfactual: float
    difference: float
    low: float
    high: float
    nodes: float
    constants: float

    @property
    def equivalent(self) -> bool:
        """Whether the interval lies inside the margin."""
        return self.low >= -MARGIN and self.high <= MARGIN

    @property
    def sensitive(self) -> bool:
        """Whether the player succeeds on Originals neither too seldom nor too often to tell."""
        return SENSITIVE[0] <= self.original <= SENSITIVE[1]


def twins(rows: Iterable[EpisodeRow]) -> list[Twins]:
    """Join rows of one player, setting and protocol to pairs; families with one twin are left out."""
    groups: dict[str, dict[str, list[EpisodeRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.status in ("scored", "invalid", "missing") and "nodes" in row.facets:
            groups[row.cluster][row.facets["variant"]].append(row)
    found = []
    for cluster, group in groups.items():
        if {"original", "counterfactual"} <= set(group):
            sides = (group["original"], group["counterfactual"])
            rates = [float(np.mean([bool(row.passed.get("weak")) for row in side])) for side in sides]
            nodes = (int(sides[0][0].facets["nodes"]), int(sides[1][0].facets["nodes"]))
            constants = (int(sides[0][0].facets["constants"]), int(sides[1][0].facets["constants"]))
            found.append(Twins(cluster, rates[0], rates[1], nodes, constants))
    return found


def difference(pairs: Sequence[Twins], name: str) -> Difference | None:
    """Return the mean paired difference; ``name`` seeds its resamples. None without pairs."""
    if not pairs:
        return None
    groups: dict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        groups[pair.cluster].append(pair.counterfactual - pair.original)
    sums = np.array([sum(values) for _, values in sorted(groups.items())])
    counts = np.array([len(values) for _, values in sorted(groups.items())])
    rng = seeded("fairness", name)
    weights = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=RESAMPLES)
    means = (weights @ sums) / (weights @ counts)
    low, high = np.percentile(means, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Difference(
        pairs=len(pairs),
        clusters=len(groups),
        original=float(np.mean([pair.original for pair in pairs])),
        counterfactual=float(np.mean([pair.counterfactual for pair in pairs])),
        difference=float(sums.sum() / counts.sum()),
        low=float(low),
        high=float(high),
        nodes=float(np.mean([pair.nodes[1] - pair.nodes[0] for pair in pairs])),
        constants=float(np.mean([pair.constants[1] - pair.constants[0] for pair in pairs])),
    )
