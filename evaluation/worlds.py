"""What runs on causal worlds show: CORE and QUAL, the ledger's diagnostics, what rows buy over turns.

Source: arXiv 2610.14381, sections 4 and 5, appendices D (world-clustered bootstrap), E and G.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from environments.pgm.diagnostics import Diagnostics, diagnose, trajectory
from evaluation.episode import EpisodeRow
from evaluation.statistics import Interval, interval, resampled, seeded

FAMILY = "pgm"
FOUR_TURN, SAMP5K = "four_turn", "samp5k"
FEW_CLUSTERS = 20
"""An interval from fewer worlds than this is flagged: its coverage is poor."""
LOGGED = ("queries", "failed_queries", "rows", "gave_up")


@dataclass(frozen=True)
class Rate:
    """A share of accepted answers over ``n`` questions of some worlds."""

    value: float
    n: int
    worlds: int
    interval: Interval | None

    @property
    def flagged(self) -> bool:
        """Whether the interval rests on too few worlds."""
        return self.worlds < FEW_CLUSTERS


@dataclass(frozen=True)
class Budget:
    """One player under one budget.

    ``accepted`` and ``exact`` by collection (core, qual) and by archetype or type; ``f1`` over lists;
    ``yes_share`` over yes/no answers; ``logged`` means per episode; ``ledger`` by collection.
    """

    protocol: str
    accepted: dict[str, Rate]
    exact: dict[str, Rate]
    f1: float | None
    yes_share: float | None
    logged: dict[str, float]
    ledger: dict[str, Diagnostics]


@dataclass(frozen=True)
class Gain:
    """SAMP5K minus four turns over the same questions: cells (archetypes and types) up, equal, down."""

    up: int
    equal: int
    down: int
    points: float
    interval: Interval | None


@dataclass(frozen=True)
class Study:
    """Everything that the table shows of one player."""

    player: str
    budgets: tuple[Budget, ...]
    gain: Gain | None


def study(player: str, rows: Iterable[EpisodeRow]) -> Study:
    """Sum up one player's rows; those of other families, and undetermined ones, are passed over."""
    kept = ("scored", "invalid", "missing")
    own = [row for row in rows if row.family == FAMILY and row.status in kept]
    protocols = sorted({row.protocol for row in own})
    budgets = tuple(_budget(name, [row for row in own if row.protocol == name]) for name in protocols)
    return Study(player, budgets, gain(own))


def gain(rows: Sequence[EpisodeRow]) -> Gain | None:
    """Return the paired gain over CORE, or None where no question was played under both budgets.

    The interval resamples worlds, the same ones for both budgets.
    """
    pairs: dict[tuple[str, int], dict[str, EpisodeRow]] = defaultdict(dict)
    for row in rows:
        if row.facets.get("collection") == "core" and row.protocol in (FOUR_TURN, SAMP5K):
            pairs[(row.task, row.repetition)][row.protocol] = row
    both = [pair for pair in pairs.values() if len(pair) > 1]
    if not both:
        return None
    changes = [(pair[SAMP5K], _right(pair[SAMP5K]) - _right(pair[FOUR_TURN])) for pair in both]
    cells: dict[str, float] = defaultdict(float)
    worlds: dict[str, list[float]] = defaultdict(list)
    for row, change in changes:
        cells[row.facets["variant"]] += change
        worlds[row.cluster].append(change)
    sums = np.array([sum(group) for group in worlds.values()])
    counts = np.array([float(len(group)) for group in worlds.values()])
    return Gain(
        up=sum(total > 0 for total in cells.values()),
        equal=sum(total == 0 for total in cells.values()),
        down=sum(total < 0 for total in cells.values()),
        points=100 * float(sums.sum() / counts.sum()),
        interval=resampled(sums, counts, seeded("gain", *sorted(worlds))) if len(worlds) > 1 else None,
    )


def _budget(protocol: str, rows: Sequence[EpisodeRow]) -> Budget:
    groups: dict[str, list[EpisodeRow]] = defaultdict(list)
    for row in rows:
        groups[row.facets.get("collection", "")].append(row)
        groups[row.facets.get("variant", "")].append(row)
    order = sorted(groups, key=lambda name: _place(name, groups[name][0]))
    said = [row.parts["said_yes"] for row in rows if "said_yes" in row.parts]
    lists = [row for row in rows if row.setting == "core_list"]
    return Budget(
        protocol=protocol,
        accepted={name: _rate(groups[name], "weak") for name in order},
        exact={name: _rate(groups[name], "strict") for name in order},
        f1=float(np.mean([row.parts.get("f1", 0.0) for row in lists])) if lists else None,
        yes_share=float(np.mean(said)) if said else None,
        logged={name: float(np.mean([row.parts.get(name, 0.0) for row in rows])) for name in LOGGED},
        ledger={name: _diagnose(groups[name]) for name in ("core", "qual") if name in groups},
    )


def _place(name: str, row: EpisodeRow) -> tuple[str, bool, str, str]:
    """Return where a line stands: core and what it is made of, then qual and its types."""
    collection = row.facets.get("collection", "")
    return collection, name != collection, row.setting, name


def _rate(rows: Sequence[EpisodeRow], standard: str) -> Rate:
    counted = [(row.cluster, float(row.passed.get(standard) is True)) for row in rows]
    worlds = len({cluster for cluster, _ in counted})
    rng = seeded("worlds", standard, *sorted({cluster for cluster, _ in counted}))
    value = float(np.mean([value for _, value in counted]))
    return Rate(value, len(counted), worlds, interval(counted, rng, items=True))


def _diagnose(rows: Sequence[EpisodeRow]) -> Diagnostics:
    return diagnose([trajectory(row.parts, correct=_right(row) > 0) for row in rows])


def _right(row: EpisodeRow) -> float:
    return float(row.passed.get("weak") is True)
