"""Cells, intervals and paired gaps: what a table may say about a set of episodes.

The unit of analysis is the cluster (a law family, a world): twins, settings and repetitions of one
cluster are correlated, so clusters are resampled, never episodes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from cards.canonical import digest
from environments.seeding import generator
from evaluation.episode import EpisodeRow, Slot

RESAMPLES = 2000
LEVEL = 0.95
Z = 1.959963984540054
"""The normal quantile of a two-sided interval at 95 %."""
MIN_COVERAGE = 0.98
"""Below this share of determined episodes a cell has no row on the board."""

SEALED = "sealed"
"""Stands for words of a task that are not known here."""
STATUS_NAMES = ("scored", "invalid", "missing", "undetermined", "error", "owed")
"""What an episode can be; ``owed``: not played yet."""

FloatArray = npt.NDArray[np.float64]
Method = Literal["bootstrap", "wilson", "rule of three", "t"]
Measure = Literal["prediction", "weak", "strict"]


@dataclass(frozen=True)
class Outcome:
    """One planned episode with what is known of it: its row, if there is one, and its sealed words."""

    slot: Slot
    row: EpisodeRow | None
    cluster: str
    facets: Mapping[str, str]

    @property
    def determined(self) -> bool:
        """Whether the episode counts as a success or a failure."""
        return self.row is not None and self.row.status in ("scored", "invalid", "missing")

    @property
    def weak_only(self) -> bool:
        """Whether the task cannot be solved strictly by anyone and is left out of strict rates."""
        if self.facets.get("strict") == "weak-only":
            return True
        return self.row is not None and self.row.status == "scored" and self.row.passed.get("strict") is None

    def value(self, measure: Measure) -> float:
        """Return the prediction score, or 1.0 for a success and 0.0 for a failure."""
        assert self.row is not None
        if measure == "prediction":
            # No usable predictor predicts nothing: it counts as 0, not as absent.
            return self.row.headline or 0.0
        return float(bool(self.row.passed.get(measure)))


@dataclass(frozen=True)
class Interval:
    """A 95 % interval and how it was made."""

    low: float
    high: float
    method: Method


@dataclass(frozen=True)
class Estimate:
    """A mean or a rate over determined episodes.

    ``bounds`` are its values if every open episode (undetermined, error, owed) failed or succeeded.
    """

    value: float
    total: float
    n: int
    interval: Interval | None
    bounds: tuple[float, float]


@dataclass(frozen=True)
class CellKey:
    """What a cell groups by."""

    family: str
    setting: str
    variant: str
    protocol: str
    collection: str


@dataclass(frozen=True)
class Cell:
    """One player's episodes of one kind."""

    key: CellKey
    n: int
    statuses: dict[str, int]
    clusters: int
    coverage: float
    prediction: Estimate | None
    weak: Estimate | None
    strict: Estimate | None
    weak_only: int
    protocol_broken: int
    observations: float | None
    tokens: int
    usd: float | None

    @property
    def on_board(self) -> bool:
        """Whether enough episodes are determined for a row on the board."""
        return self.coverage >= MIN_COVERAGE


@dataclass(frozen=True)
class Gap:
    """A paired difference inside clusters: original minus counterfactual."""

    family: str
    setting: str
    protocol: str
    collection: str
    measure: Measure
    pairs: int
    value: float
    interval: Interval | None


def join(
    slots: Sequence[Slot],
    rows: Iterable[EpisodeRow],
    known: Mapping[str, tuple[str, Mapping[str, str]]] | None = None,
) -> list[Outcome]:
    """Join planned slots with their rows.

    Args:
        slots: the plan.
        rows: at most one for each slot key.
        known: (cluster, facets) by task id, where a release is at hand; rows tell it otherwise.
    """
    by_slot = {row.slot: row for row in rows}
    words = {row.task: (row.cluster, row.facets) for row in by_slot.values() if row.cluster}
    words |= {task: (cluster, dict(facets)) for task, (cluster, facets) in (known or {}).items()}
    outcomes = []
    for slot in slots:
        cluster, facets = words.get(slot.task, (slot.task, {}))
        outcomes.append(Outcome(slot, by_slot.get(slot.key), cluster, facets))
    return outcomes


