"""The figures of law runs beside the board, as plain numbers: curves, effort, beliefs, failures, fairness.

Every function takes the episodes of one setting and collection and returns rows, each with the player and
the twin that it is about. Success rates are those of the board: over determined episodes (scored, invalid,
missing), with the same 95 % intervals over families.

Source: arXiv 2610.37919, section 4 and its figures 5, 9 and 11; curves count observations, not calls.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from environments.law.failures import CATEGORIES
from environments.task import JSON
from evaluation.fairness import difference, twins
from evaluation.statistics import Outcome, cells, interval, protocol_order, seeded

BUDGETS = (1, 2, 4, 8, 16)
BINS = (("0", 0, 0), ("1", 1, 1), ("2–4", 2, 4), ("5–8", 5, 8), ("9–16", 9, 16), ("17 or more", 17, 10**9))
"""Numbers of experiments that are counted together: name, least, most."""
LONGEST_CURVE = 64
"""Observations on the axis of an Adaptive curve."""
SMALLEST_ERROR = 1e-3
"""Forecast errors below this many tolerances count as this: their logarithm says nothing more."""

Row = dict[str, Any]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Episode:
    """A planned law episode: who plays, how it ended, and the analyses of its record where there is one."""

    player: str
    outcome: Outcome
    analyses: Mapping[str, JSON] | None = None

    @property
    def variant(self) -> str:
        """The twin that is played."""
        return self.outcome.facets.get("variant", "unknown")

    @property
    def protocol(self) -> str:
        """The protocol with its budget."""
        return self.outcome.slot.protocol

    @property
    def weak(self) -> bool:
        """Weak success."""
        return self.outcome.row is not None and bool(self.outcome.value("weak"))

    @property
    def experiments(self) -> int:
        """Observations that the player saw."""
        return int(self.analyses["experiments"]) if self.analyses else 0


def figures(episodes: Sequence[Episode]) -> dict[str, list[Row]]:
    """Return all figures of some episodes by name; an analysis that they do not allow is empty."""
    return {
        "counts": counts(episodes),
        "cumulative": cumulative(episodes),
        "effort": effort(episodes),
        "confidence": confidence(episodes),
        "forecasts": forecasts(episodes),
        "failures": failures(episodes),
        "fairness": fairness(episodes),
    }


def counts(episodes: Iterable[Episode]) -> list[Row]:
    """Return the board's cells: statuses, prediction score, weak and strict success with intervals."""
    found = []
    for player, group in _groups(episodes, lambda e: e.player).items():
        for cell in cells([item.outcome for item in group]):
            row = asdict(cell)
            key = row.pop("key")
            found.append({"player": player, **{name: key[name] for name in ("protocol", "variant")}, **row})
    return sorted(found, key=_order)


def cumulative(episodes: Iterable[Episode]) -> list[Row]:
    """Return, for Adaptive, the share of determined episodes that n observations or fewer had solved."""
    found = []
    for (player, variant), group in _adaptive(episodes).items():
        determined = [item for item in group if item.outcome.determined]
        asked = {"weak": determined, "strict": [item for item in determined if not item.outcome.weak_only]}
        for measure, chosen in asked.items():
            if not chosen:
                continue
            solved = np.array([i.experiments for i in chosen if _passed(i, measure)], dtype=np.int64)
            last = min(LONGEST_CURVE, max(item.experiments for item in chosen))
            points = [[n, float(np.sum(solved <= n)) / len(chosen)] for n in range(last + 1)]
            found.append(
                {
                    "player": player,
                    "variant": variant,
                    "measure": measure,
                    "n": len(chosen),
                    "solved": len(solved),
                    "points": points,
                }
            )
    return found


def effort(episodes: Iterable[Episode]) -> list[Row]:
    """Return, for Adaptive, experiments used by solved and unsolved episodes, and what failures cost."""
    found = []
    for (player, variant), group in _adaptive(episodes).items():
        used = [item.experiments for item in group]
        halves = {"solved": [i for i in group if i.weak], "unsolved": [i for i in group if not i.weak]}
        means: Row = {
            name: {"n": len(half), "mean": float(np.mean([i.experiments for i in half])) if half else None}
            for name, half in halves.items()
        }
        spent = {name: sum(_cost(item) for item in half) for name, half in halves.items()}
        total = sum(spent.values())
        found.append(
            {
                "player": player,
                "variant": variant,
                "n": len(group),
                "bins": {name: sum(low <= count <= high for count in used) for name, low, high in BINS},
                "median": float(np.median(used)),
                "most": max(used),
                **means,
                "usd": total,
                "cost_in_failures": spent["unsolved"] / total if total else None,
            }
        )
    return found


