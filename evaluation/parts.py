"""Named parts of scores on the board: what a family measures beside passing, and its paired differences.

A family whose scores have parts worth a column gets a line in ``MEASURES``; a difference of two parts of
the same episodes gets one in ``PAIRS``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.statistics import (
    Interval,
    Outcome,
    protocol_order,
    resampled,
    rule_of_three,
    seeded,
    wilson,
)

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """One part as a column. ``items``: it is right (1) or wrong (0) for each of many independent items."""

    part: str
    heading: str
    items: bool = False


@dataclass(frozen=True)
class Pair:
    """A difference of two parts, taken inside each cluster."""

    heading: str
    plus: str
    minus: str


MEASURES: dict[str, tuple[Measure, ...]] = {
    "pgm": (Measure("f1", "F1"), Measure("acquired", "evidence acquired"), Measure("gave_up", "given up")),
    "organism": (
        Measure("prediction", "prediction"),
        Measure("diagnosis", "diagnosis"),
        Measure("exact", "exact diagnosis"),
        Measure("rescue", "rescue"),
        Measure("correct", "items right", items=True),
    ),
}
PAIRS: dict[str, tuple[Pair, ...]] = {
    "organism": (Pair("rescue − diagnosis", "rescue", "diagnosis"),),
}


@dataclass(frozen=True)
class PartFigure:
    """A mean over determined episodes with its 95 % interval."""

    heading: str
    value: float
    n: int
    interval: Interval | None
    paired: bool = False


@dataclass(frozen=True)
class PartRow:
    """One player's named parts in one setting."""

    family: str
    setting: str
    collection: str
    protocol: str
    n: int
    figures: tuple[PartFigure, ...]


def part_rows(outcomes: Sequence[Outcome]) -> list[PartRow]:
    """Return one row for each setting, collection and protocol whose family names parts.

    A determined episode without a part that others of its cell have counts as 0 there.
    """
    groups: dict[tuple[str, str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        slot = outcome.slot
        if outcome.determined and slot.family in MEASURES:
            collection = outcome.facets.get("collection", "")
            groups[(slot.family, slot.setting, collection, slot.protocol)].append(outcome)
    order = sorted(groups, key=lambda key: (*key[:3], protocol_order(key[3])))
    return [PartRow(*key, len(groups[key]), _figures(key, groups[key])) for key in order]


def _figures(key: tuple[str, str, str, str], outcomes: Sequence[Outcome]) -> tuple[PartFigure, ...]:
    known = {name for outcome in outcomes if outcome.row is not None for name in outcome.row.parts}
    found = []
    for measure in MEASURES[key[0]]:
        if measure.part in known:
            values = cluster_means(outcomes, {measure.part: 1.0})
            interval = _of_mean(values, items=measure.items)
            found.append(_figure(measure.heading, values, interval))
    for pair in PAIRS.get(key[0], ()):
        if {pair.plus, pair.minus} <= known:
            values = cluster_means(outcomes, {pair.plus: 1.0, pair.minus: -1.0})
            found.append(_figure(pair.heading, values, _of_gap(pair, key, values), paired=True))
    return tuple(found)


@dataclass(frozen=True)
class ClusterMeans:
    """The mean of each cluster, and how many episodes each rests on; clusters in sorted order."""

    means: FloatArray
    counts: FloatArray

    @property
    def value(self) -> float:
        """The mean over episodes."""
        return float(np.average(self.means, weights=self.counts))


def cluster_means(outcomes: Sequence[Outcome], weights: Mapping[str, float]) -> ClusterMeans:
    """Return the weighted sum of parts, averaged inside each cluster."""
    values: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        parts = outcome.row.parts if outcome.row is not None else {}
        values[outcome.cluster].append(sum(w * parts.get(name, 0.0) for name, w in weights.items()))
    ordered = [values[name] for name in sorted(values)]
    return ClusterMeans(
        np.array([float(np.mean(group)) for group in ordered]),
        np.array([float(len(group)) for group in ordered]),
    )


def mean_interval(values: FloatArray, lowest: float, highest: float) -> Interval | None:
    """Return the 95 % t interval of a mean over independent units that lie in [lowest, highest].

    None for fewer than two; the rule of three where all are equal; cut off at the ends of the range.
    """
    from scipy import stats

    n = len(values)
    if n < 2:
        return None
    if np.all(values == values[0]):
        return rule_of_three(float(values[0]), n, lowest, highest)
    half = float(stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n))
    mean = float(values.mean())
    return Interval(max(lowest, mean - half), min(highest, mean + half), "t")


def _of_mean(values: ClusterMeans, *, items: bool) -> Interval | None:
    if items:
        total = int(values.counts.sum())
        return wilson(float(values.means @ values.counts), total)
    return mean_interval(values.means, 0.0, 1.0)


def _of_gap(pair: Pair, key: tuple[str, str, str, str], values: ClusterMeans) -> Interval | None:
    if len(values.means) < 2:
        return None
    if np.all(values.means == values.means[0]):
        return rule_of_three(float(values.means[0]), len(values.means), -1.0, 1.0)
    return resampled(values.means * values.counts, values.counts, seeded("part gap", pair.heading, *key))


def _figure(
    heading: str, values: ClusterMeans, interval: Interval | None, *, paired: bool = False
) -> PartFigure:
    return PartFigure(heading, values.value, int(values.counts.sum()), interval, paired)