def cells(outcomes: Iterable[Outcome]) -> list[Cell]:
    """Return the cells of one player's outcomes, sorted by what they group by."""
    groups: dict[CellKey, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[_key(outcome)].append(outcome)
    order = sorted(groups, key=_cell_order)
    # An open episode whose words are not known may belong to any cell of its kind: it counts against all.
    lost = {_kind(key): len(group) for key, group in groups.items() if key.variant == SEALED}
    return [_cell(key, groups[key], 0 if key.variant == SEALED else lost.get(_kind(key), 0)) for key in order]


def gaps(
    outcomes: Iterable[Outcome], measures: Sequence[Measure] = ("weak", "strict", "prediction")
) -> list[Gap]:
    """Return the counterfactual gaps of one player: original minus counterfactual, by cluster.

    A cluster counts where both twins have at least one determined episode.
    """
    groups: dict[tuple[str, str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        key = _key(outcome)
        if key.variant in ("original", "counterfactual") and outcome.determined:
            groups[(key.family, key.collection, key.setting, key.protocol)].append(outcome)
    found = []
    for group in sorted(groups, key=lambda g: (*g[:3], protocol_order(g[3]))):
        for measure in measures:
            gap = _gap(group, measure, groups[group])
            if gap is not None:
                found.append(gap)
    return found


def _key(outcome: Outcome) -> CellKey:
    slot, facets = outcome.slot, outcome.facets
    return CellKey(
        slot.family,
        slot.setting,
        facets.get("variant", SEALED),
        slot.protocol,
        facets.get("collection", SEALED),
    )


def protocol_order(protocol: str) -> tuple[int, int, str]:
    """Return the key by which protocols sort: prior, fixed by budget, adaptive."""
    word, _, number = protocol.partition(":")
    places = {"prior": 0, "fixed": 1, "adaptive": 2}
    return places.get(word, 3), int(number) if number.isdigit() else 0, protocol


def _kind(key: CellKey) -> tuple[str, str, str]:
    return key.family, key.setting, key.protocol


def _cell_order(key: CellKey) -> tuple[object, ...]:
    return key.family, key.collection, key.setting, protocol_order(key.protocol), key.variant


def _cell(key: CellKey, outcomes: Sequence[Outcome], lost: int) -> Cell:
    rows = [outcome.row for outcome in outcomes if outcome.row is not None]
    statuses = Counter[str](row.status for row in rows)
    statuses["owed"] = len(outcomes) - len(rows)
    determined = sum(outcome.determined for outcome in outcomes)
    strict = [outcome for outcome in outcomes if not outcome.weak_only]
    observations = [row.parts["experiments"] for row in rows if "experiments" in row.parts]
    prices = [row.usage.usd for row in rows]
    return Cell(
        key=key,
        n=len(outcomes),
        statuses={name: statuses[name] for name in STATUS_NAMES},
        clusters=len({outcome.cluster for outcome in outcomes}),
        coverage=determined / (len(outcomes) + lost),
        prediction=_estimate("prediction", key, outcomes),
        weak=_estimate("weak", key, outcomes),
        strict=_estimate("strict", key, strict),
        weak_only=len(outcomes) - len(strict),
        protocol_broken=sum(row.protocol_ok is False for row in rows),
        observations=float(np.mean(observations)) if observations else None,
        tokens=sum(row.usage.tokens_in + row.usage.tokens_out for row in rows),
        usd=None if any(price is None for price in prices) else sum(price or 0.0 for price in prices),
    )


def _estimate(measure: Measure, key: CellKey, outcomes: Sequence[Outcome]) -> Estimate | None:
    counted = [(outcome.cluster, outcome.value(measure)) for outcome in outcomes if outcome.determined]
    if not counted:
        return None
    total, n, planned = sum(value for _, value in counted), len(counted), len(outcomes)
    return Estimate(
        value=total / n,
        total=total,
        n=n,
        interval=interval(counted, seeded(measure, key), items=measure != "prediction"),
        bounds=(total / planned, (total + planned - n) / planned),
    )


def seeded(*words: object) -> np.random.Generator:
    """Return a generator seeded by a cell's name, so that the same rows always give the same interval."""
    return generator(bytes.fromhex(digest([str(word) for word in words])))


def interval(
    counted: Sequence[tuple[str, float]], rng: np.random.Generator, *, items: bool
) -> Interval | None:
    """Return the 95 % interval of the mean of values in [0, 1] that come in clusters.

    Args:
        counted: (cluster, value) pairs.
        rng: the source of the resamples.
        items: whether the values are successes (1) and failures (0); where each cluster then holds
            one episode, the episodes are independent and Wilson's interval is used.

    Returns:
        None for a single cluster, from which nothing can be said about others; the rule of three
        where all values are equal; else the percentile interval of the cluster bootstrap.
    """
    sums, counts = _by_cluster(counted)
    if len(sums) < 2:
        return None
    values = np.array([value for _, value in counted])
    if np.all(values == values[0]):
        return rule_of_three(float(values[0]), len(sums), 0.0, 1.0)
    if items and np.all(counts == 1):
        return wilson(float(values.sum()), len(values))
    return resampled(sums, counts, rng)


def resampled(sums: FloatArray, counts: FloatArray, rng: np.random.Generator) -> Interval:
    """Return the percentile interval of a mean from clusters' sums and sizes, clusters drawn anew."""
    weights = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=RESAMPLES)
    return _percentiles((weights @ sums) / (weights @ counts))


def wilson(successes: float, n: int) -> Interval:
    """Return Wilson's score interval of a proportion at 95 %."""
    share, spread = successes / n, Z * Z / n
    middle = (share + spread / 2) / (1 + spread)
    half = Z * float(np.sqrt(share * (1 - share) / n + spread / (4 * n))) / (1 + spread)
    return Interval(max(0.0, middle - half), min(1.0, middle + half), "wilson")


def rule_of_three(value: float, n: int, low: float, high: float) -> Interval:
    """Return the interval of a mean when all ``n`` units gave the same ``value`` in [low, high].

    A share p of units that behave otherwise stays unseen with probability (1 - p)^n; p = 3/n is the
    largest that does so with 5 %. Such units may lie at either end of the range.
    """
    unseen = min(1.0, 3 / n)
    return Interval(value - unseen * (value - low), value + unseen * (high - value), "rule of three")


def _by_cluster(counted: Iterable[tuple[str, float]]) -> tuple[FloatArray, FloatArray]:
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, float] = defaultdict(float)
    for cluster, value in counted:
        sums[cluster] += value
        counts[cluster] += 1
    order = sorted(sums)
    return np.array([sums[name] for name in order]), np.array([counts[name] for name in order])


def _percentiles(resampled: FloatArray) -> Interval:
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(resampled, [tail, 100 - tail])
    return Interval(float(low), float(high), "bootstrap")


def _gap(group: tuple[str, str, str, str], measure: Measure, outcomes: Sequence[Outcome]) -> Gap | None:
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        if measure != "strict" or not outcome.weak_only:
            values[outcome.cluster][outcome.facets["variant"]].append(outcome.value(measure))
    differences = np.array(
        [
            np.mean(twins["original"]) - np.mean(twins["counterfactual"])
            for _, twins in sorted(values.items())
            if len(twins) == 2
        ]
    )
    if not len(differences):
        return None
    family, collection, setting, protocol = group
    found = _gap_interval(differences, seeded("gap", measure, *group))
    return Gap(
        family, setting, protocol, collection, measure, len(differences), float(differences.mean()), found
    )


def _gap_interval(differences: FloatArray, rng: np.random.Generator) -> Interval | None:
    n = len(differences)
    if n < 2:
        return None
    if np.all(differences == differences[0]):
        return rule_of_three(float(differences[0]), n, -1.0, 1.0)
    return _percentiles(differences[rng.integers(0, n, size=(RESAMPLES, n))].mean(axis=1))