def confidence(episodes: Iterable[Episode]) -> list[Row]:
    """Return, for Adaptive, the confidence of the most trusted hypothesis by observations so far."""
    found = []
    for (player, variant), group in _adaptive(episodes).items():
        steps: dict[int, list[tuple[str, float]]] = defaultdict(list)
        for item in group:
            for step in (item.analyses or {})["confidences"]:
                steps[int(step["experiments"])].append((item.outcome.cluster, float(step["top"])))
        points = []
        for number, values in sorted(steps.items()):
            rng = seeded("confidence", player, variant, number)
            spread = interval(values, rng, items=False)
            mean = float(np.mean([value for _, value in values]))
            low, high = (spread.low, spread.high) if spread else (None, None)
            points.append({"experiments": number, "n": len(values), "mean": mean, "low": low, "high": high})
        levels = {float((item.analyses or {})["tau"]) for item in group}
        threshold = levels.pop() if len(levels) == 1 else None
        found.append(
            {"player": player, "variant": variant, "n": len(group), "threshold": threshold, "points": points}
        )
    return found


def forecasts(episodes: Iterable[Episode]) -> list[Row]:
    """Return, for Adaptive, |expected - observed| in tolerances at each experiment: median and quartiles.

    The forecast is that of the most trusted hypothesis. Values are not below ``SMALLEST_ERROR``.
    """
    found = []
    for (player, variant), group in _adaptive(episodes).items():
        errors: dict[int, list[float]] = defaultdict(list)
        for item in group:
            for index, step in enumerate((item.analyses or {})["forecast_errors"], start=1):
                errors[index].append(max(float(step["top"]), SMALLEST_ERROR))
        points = []
        for number, values in sorted(errors.items()):
            # Quartiles that are observed values: a mean of two errors decades apart is neither.
            low, middle, high = np.quantile(values, (0.25, 0.5, 0.75), method="closest_observation")
            points.append(
                {
                    "experiment": number,
                    "n": len(values),
                    "median": float(middle),
                    "low": float(low),
                    "high": float(high),
                    "within": float(np.mean(np.array(values) <= 1.0)),
                }
            )
        if points:
            found.append({"player": player, "variant": variant, "n": len(group), "points": points})
    return found


def failures(episodes: Iterable[Episode]) -> list[Row]:
    """Return how many episodes fall into each category, by player, protocol and twin."""
    analysed = [item for item in episodes if item.analyses]
    found = []
    for (player, protocol, variant), group in _groups(
        analysed, lambda e: (e.player, e.protocol, e.variant)
    ).items():
        counted = Counter(str((item.analyses or {})["failure"]) for item in group)
        kinds = {name: counted[name] for name in CATEGORIES}
        found.append(
            {"player": player, "protocol": protocol, "variant": variant, "n": len(group), "counts": kinds}
        )
    return sorted(found, key=_order)


def fairness(episodes: Iterable[Episode]) -> list[Row]:
    """Return paired differences of weak success between twins, equally complex pairs and others apart."""
    found = []
    for (player, protocol), group in _groups(episodes, lambda e: (e.player, e.protocol)).items():
        pairs = twins(
            item.outcome.row.model_copy(
                update={"cluster": item.outcome.cluster, "facets": dict(item.outcome.facets)}
            )
            for item in group
            if item.outcome.row is not None
        )
        for name in ("matched", "other"):
            chosen = [pair for pair in pairs if pair.matched == (name == "matched")]
            made = difference(chosen, f"{player}, {protocol} {name}")
            if made is not None:
                row = {"player": player, "protocol": protocol, "variant": "", "pairing": name, **asdict(made)}
                row |= {"equivalent": made.equivalent, "sensitive": made.sensitive}
                # One family says nothing about others: no interval, and nothing shown by it.
                alone = {"low": None, "high": None, "equivalent": False} if made.clusters < 2 else {}
                found.append(row | alone)
    return sorted(found, key=_order)


def _adaptive(episodes: Iterable[Episode]) -> dict[tuple[str, str], list[Episode]]:
    """Return the analysed Adaptive episodes by player and twin."""
    return _groups(
        (item for item in episodes if item.protocol == "adaptive" and item.analyses),
        lambda e: (e.player, e.variant),
    )


def _groups(episodes: Iterable[Episode], key: Callable[[Episode], Key]) -> dict[Key, list[Episode]]:
    found: dict[Key, list[Episode]] = defaultdict(list)
    for item in sorted(episodes, key=lambda e: (e.player, e.variant != "original", e.variant)):
        found[key(item)].append(item)
    return dict(found)


def _order(row: Row) -> tuple[Any, ...]:
    return row["player"], row["variant"] == "counterfactual", protocol_order(row["protocol"])


def _passed(item: Episode, measure: str) -> bool:
    return item.outcome.row is not None and bool(item.outcome.row.passed.get(measure))


def _cost(item: Episode) -> float:
    return (item.outcome.row.usage.usd or 0.0) if item.outcome.row is not None else 0.0
