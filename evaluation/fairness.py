"""Is a counterfactual harder only because it is more complex? Paired differences, matched and unmatched.

A pair is matched when both truths, in reduced form, have equally many nodes and constants (a coefficient or
an exponent that is only another one, for example). On matched pairs a player that has no memory of textbooks
should succeed equally often on both twins: the 90 % interval of the paired difference, families drawn anew,
must lie inside ±0.10. Of the other pairs the difference is shown beside the gap in complexity; that is a
figure and not a gate. Source: two one-sided tests in the form of an interval; the margin is ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.episode import EpisodeRow
from evaluation.statistics import seeded

FloatArray = npt.NDArray[np.float64]

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
    """A mean over families of paired differences (counterfactual less original), with its 90 % interval."""

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
    """Return the mean paired difference, every family counting once; ``name`` seeds its resamples.

    Returns:
        None without pairs.
    """
    if not pairs:
        return None
    groups: dict[str, list[Twins]] = defaultdict(list)
    for pair in pairs:
        groups[pair.cluster].append(pair)
    families = [group for _, group in sorted(groups.items())]

    def mean(value: Callable[[Twins], float]) -> FloatArray:
        return np.array([np.mean([value(pair) for pair in group]) for group in families])

    gaps = mean(lambda pair: pair.counterfactual - pair.original)
    rng = seeded("fairness", name)
    drawn = rng.multinomial(len(gaps), np.full(len(gaps), 1 / len(gaps)), size=RESAMPLES)
    low, high = np.percentile(drawn @ gaps / len(gaps), [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Difference(
        pairs=len(pairs),
        clusters=len(families),
        original=float(np.mean(mean(lambda pair: pair.original))),
        counterfactual=float(np.mean(mean(lambda pair: pair.counterfactual))),
        difference=float(np.mean(gaps)),
        low=float(low),
        high=float(high),
        nodes=float(np.mean(mean(lambda pair: pair.nodes[1] - pair.nodes[0]))),
        constants=float(np.mean(mean(lambda pair: pair.constants[1] - pair.constants[0]))),
    )
