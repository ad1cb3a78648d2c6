"""The figures of law runs as pictures and tables, analysis by analysis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from environments.law.failures import CATEGORIES
from evaluation.charts import SHARES, Axes, Box, Gap, Series, bars, decades, grid, intervals, lines, ticks
from evaluation.fairness import MARGIN
from evaluation.kinds import BIN_KINDS, FAILURE_KINDS, STATUS_KINDS
from evaluation.law_figures import BUDGETS, SMALLEST_ERROR, Episode, Row, figures
from evaluation.marks import Style, styles
from evaluation.sections import Chapter, Section, Table
from evaluation.statistics import STATUS_NAMES, protocol_order

MEASURES = {"weak": "Weak success", "strict": "Strict success"}
VARIANTS = ("original", "counterfactual")


def chapters(episodes: Sequence[Episode]) -> list[Chapter]:
    """Return all analyses that the episodes allow, by setting and collection."""
    looks = styles(sorted({item.player for item in episodes}))
    groups: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for item in episodes:
        collection = item.outcome.facets.get("collection", "unknown")
        groups[(item.outcome.slot.setting, collection)].append(item)
    found = []
    for (setting, collection), group in sorted(groups.items()):
        numbers = figures(group)
        made = [maker(numbers, looks) for maker in (_counts, _fixed, _adaptive, _effort)]
        made += [maker(numbers, looks) for maker in (_beliefs, _failures, _fair)]
        shown = [section for section in made if section is not None]
        found.append(Chapter(setting, collection, numbers, shown, _absent(numbers)))
    return found


def _absent(numbers: Mapping[str, list[Row]]) -> list[str]:
    """Say which analyses are left out for want of episodes."""
    protocols = {row["protocol"].partition(":")[0] for row in numbers["counts"]}
    found = [
        f"no episode was planned under {name}" for name in ("fixed", "adaptive") if name not in protocols
    ]
    if "adaptive" in protocols and not numbers["cumulative"]:
        found.append("no adaptive episode is settled")
    if not numbers["fairness"]:
        found.append("no family was played on both twins by one player under one protocol")
    return found


def _counts(numbers: Mapping[str, list[Row]], looks: Mapping[str, Style]) -> Section:
    rows = numbers["counts"]
    protocols = sorted({row["protocol"] for row in rows}, key=protocol_order)
    columns = [protocol.replace("fixed:", "B=") for protocol in protocols]
    by_place = {(_name(row), row["protocol"]): row for row in rows}
    names = list(dict.fromkeys(_name(row) for row in rows))
    pictures = []
    for measure, title in (("prediction", "Prediction score"), *MEASURES.items()):
        boxes = {
            name: [_estimate_box(by_place.get((name, protocol)), measure) for protocol in protocols]
            for name in names
        }
        pictures.append(grid(f"{title} by protocol", columns, boxes))
    statuses = {name: dict.fromkeys(STATUS_NAMES, 0.0) for name in names}
    for row in rows:
        for status, count in row["statuses"].items():
            statuses[_name(row)][status] += count
    shown = {name: {"valid": group.pop("scored"), **group} for name, group in statuses.items()}
    pictures.append(bars("Episodes by status, all protocols", STATUS_KINDS, shown))
    head = ["Player, twin, protocol", "n", "families", "valid", *STATUS_NAMES[1:]]
    table = Table("Episodes by status, and scores", [*head, "PS", "weak", "strict", "strict out of"])
    for row in rows:
        cells = [str(row["n"]), str(row["clusters"]), *(str(row["statuses"][s]) for s in STATUS_NAMES)]
        cells += [_estimate(row["prediction"], 1, 3), *(_estimate(row[m], 100, 0) for m in MEASURES)]
        cells.append(str(row["strict"]["n"]) if row["strict"] else "0")
        table.rows.append([f"{_name(row)}, {row['protocol']}", *cells])
    note = (
        "Prediction score (PS) is 1 / (1 + mean error in tolerances), 1 at best. Weak success: no error "
        "exceeds one tolerance on the hidden inputs, and the protocol was followed; strict: also the same "
        "function, asked for only where exact recovery is possible. Rates are over determined episodes: "
        "valid ones, and invalid and missing ones, which fail. Undetermined, error and owed ones are left "
        "out. Small figures and brackets: 95 % intervals, over families."
    )
    return Section("Counts, scores and success", note, pictures, [table])


def _estimate_box(row: Row | None, measure: str) -> Box | None:
    found = row[measure] if row is not None else None
    if found is None:
        return None
    scale, digits, unit = (1, 2, "") if measure == "prediction" else (100, 0, "%")
    spread = found["interval"]
    ends = [f"{scale * spread[end] + 0.0:.{digits}f}" for end in ("low", "high")] if spread else []
    below = "–".join(end.replace("0.", ".", 1).replace("1.00", "1") for end in ends)
    return Box(found["value"], f"{scale * found['value']:.{digits}f}{unit}", below)


def _estimate(found: Row | None, scale: float, digits: int) -> str:
    if found is None:
        return "–"
    unit = "%" if scale == 100 else ""
    spread = found["interval"]
    shown = f"{scale * found['value']:.{digits}f}{unit}"
    if spread is None:
        return shown
    low, high = (scale * spread[end] + 0.0 for end in ("low", "high"))
    return f"{shown} [{low:.{digits}f}, {high:.{digits}f}]"


def _fixed(numbers: Mapping[str, list[Row]], looks: Mapping[str, Style]) -> Section | None:
    rows = [row for row in numbers["counts"] if row["protocol"].startswith("fixed:")]
    if not rows:
        return None
    budgets = sorted({*BUDGETS, *(_budget(row) for row in rows)})
    places = {budget: float(place) for place, budget in enumerate(budgets)}
    axes = Axes(
        "preset experiments B",
        "share of determined episodes that succeed",
        tuple((place, str(budget)) for budget, place in places.items()),
        SHARES,
        apart=(5.0, 1.0),
    )
    pictures = []
    for measure, title in MEASURES.items():
        for variant in VARIANTS:
            lined: dict[str, list[tuple[float, ...]]] = defaultdict(list)
            sizes: dict[str, set[int]] = defaultdict(set)
            for row in sorted(rows, key=_budget):
                if row["variant"] == variant and row[measure] is not None:
                    lined[row["player"]].append((places[_budget(row)], *_span(row[measure])))
                    sizes[row["player"]].add(row[measure]["n"])
            series = [
                Series(f"{player} ({_n(sizes[player])})", tuple(points), looks[player])
                for player, points in lined.items()
            ]
            if series:
                pictures.append(lines(f"{title} by B · {variant}", axes, series))
    table = Table("Passed episodes by budget", ["Player, twin, success", *(f"B = {b}" for b in budgets)])
    cells: dict[str, dict[int, str]] = defaultdict(dict)
    for row in rows:
        for measure in (measure for measure in MEASURES if row[measure] is not None):
            passed = f"{row[measure]['total']:.0f} of {row[measure]['n']}"
            cells[f"{_name(row)}, {measure}"][_budget(row)] = passed
    table.rows = [[name, *(found.get(b, "–") for b in budgets)] for name, found in cells.items()]
    note = (
        "Every player reads the same first B preset experiments of a family. Whiskers: 95 % intervals over "
        "families. Players stand a little apart so that equal values are all seen."
    )
    return Section("Fixed budgets", note, pictures, [table])


def _adaptive(numbers: Mapping[str, list[Row]], looks: Mapping[str, Style]) -> Section | None:
    rows = numbers["cumulative"]
    if not rows:
        return None
    x_ticks = ticks(max(4, *(row["points"][-1][0] for row in rows)))
    axes = Axes("observations", "share of determined episodes solved", x_ticks, SHARES, apart=(0.0, 1.6))
    pictures = []
    for measure, title in MEASURES.items():
        for variant in VARIANTS:
            chosen = [r for r in rows if r["measure"] == measure and r["variant"] == variant]
            if chosen:
                series = [_cumulative_line(row, x_ticks[-1][0], looks) for row in chosen]
                pictures.append(lines(f"{title} · {variant}", axes, series, steps=True))
    table = Table("Solved in the end", ["Player, twin", "weak", "strict"])
    ends: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        ends[_name(row)][row["measure"]] = f"{row['solved']} of {row['n']}"
    table.rows = [[name, found.get("weak", "–"), found.get("strict", "–")] for name, found in ends.items()]
    note = (
        "The player chooses each experiment and when to stop. The curve is the share of all determined "
        "episodes that ended in success after at most so many observations. Lines stand a little apart "
        "so that equal ones are all seen."
    )
    return Section("Adaptive: cumulative success", note, pictures, [table])


def _cumulative_line(row: Row, last: float, looks: Mapping[str, Style]) -> Series:
    """Return a step curve, marked where it rises, that goes on at its end to the end of the axis."""
    points = [(float(n), share) for n, share in row["points"]]
    rises = [p for i, p in enumerate(points) if i == 0 or p[1] != points[i - 1][1]]
    ends = [] if rises[-1][0] == last else [(last, points[-1][1])]
    return Series(f"{row['player']} (n = {row['n']})", (*rises, *ends), looks[row["player"]])


def _effort(numbers: Mapping[str, list[Row]], looks: Mapping[str, Style]) -> Section | None:
    rows = numbers["effort"]
    if not rows:
        return None
    picture = bars("Adaptive episodes by experiments used", BIN_KINDS, {_name(r): r["bins"] for r in rows})
    head = ["Player, twin", "n", "median", "most", "mean if solved", "mean if unsolved", "cost in failures"]
    table = Table("Experiments used", head)
    for row in rows:
        means = [
            f"{row[half]['mean']:.1f} (n = {row[half]['n']})" if row[half]["n"] else "–"
            for half in ("solved", "unsolved")
        ]
        share = row["cost_in_failures"]
        cost = "no cost" if share is None else f"{share:.0%} of ${row['usd']:.2f}"
        table.rows.append([_name(row), str(row["n"]), f"{row['median']:g}", str(row["most"]), *means, cost])
    note = (
        "Observations that a player asked for before it stopped; solved means weak success. The last "
        "column is the share of the money for model calls that went into unsolved episodes."
    )
    return Section("Adaptive: experiments used", note, [picture], [table])


def _beliefs(numbers: Mapping[str, list[Row]], looks: Mapping[str, Style]) -> Section | None:
    beliefs = [row for row in numbers["confidence"] if row["points"]]
    errors = numbers["forecasts"]
    if not beliefs:
        return None
    last = max(row["points"][-1]["experiments"] for row in beliefs)
    tau = {row["threshold"] for row in beliefs}
    level = tau.pop() if len(tau) == 1 else None
    words = "mean confidence" if level is None else f"mean confidence; dashed: τ = {level:g}"
    axes = Axes("observations so far", words, ticks(last), _tenths(), level, (1.5, 0.0))
    pictures = []
    for variant in VARIANTS:
        series = [_trajectory(row, looks) for row in beliefs if row["variant"] == variant]
        if series:
            pictures.append(lines(f"Confidence · {variant}", axes, series))
    spans = np.log10([point[end] for row in errors for point in row["points"] for end in ("low", "high")])
    if errors:
        y_ticks = decades(min(float(spans.min()), -1.0), max(float(spans.max()), 1.0))
        most = max(row["points"][-1]["experiment"] for row in errors)
        words = "|expected − observed| in tolerances; dashed: 1"
        error_axes = Axes("experiment", words, ticks(most), y_ticks, 0.0, (1.5, 0.0))
        for variant in VARIANTS:
            series = [_misses(row, looks) for row in errors if row["variant"] == variant]
            if series:
                pictures.append(lines(f"Expected against observed · {variant}", error_axes, series))
    note = (
        "Confidence of the most trusted hypothesis at each report, mean over the episodes that still run "
        "(whiskers: 95 % intervals over families); τ is the confidence at which a player may stop. Errors: "
        "how far that hypothesis' forecast lay from the reading, median with quartiles, on a logarithmic "
        f"axis; errors below {SMALLEST_ERROR:g} count as {SMALLEST_ERROR:g}."
    )
    return Section("Adaptive: beliefs and forecasts", note, pictures, [_steps_table(beliefs, errors)])


def _trajectory(row: Row, looks: Mapping[str, Style]) -> Series:
    points = [
        (float(p["experiments"]), p["mean"], *((p["low"], p["high"]) if p["low"] is not None else ()))
        for p in row["points"]
    ]
    return Series(f"{row['player']} (n = {row['n']})", tuple(points), looks[row["player"]])


def _misses(row: Row, looks: Mapping[str, Style]) -> Series:
    points = [
        (float(p["experiment"]), *(float(np.log10(p[end])) for end in ("median", "low", "high")))
        for p in row["points"]
    ]
    return Series(f"{row['player']} (n = {row['points'][0]['n']})", tuple(points), looks[row["player"]])


def _tenths() -> tuple[tuple[float, str], ...]:
    return tuple((value, f"{value:g}") for value in (0.0, 0.25, 0.5, 0.75, 1.0))


def _steps_table(beliefs: Sequence[Row], errors: Sequence[Row]) -> Table:
    """Return how many episodes stand behind the first points of the curves, and their values."""
    table = Table(
        "First and last reports",
        [
            "Player, twin",
            "first confidence",
            "last confidence",
            "first error",
            "last error",
            "within tolerance",
        ],
    )
    misses = {_name(row): row["points"] for row in errors}
    for row in beliefs:
        trust = [f"{p['mean']:.2f} after {p['experiments']} (n = {p['n']})" for p in _ends(row["points"])]
        found = misses.get(_name(row), [])
        missed = [f"{p['median']:.3g} at {p['experiment']} (n = {p['n']})" for p in _ends(found)]
        total = sum(p["n"] for p in found)
        within = f"{sum(p['within'] * p['n'] for p in found) / total:.0%} of {total}" if total else "–"
        table.rows.append([_name(row), *trust, *(missed or ["–", "–"]), within])
    return table


def _ends(points: Sequence[Row]) -> list[Row]:
    return [points[0], points[-1]] if points else []


def _failures(numbers: Mapping[str, list[Row]], looks: Mapping[str, Style]) -> Section | None:
    rows = numbers["failures"]
    if not rows:
        return None
    pooled: dict[str, dict[str, float]] = {}
    for row in rows:
        held = pooled.setdefault(_name(row), dict.fromkeys(CATEGORIES, 0.0))
        for kind, count in row["counts"].items():
            held[kind] += count
    kinds = [kind for kind in CATEGORIES if any(row["counts"][kind] for row in rows)]
    table = Table("Failures by protocol", ["Player, twin, protocol", "n", *kinds])
    for row in rows:
        name = f"{_name(row)}, {row['protocol']}"
        table.rows.append([name, str(row["n"]), *(str(row["counts"][kind]) for kind in kinds)])
    note = (
        "Each category is decided by program, in the order of docs/laws.md, which defines them; "
        "“solved” asks for strict success where that is possible. The picture takes all protocols together."
    )
    return Section("Failure categories", note, [bars("Why episodes failed", FAILURE_KINDS, pooled)], [table])


def _fair(numbers: Mapping[str, list[Row]], looks: Mapping[str, Style]) -> Section | None:
    rows = numbers["fairness"]
    if not rows:
        return None
    head = [
        "Player, protocol, pairs",
        "families",
        "original",
        "counterfactual",
        "difference (90 %)",
        "reading",
    ]
    table = Table("Counterfactual gap beside the complexity gap", [*head, "more nodes", "more constants"])
    by_player: dict[str, list[Gap]] = defaultdict(list)
    for row in rows:
        families = "1 family" if row["clusters"] == 1 else f"{row['clusters']} families"
        label = f"{row['protocol']}, {row['pairing']} ({families})"
        gap = f"{row['difference']:+.2f}"
        if row["low"] is None:
            by_player[row["player"]].append((label, row["difference"]))
        else:
            by_player[row["player"]].append((label, row["difference"], row["low"], row["high"]))
            gap += f" [{row['low']:+.2f}, {row['high']:+.2f}]"
        cells = [str(row["clusters"]), f"{row['original']:.2f}", f"{row['counterfactual']:.2f}", gap]
        cells += [_reading(row), f"{row['nodes']:+.1f}", f"{row['constants']:+.1f}"]
        table.rows.append([f"{row['player']}, {row['protocol']}, {row['pairing']}", *cells])
    pictures = [intervals(player, found, MARGIN, looks[player]) for player, found in by_player.items()]
    matched = sum(row["clusters"] for row in rows if row["pairing"] == "matched")
    note = (
        "Difference in weak success between the twins of a family, with its 90 % interval. Matched pairs "
        "are equally complex; there a player without a memory of textbooks should lie inside the band of "
        f"±{MARGIN:.2f}. It can only be told where success on the original is neither rare nor sure. Other "
        "counterfactuals are more complex, and their gap is to be read beside that."
    )
    if not matched:
        note += " No pair of these families is matched."
    return Section("Fairness", note, pictures, [table])


def _reading(row: Row) -> str:
    if row["pairing"] != "matched":
        return "a figure, no test"
    if not row["sensitive"]:
        return "cannot be told"
    return "equivalent" if row["equivalent"] else "not equivalent"


def _name(row: Row) -> str:
    return f"{row['player']}, {row['variant']}"


def _budget(row: Row) -> int:
    return int(row["protocol"].partition(":")[2])


def _span(found: Row) -> tuple[float, ...]:
    spread = found["interval"]
    return (found["value"], spread["low"], spread["high"]) if spread else (found["value"],)


def _n(sizes: Iterable[int]) -> str:
    low, high = min(sizes), max(sizes)
    return f"n = {low}" if low == high else f"n = {low} to {high}"
