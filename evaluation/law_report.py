"""What the laws of some runs show beside the board: curves, failures, beliefs, fairness; data and pictures.

Source: arXiv 2610.37919, section 4 and its figures 5, 9 and 11; curves count observations, not calls.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from environments.task import JSON
from evaluation.charts import Axes, Series, bars, intervals, lines, ticks
from evaluation.episode import EpisodeRow
from evaluation.fairness import MARGIN, Difference, difference, twins
from evaluation.statistics import interval, seeded

BUDGETS = (1, 2, 4, 8, 16)
STATUSES = ("scored", "invalid", "missing", "undetermined", "error")
MOST_SHOWN = 64
"""Observations on the axis of an Adaptive curve."""


@dataclass(frozen=True)
class Episode:
    """A settled law episode: its row and the family's analyses of its record."""

    row: EpisodeRow
    analyses: Mapping[str, JSON]

    @property
    def variant(self) -> str:
        """The twin that was played."""
        return self.row.facets.get("variant", "unknown")

    @property
    def passed(self) -> bool:
        """Weak success."""
        return bool(self.row.passed.get("weak"))


@dataclass
class Table:
    """A small table: its title, its head and its rows."""

    title: str
    head: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)


@dataclass
class Section:
    """One analysis: what it says, its pictures and its tables."""

    title: str
    note: str
    pictures: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def sections(episodes: Sequence[Episode]) -> list[Section]:
    """Return all analyses that the episodes allow, setting by setting."""
    found: list[Section] = []
    for setting in sorted({item.row.setting for item in episodes}):
        chosen = [item for item in episodes if item.row.setting == setting]
        made = [
            maker(chosen) for maker in (_counts, _budgets, _adaptive, _effort, _beliefs, _failures, _fair)
        ]
        for section in made:
            if section is not None and (section.pictures or section.tables):
                section.title = f"{section.title} · {setting}"
                found.append(section)
    return found


def _groups(
    episodes: Iterable[Episode], key: Callable[[Episode], str] = lambda e: f"{e.row.player}, {e.variant}"
) -> dict[str, list[Episode]]:
    groups: dict[str, list[Episode]] = defaultdict(list)
    for episode in sorted(episodes, key=lambda e: (e.row.player, e.variant != "original")):
        groups[key(episode)].append(episode)
    return dict(groups)


def _rate(episodes: Sequence[Episode], name: str) -> tuple[float, float, float]:
    """Return a weak success rate over determined episodes with its 95 % interval."""
    determined = [item for item in episodes if item.row.status in ("scored", "invalid", "missing")]
    counted = [(item.row.cluster, float(item.passed)) for item in determined]
    value = float(np.mean([success for _, success in counted])) if counted else 0.0
    found = interval(counted, seeded("law report", name), items=True) if counted else None
    return (value, found.low, found.high) if found else (value, value, value)


def _counts(episodes: Sequence[Episode]) -> Section:
    table = Table("Episodes by status", ["Player, protocol", *STATUSES, "weak", "strict", "PS"])
    for name, group in _groups(episodes, lambda e: f"{e.row.player}, {e.row.protocol}, {e.variant}").items():
        statuses: Counter[str] = Counter(item.row.status for item in group)
        determined = [i for i in group if i.row.status in ("scored", "invalid", "missing")]
        strict = [i for i in determined if i.row.facets.get("strict") != "weak-only"]
        cells = [str(statuses[status]) for status in STATUSES]
        cells.append(_share(i.passed for i in determined))
        cells.append(_share(bool(i.row.passed.get("strict")) for i in strict))
        scores = [i.row.headline or 0.0 for i in determined]
        table.rows.append([name, *cells, f"{np.mean(scores):.3f}" if scores else "–"])
    note = (
        "Prediction score (PS) and success rates are over determined episodes; invalid and missing ones fail."
    )
    return Section("Counts, scores and success", note, tables=[table])


