"""What runs on organisms show: gap, exploration, use of evidence, direction, probes; from rows alone.

Source: "Treating the Symptom, Missing the Cause", sections 3 to 5 and appendix 8 (the estimands and their
intervals: t over seeds, bootstrap clustered by organism, Wilson for items).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.episode import EpisodeRow
from evaluation.parts import mean_interval
from evaluation.statistics import Interval, interval, seeded, wilson

FAMILY = "organism"
TIERS = ("easy", "medium", "hard")
CLASSES = ("unambiguous", "resolvable", "structural")
DIRECTIONS = ("never", "one direction", "both directions")
LADDER = ("probe-1", "probe-2", "probe-3a", "probe-3b", "probe-3c")
"""Each shows more of an investigation and helps less with it; live sessions come last."""
MAIN_SOURCE = "contrast-sweep"
"""The source of logs whose items make the ladder; others are for robustness."""


@dataclass(frozen=True)
class Figure:
    """A mean or share with its interval; ``n`` units stand behind it."""

    value: float
    n: int
    interval: Interval | None


@dataclass(frozen=True)
class Point:
    """One organism's discriminating share against what a uniform choice would hit."""

    cluster: str
    chance: float
    share: float


@dataclass(frozen=True)
class Split:
    """Exact diagnosis of sessions above and up to a player's median, and the correlation with it."""

    above: Figure | None
    below: Figure | None
    correlation: float | None


@dataclass(frozen=True)
class Study:
    """Everything that the pictures show of one player."""

    player: str
    sessions: int
    scores: Mapping[str, Mapping[str, Figure]]
    """By tier and ``all``: prediction, diagnosis, exact, rescue, restored, and the paired gap."""
    axes: Mapping[str, float]
    splits: Mapping[str, Split]
    classes: Mapping[str, Figure]
    directions: Mapping[str, Figure]
    evidence: Mapping[str, float]
    points: tuple[Point, ...]
    probes: Mapping[str, Figure]
    """By probe and kind of item, ``probe-2/revise``; ``live``: exact diagnosis of the same organisms."""


def diseased(rows: Iterable[EpisodeRow]) -> list[EpisodeRow]:
    """Return the determined sessions on diseased organisms."""
    return [row for row in _determined(rows) if row.setting.startswith("diseased-")]


def study(player: str, rows: Iterable[EpisodeRow]) -> Study:
    """Sum up one player's rows; those of other families are passed over."""
    own = list(rows)
    sessions = diseased(own)
    return Study(
        player=player,
        sessions=len(sessions),
        scores=_scores(sessions),
        axes=_means(
            sessions, ("experiments", "budget_used", "breadth", "both_directions", "exact", "restored")
        ),
        splits={name: _split(sessions, name) for name in ("experiments", "breadth")},
        classes=_shares(sessions, lambda row: row.facets.get("class", ""), CLASSES, player),
        directions=_directions(sessions),
        evidence=_evidence(sessions),
        points=_points(sessions),
        probes=_probes(own, sessions),
    )


def _determined(rows: Iterable[EpisodeRow]) -> list[EpisodeRow]:
    kept = ("scored", "invalid", "missing")
    return [row for row in rows if row.family == FAMILY and row.status in kept]


def _part(row: EpisodeRow, name: str) -> float:
    return row.parts.get(name, 0.0)


def _scores(sessions: Sequence[EpisodeRow]) -> dict[str, dict[str, Figure]]:
    tiers: dict[str, list[EpisodeRow]] = defaultdict(list)
    for row in sessions:
        tiers[row.setting.removeprefix("diseased-")].append(row)
        tiers["all"].append(row)
    names = ("prediction", "diagnosis", "exact", "rescue", "restored")
    found = {}
    for tier, group in tiers.items():
        found[tier] = {name: _over_clusters(group, {name: 1.0}) for name in names}
        found[tier]["gap"] = _over_clusters(group, {"rescue": 1.0, "diagnosis": -1.0})
    return {name: found[name] for name in (*TIERS, "all") if name in found}


def _over_clusters(rows: Sequence[EpisodeRow], weights: Mapping[str, float]) -> Figure:
    """A weighted sum of parts, averaged over organisms, with a t interval as the paper has it over seeds."""
    clusters: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        clusters[row.cluster].append(sum(weight * _part(row, name) for name, weight in weights.items()))
    means = np.array([float(np.mean(clusters[name])) for name in sorted(clusters)])
    lowest = -1.0 if min(weights.values()) < 0 else 0.0
    return Figure(float(means.mean()), len(means), mean_interval(means, lowest, 1.0))


