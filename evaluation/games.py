"""Tables of the drone games from rows alone: survival, wins, gaps, behaviour, correlation with other tests.

Everything comes from a row's ``parts`` and ``facets``, so it works on runs played anywhere. Survival is
shown twice: over finished games, as the paper does, and with unfinished ones as 0.

Source: arXiv 2607.04293, appendix D (intervals), section 4 (tiers, splits, behaviour), appendix G.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evaluation.episode import EpisodeRow

FAMILY = "drone"
LEVEL = 0.95
TIERS = (0.0, 0.35, 0.50, 0.65, 0.75)
"""Lower ends of the tiers of Stage 1's best rate."""
BEHAVIOURS = ("lock_in", "high_antenna_bias", "regression", "false_victory", "echo")
SPLITS = ("selection_bias", "confounder", "measurement_error", "history")


@dataclass(frozen=True)
class Survival:
    """Survival over some games.

    ``mean``, ``sd``, ``low`` and ``high`` (a 95 % t interval) are over finished games; ``with_zeros`` counts
    unfinished ones as 0. ``verdict`` compares the interval with the threshold, where all games share one.
    """

    n: int
    finished: int
    wins: int
    mean: float | None
    with_zeros: float
    sd: float | None
    low: float | None
    high: float | None
    verdict: str


def games(rows: Iterable[EpisodeRow]) -> list[EpisodeRow]:
    """Return the rows of the drone games."""
    return [row for row in rows if row.family == FAMILY]


def survival(rows: Sequence[EpisodeRow]) -> Survival:
    """Sum up the survival of some games."""
    values = [row.parts["survival"] for row in rows if "survival" in row.parts]
    mean = float(np.mean(values)) if values else None
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    low, high = t_interval(values)
    thresholds = {row.parts["threshold"] for row in rows if "threshold" in row.parts}
    return Survival(
        n=len(rows),
        finished=len(values),
        wins=sum(row.passed.get("weak") is True for row in rows),
        mean=mean,
        with_zeros=float(sum(values)) / len(rows) if rows else 0.0,
        sd=sd,
        low=low,
        high=high,
        verdict=_verdict(low, high, thresholds),
    )


def t_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Return mean ± t·s/√n at 95 %, or (None, None) for fewer than two values."""
    if len(values) < 2:
        return None, None
    from scipy.stats import t

    half = float(t.ppf(0.5 + LEVEL / 2, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def by_scenario(rows: Sequence[EpisodeRow]) -> dict[str, Survival]:
    """Return survival by game, hardest first; games are known by their facets, once these are unsealed."""
    groups = _group(rows, lambda row: row.facets.get("scenario", row.task))
    found = {name: survival(group) for name, group in groups.items()}
    return dict(sorted(found.items(), key=lambda item: (item[1].with_zeros, item[0])))


def overall(rows: Sequence[EpisodeRow]) -> dict[str, float | None]:
    """Return the mean over games of their mean survival, both ways, and the mean number of games won."""
    table = by_scenario(rows)
    means = [item.mean for item in table.values() if item.mean is not None]
    return {
        "games": float(len(table)),
        "survival": float(np.mean(means)) if means else None,
        "with_zeros": float(np.mean([item.with_zeros for item in table.values()])) if table else None,
        "sd": float(np.mean([item.sd for item in table.values() if item.sd is not None]))
        if any(item.sd is not None for item in table.values())
        else None,
        "games_won": float(sum(item.wins / item.n for item in table.values())),
    }


def splits(rows: Sequence[EpisodeRow]) -> dict[str, dict[str, Survival]]:
    """Return survival with and without each difficulty: selection bias, confounder, noise, history."""
    return {
        name: {
            answer: survival(group)
            for answer, group in sorted(_group(rows, lambda row, name=name: row.facets.get(name, "")).items())
            if answer
        }
        for name in SPLITS
    }


def gaps_by_tier(rows: Sequence[EpisodeRow]) -> dict[str, dict[str, float]]:
    """Return the mean exploration gap (Stage 1 minus Stage 2) by tier of Stage 1's best rate."""
    groups: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if "exploration_gap" in row.parts:
            tier = int(np.searchsorted(TIERS, row.parts["stage1_best"], side="right")) - 1
            groups[tier].append(row.parts["exploration_gap"])
    ends = [*TIERS[1:], 1.0]
    return {
        f"{TIERS[tier]:.0%} to {ends[tier]:.0%}": {"n": float(len(found)), "gap": float(np.mean(found))}
        for tier, found in sorted(groups.items())
    }


def behaviour(rows: Sequence[EpisodeRow]) -> dict[str, dict[str, float]]:
    """Return the share of games that show each behaviour, among those where it is defined."""
    found = {}
    for name in BEHAVIOURS:
        values = [row.parts[name] for row in rows if name in row.parts]
        if values:
            found[name] = {"n": float(len(values)), "share": float(np.mean(values))}
    return found


def spearman(ours: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float | None]:
    """Return Spearman's rank correlation over the players that both tables have.

    ``rho`` is None for fewer than three players or where one table is all ties.
    """
    names = sorted(set(ours) & set(other))
    one, two = (_ranks([table[name] for name in names]) for table in (ours, other))
    if len(names) < 3 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return {"n": float(len(names)), "rho": None}
    return {"n": float(len(names)), "rho": float(np.corrcoef(one, two)[0, 1])}


def report(rows: Iterable[EpisodeRow]) -> dict[str, Any]:
    """Return every table of one player as plain JSON."""
    played = games(rows)
    return {
        "overall": overall(played),
        "scenarios": {name: asdict(item) for name, item in by_scenario(played).items()},
        "splits": {
            name: {answer: asdict(item) for answer, item in sides.items()}
            for name, sides in splits(played).items()
        },
        "gaps_by_stage1": gaps_by_tier(played),
        "behaviour": behaviour(played),
    }


def _verdict(low: float | None, high: float | None, thresholds: set[float]) -> str:
    if low is None or high is None or len(thresholds) != 1:
        return "undecided"
    threshold = thresholds.pop()
    return "above" if low > threshold else "below" if high < threshold else "undecided"


def _group(rows: Sequence[EpisodeRow], key: Any) -> dict[str, list[EpisodeRow]]:
    groups: dict[str, list[EpisodeRow]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def _ranks(values: Sequence[float]) -> np.ndarray:
    """Return ranks, ties at their mean."""
    array = np.asarray(values, dtype=np.float64)
    return np.array([(array < value).sum() + ((array == value).sum() + 1) / 2 for value in array])