def _share(values: Iterable[bool]) -> str:
    held = list(values)
    return f"{np.mean(held):.0%} of {len(held)}" if held else "–"


def _budgets(episodes: Sequence[Episode]) -> Section | None:
    fixed = [item for item in episodes if item.row.protocol.startswith("fixed:")]
    if not fixed:
        return None
    series, passed = (
        [],
        Table("Passed episodes by budget", ["Player, variant", *(f"B = {b}" for b in BUDGETS)]),
    )
    for name, group in _groups(fixed).items():
        points, cells = [], []
        for place, budget in enumerate(BUDGETS):
            of_budget = [item for item in group if item.row.protocol == f"fixed:{budget}"]
            cells.append(f"{sum(i.passed for i in of_budget)} of {len(of_budget)}" if of_budget else "–")
            if of_budget:
                points.append((float(place), *_rate(of_budget, f"{name} {budget}")))
        series.append(Series(name, tuple(points)))
        passed.rows.append([name, *cells])
    axes = Axes(
        "preset experiments B", "weak success", tuple((float(i), str(b)) for i, b in enumerate(BUDGETS))
    )
    picture = lines("Weak success against the Fixed budget", axes, series)
    return Section("Fixed budgets", "Whiskers: 95 % intervals over families.", [picture], [passed])


def _adaptive(episodes: Sequence[Episode]) -> Section | None:
    adaptive = [item for item in episodes if item.row.protocol == "adaptive"]
    if not adaptive:
        return None
    top = min(MOST_SHOWN, max(int(item.analyses["experiments"]) for item in adaptive))
    series = []
    for name, group in _groups(adaptive).items():
        solved = np.array([int(item.analyses["experiments"]) for item in group if item.passed])
        points = [(float(n), float(np.sum(solved <= n)) / len(group)) for n in range(top + 1)]
        series.append(Series(name, tuple(points)))
    axes = Axes("observations", "episodes solved", _ticks_to(top))
    return Section(
        "Adaptive: cumulative success",
        "The share of all episodes that were solved with at most so many observations.",
        [lines("Solved against observations", axes, series)],
    )


def _ticks_to(top: float) -> tuple[tuple[float, str], ...]:
    return ticks(max(top, 1))


def _effort(episodes: Sequence[Episode]) -> Section | None:
    adaptive = [item for item in episodes if item.row.protocol == "adaptive"]
    if not adaptive:
        return None
    edges = ((0, 0), (1, 1), (2, 4), (5, 8), (9, 16), (17, 10**6))
    names = ("0", "1", "2–4", "5–8", "9–16", "17 or more")
    rows: dict[str, dict[str, float]] = {}
    table = Table(
        "Effort of solved and unsolved", ["Player, variant", "solved", "unsolved", "cost in failures"]
    )
    for name, group in _groups(adaptive).items():
        used = [int(item.analyses["experiments"]) for item in group]
        rows[name] = {
            label: float(sum(low <= count <= high for count in used))
            for label, (low, high) in zip(names, edges, strict=True)
        }
        halves = [[i for i in group if i.passed == flag] for flag in (True, False)]
        means = [
            f"{np.mean([int(i.analyses['experiments']) for i in half]):.1f} ({len(half)})" if half else "–"
            for half in halves
        ]
        table.rows.append([name, *means, _cost_share(group)])
    return Section(
        "Adaptive: experiments used",
        "Mean observations, with the number of episodes; and the share of money spent in failed episodes.",
        [bars("Episodes by experiments used", rows)],
        [table],
    )


def _cost_share(group: Sequence[Episode]) -> str:
    costs = [(item.row.usage.usd or 0.0, item.passed) for item in group]
    total = sum(cost for cost, _ in costs)
    return f"{sum(cost for cost, passed in costs if not passed) / total:.0%}" if total else "no cost"