def _means(rows: Sequence[EpisodeRow], names: Sequence[str]) -> dict[str, float]:
    return {name: float(np.mean([_part(row, name) for row in rows])) for name in names} if rows else {}


def _split(sessions: Sequence[EpisodeRow], axis: str) -> Split:
    values = np.array([_part(row, axis) for row in sessions])
    exact = np.array([_part(row, "exact") for row in sessions])
    if not len(values) or np.all(values == values[0]):
        return Split(None, None, None)
    high = values > np.median(values)
    correlation = None if np.all(exact == exact[0]) else float(np.corrcoef(values, exact)[0, 1])
    return Split(_wilson(exact[high].tolist()), _wilson(exact[~high].tolist()), correlation)


def _wilson(values: Sequence[float]) -> Figure | None:
    """A share of sessions or items; None where there are none."""
    if not values:
        return None
    return Figure(float(np.mean(values)), len(values), wilson(float(sum(values)), len(values)))


def _shares(
    rows: Sequence[EpisodeRow], group: Callable[[EpisodeRow], str], names: Sequence[str], player: str
) -> dict[str, Figure]:
    """Exact diagnosis by group, with a bootstrap clustered by organism."""
    found = {}
    for name in names:
        counted = [(row.cluster, _part(row, "exact")) for row in rows if group(row) == name]
        if counted:
            mean = float(np.mean([value for _, value in counted]))
            found[name] = Figure(
                mean, len(counted), interval(counted, seeded("organism", player, name), items=False)
            )
    return found


def _directions(sessions: Sequence[EpisodeRow]) -> dict[str, Figure]:
    found = {}
    for number, name in enumerate(DIRECTIONS):
        exact = [_part(row, "exact") for row in sessions if _part(row, "cause_directions") == number]
        figure = _wilson(exact)
        if figure is not None:
            found[name] = figure
    return found


def _evidence(sessions: Sequence[EpisodeRow]) -> dict[str, float]:
    """Rates over the organisms with a separable alternative.

    ``discriminating`` pools all experiments before a hypothesis, ``chance`` weighs each organism by the
    experiments that were run on it.
    """
    rows = [row for row in sessions if "chance" in row.parts]
    before = np.array([_part(row, "before") for row in rows])
    if not before.sum():
        return {}
    met = [row for row in rows if _part(row, "encountered") == 1.0]
    found = {
        "experiments": float(before.sum()),
        "discriminating": float(
            sum(_part(r, "discriminating") * _part(r, "before") for r in rows) / before.sum()
        ),
        "chance": float(sum(_part(r, "chance") * _part(r, "before") for r in rows) / before.sum()),
        "encountered": len(met) / len(rows),
    }
    if met:
        found["exact where encountered"] = float(np.mean([_part(row, "exact") for row in met]))
        found["single perturbation"] = float(np.mean([_part(row, "single_evidence") for row in met]))
        found["median lag"] = float(np.median([_part(row, "lag") for row in met]))
    return found


def _points(sessions: Sequence[EpisodeRow]) -> tuple[Point, ...]:
    groups: dict[str, list[EpisodeRow]] = defaultdict(list)
    for row in sessions:
        if "discriminating" in row.parts:
            groups[row.cluster].append(row)
    return tuple(
        Point(
            cluster,
            _part(groups[cluster][0], "chance"),
            float(np.mean([_part(row, "discriminating") for row in groups[cluster]])),
        )
        for cluster in sorted(groups)
    )


def _probes(rows: Iterable[EpisodeRow], sessions: Sequence[EpisodeRow]) -> dict[str, Figure]:
    groups: dict[str, list[float]] = defaultdict(list)
    for row in _determined(rows):
        if row.setting in LADDER:
            kind = row.facets.get("collection", "")
            groups[f"{row.setting}/{kind}"].append(_part(row, "correct"))
            if _decisive(row.setting, kind):
                groups[row.setting].append(_part(row, "correct"))
            if row.setting == "probe-2" and kind == "filler":
                groups["probe-2/revised on noise"].append(_part(row, "revised"))
    if any(name in groups for name in LADDER):
        groups["live"] = [_part(row, "exact") for row in sessions if row.facets.get("relevant") == "yes"]
    made = {name: _wilson(values) for name, values in sorted(groups.items())}
    return {name: figure for name, figure in made.items() if figure is not None}


def _decisive(probe: str, kind: str) -> bool:
    """Whether an item counts on the ladder: fillers do not, nor do logs of another source."""
    return kind != "filler" and (probe in ("probe-1", "probe-2") or kind == MAIN_SOURCE)