def _beliefs(episodes: Sequence[Episode]) -> Section | None:
    adaptive = [item for item in episodes if item.row.protocol == "adaptive"]
    beliefs, errors, longest = [], [], 1
    for name, group in _groups(adaptive).items():
        steps: dict[int, list[float]] = defaultdict(list)
        misses: dict[int, list[float]] = defaultdict(list)
        for item in group:
            for step in item.analyses["confidences"]:
                steps[int(step["experiments"])].append(float(step["top"]))
            for index, forecast in enumerate(item.analyses["forecast_errors"]):
                misses[index + 1].append(float(np.log10(max(float(forecast["top"]), 1e-3))))
        longest = max([longest, *steps, *misses])
        beliefs.append(Series(name, tuple((float(n), float(np.mean(v))) for n, v in sorted(steps.items()))))
        errors.append(Series(name, tuple((float(n), float(np.median(v))) for n, v in sorted(misses.items()))))
    if not any(item.points for item in beliefs):
        return None
    belief_axes = Axes("observations so far", "confidence", _ticks_to(longest))
    error_axes = Axes("experiment", "log10 error", _ticks_to(longest), low=-3.0, top=5.0, percent=False)
    return Section(
        "Adaptive: beliefs and forecasts",
        "Mean confidence of the most trusted hypothesis at each report; median of log10 of its forecast's "
        "error, in tolerances, at each experiment (0: an error of one; -3: none to speak of).",
        [
            lines("Confidence over the episode", belief_axes, beliefs),
            lines("Expected against observed (log10 e)", error_axes, [e for e in errors if e.points]),
        ],
    )


def _failures(episodes: Sequence[Episode]) -> Section:
    kinds = sorted({str(item.analyses["failure"]) for item in episodes})

    def counted(group: Sequence[Episode]) -> dict[str, float]:
        found = Counter(str(item.analyses["failure"]) for item in group)
        return {kind: float(found[kind]) for kind in kinds}

    pooled = {name: counted(group) for name, group in _groups(episodes).items()}
    table = Table("Failures by category and protocol", ["Player, protocol", *kinds])
    for name, group in _groups(episodes, lambda e: f"{e.row.player}, {e.row.protocol}, {e.variant}").items():
        table.rows.append([name, *(f"{value:g}" for value in counted(group).values())])
    note = (
        "Each category is decided by program; docs/laws.md defines them. The "
        "picture takes all protocols together."
    )
    return Section("Failure categories", note, [bars("Why episodes failed", pooled)], [table])


def _fair(episodes: Sequence[Episode]) -> Section | None:
    found: list[tuple[str, Difference]] = []
    for name, group in _groups(episodes, lambda e: f"{e.row.player}, {e.row.protocol}").items():
        pairs = twins(item.row for item in group)
        for label, chosen in (
            ("matched", [pair for pair in pairs if pair.matched]),
            ("other", [pair for pair in pairs if not pair.matched]),
        ):
            made = difference(chosen, f"{name} {label}")
            if made is not None:
                found.append((f"{name}, {label}", made))
    if not found:
        return None
    head = ["Player, protocol, pairs", "families", "original", "counterfactual", "difference (90 %)"]
    table = Table("Counterfactual gap beside the complexity gap", [*head, "nodes", "constants"])
    for name, d in found:
        gap = f"{d.difference:+.2f} ({d.low:+.2f} to {d.high:+.2f})"
        cells = [str(d.clusters), f"{d.original:.2f}", f"{d.counterfactual:.2f}", gap]
        table.rows.append([name, *cells, f"{d.nodes:+.1f}", f"{d.constants:+.1f}"])
    rows = [(name, d.difference, d.low, d.high) for name, d in found]
    picture = intervals("Weak success, counterfactual less original", rows, MARGIN)
    note = (
        f"Matched pairs are equally complex; there the interval should lie in the band of ±{MARGIN:.2f}. "
        "Other counterfactuals have more nodes and constants, and their gap is to be read beside that."
    )
    return Section("Fairness", note, [picture], [table])
