"""Four charts as inline SVG: lines, stacked bars, a grid of rates, intervals; readable from 320 to 700 px."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from evaluation.marks import INK, Style, mark, stroke, swatch

GRID = "#d5d5d5"
HALO = 'paint-order="stroke" stroke="#fff" stroke-width="3"'
"""Keeps a text readable across lines."""
WIDTH, PLOT = 340, 190
LEFT, RIGHT, TOP = 46, 326, 52
LEGEND = 18
LONGEST = 46
MOST_MARKED = 17
LETTER = 6.3
"""Mean width of a letter at 12 px; decides whether a text fits into a segment."""


@dataclass(frozen=True)
class Series:
    """One line: its name, its points (x, y) or (x, y, low, high) with an interval, and how it is drawn."""

    name: str
    points: tuple[tuple[float, ...], ...]
    style: Style


@dataclass(frozen=True)
class Axes:
    """Both axes: their names and their ticks as (place, text); y runs from its first tick to its last.

    ``line``: a level that is drawn across, dashed. ``apart``: pixels by which the series are set
    side by side, across and upwards, so that lines that coincide are all seen.
    """

    x: str
    y: str
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    line: float | None = None
    apart: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Kind:
    """One kind of segment of a stacked bar: its name, colour, colour of text on it, and a short code."""

    name: str
    colour: str
    text: str = "#fff"
    code: str = ""


SHARES = ((0.0, "0%"), (0.25, "25%"), (0.5, "50%"), (0.75, "75%"), (1.0, "100%"))
"""Ticks of an axis of shares."""


def lines(title: str, axes: Axes, series: Sequence[Series], *, steps: bool = False) -> str:
    """Return a chart of lines with marks at their points and whiskers where there are intervals.

    ``steps``: the value holds until the next point, as a count does.
    """
    bottom = TOP + PLOT
    height = bottom + 44 + LEGEND * len(series)
    said = "; ".join(
        f"{item.name}: " + ", ".join(f"{p[0]:g} → {p[1]:.3g}" for p in item.points) for item in series
    )
    parts = [_head(title, height, f"{title}. {axes.y} against {axes.x}. {said}.")]
    parts += _frame(axes, bottom)
    legend = []
    for number, item in enumerate(series):
        shift = number - (len(series) - 1) / 2
        places = [
            (
                _x(axes, p[0]) + axes.apart[0] * shift,
                *(_y(axes, v) - axes.apart[1] * shift for v in p[1:]),
            )
            for p in item.points
        ]
        parts += _line(item.style, places, steps=steps)
        at = bottom + 53 + LEGEND * number
        legend.append(swatch(item.style, LEFT, at - 4))
        legend.append(f'<text x="{LEFT + 34}" y="{at}">{escape(short(item.name, LONGEST - 4))}</text>')
    return "".join([*parts, *legend, "</svg>"])


def _frame(axes: Axes, bottom: float) -> list[str]:
    parts = [f'<text x="12" y="36" fill="#444">{escape(axes.y)}</text>']
    for value, text in axes.y_ticks:
        parts.append(f'<path d="M{LEFT} {_y(axes, value)}H{RIGHT}" stroke="{GRID}"/>')
        parts.append(
            f'<text x="{LEFT - 5}" y="{_y(axes, value) + 4}" text-anchor="end">{escape(text)}</text>'
        )
    for value, text in axes.x_ticks:
        x = _x(axes, value)
        parts.append(f'<path d="M{x} {bottom}v4" stroke="#888"/>')
        parts.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{escape(text)}</text>')
    middle = (LEFT + RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{bottom + 34}" text-anchor="middle" fill="#444">{escape(axes.x)}</text>'
    )
    if axes.line is not None:
        y = _y(axes, axes.line)
        parts.append(f'<path d="M{LEFT} {y}H{RIGHT}" stroke="#666" stroke-dasharray="4 3"/>')
    return parts


def _x(axes: Axes, value: float) -> float:
    low, high = axes.x_ticks[0][0], axes.x_ticks[-1][0]
    inset = 16.0
    return round(LEFT + inset + (RIGHT - LEFT - 2 * inset) * (value - low) / ((high - low) or 1.0), 1)


def _y(axes: Axes, value: float) -> float:
    low, high = axes.y_ticks[0][0], axes.y_ticks[-1][0]
    share = (min(max(value, low), high) - low) / (high - low)
    return round(TOP + PLOT - PLOT * share, 1)


def _line(style: Style, places: Sequence[tuple[float, ...]], *, steps: bool) -> list[str]:
    """Draw one series at its places on the picture: its path, whiskers, and marks where there are few."""
    if not places:
        return []
    path = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(
        f"H{place[0]:.1f}V{place[1]:.1f}" if steps else f"L{place[0]:.1f} {place[1]:.1f}"
        for place in places[1:]
    )
    parts = [f'<path d="{path}" fill="none" {stroke(style)}/>']
    for place in places:
        if len(place) == 4:
            ends = f"M{place[0]:.1f} {place[2]:.1f}V{place[3]:.1f}"
            parts.append(f'<path d="{ends}" stroke="{style.colour}" stroke-opacity=".6"/>')
    # Marks of a long line stand apart, the first and the last always.
    gap = max(1, math.ceil((len(places) - 1) / (MOST_MARKED - 1)))
    shown = {*range(0, len(places), gap), len(places) - 1}
    parts += [mark(style, places[index][0], places[index][1]) for index in sorted(shown)]
    return parts


def bars(title: str, kinds: Sequence[Kind], rows: Mapping[str, Mapping[str, float]]) -> str:
    """Return counts as one stacked bar a row, as wide as the row's total whatever that is, with a legend.

    Args:
        title: of the picture.
        kinds: of segments, from left to right; those that never occur are left out of the legend.
        rows: count by kind, by row.
    """
    used = [kind for kind in kinds if any(counts.get(kind.name) for counts in rows.values())]
    foot = TOP - 16 + 40 * len(rows)
    height = foot + 8 + LEGEND * len(used)
    said = "; ".join(
        f"{name}: " + ", ".join(f"{value:g} {kind}" for kind, value in counts.items() if value)
        for name, counts in rows.items()
    )
    parts = [_head(title, height, f"{title}. {said}.")]
    for number, (name, counts) in enumerate(rows.items()):
        top = TOP - 16 + 40 * number
        total = sum(counts.values())
        parts.append(f'<text x="12" y="{top + 6}">{escape(short(f"{name} (n = {total:g})"))}</text>')
        parts += _segments(used, counts, total or 1.0, top + 11)
    for number, kind in enumerate(used):
        at = foot + 14 + LEGEND * number
        parts.append(f'<rect x="12" y="{at - 11}" width="18" height="14" fill="{kind.colour}"/>')
        parts.append(
            f'<text x="21" y="{at}" text-anchor="middle" font-size="11" fill="{kind.text}">{kind.code}</text>'
        )
        parts.append(f'<text x="36" y="{at}">{escape(kind.name)}</text>')
    return "".join([*parts, "</svg>"])


def _segments(kinds: Sequence[Kind], counts: Mapping[str, float], total: float, top: float) -> list[str]:
    parts, at = [], 12.0
    for kind in kinds:
        value = counts.get(kind.name, 0.0)
        width = (WIDTH - 24) * value / total
        if value:
            box = f'x="{at:.1f}" y="{top}" width="{width:.1f}" height="18"'
            parts.append(f'<rect {box} fill="{kind.colour}" stroke="#fff"/>')
            for text in (f"{kind.code} {value:g}".strip(), f"{value:g}"):
                if len(text) * LETTER + 4 < width:
                    where = f'x="{at + width / 2:.1f}" y="{top + 13}" text-anchor="middle"'
                    parts.append(f'<text {where} fill="{kind.text}">{text}</text>')
                    break
        at += width
    return parts


@dataclass(frozen=True)
class Box:
    """One value of a grid: a share in [0, 1] for its shade, its text, and a smaller line below."""

    share: float
    text: str
    below: str = ""


def grid(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[Box | None]]) -> str:
    """Return shares as a table of shaded boxes; None is an empty place."""
    height = TOP + 52 * len(rows) + 2
    said = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{column} {box.text} ({box.below})"
            for column, box in zip(columns, boxes, strict=True)
            if box is not None
        )
        for name, boxes in rows.items()
    )
    parts = [_head(title, height, f"{title}. {said}.")]
    step = (WIDTH - 24) / len(columns)
    for place, column in enumerate(columns):
        middle = 12 + step * (place + 0.5)
        parts.append(
            f'<text x="{middle:.1f}" y="38" text-anchor="middle" font-size="10">{escape(column)}</text>'
        )
    for number, (name, boxes) in enumerate(rows.items()):
        top = TOP + 52 * number
        parts.append(f'<text x="12" y="{top + 7}">{escape(short(name))}</text>')
        for place, box in enumerate(boxes):
            if box is not None:
                parts += _box(box, 12 + step * place, top + 12, step)
    return "".join([*parts, "</svg>"])


def _box(box: Box, x: float, y: float, width: float) -> list[str]:
    # From nearly white to dark blue; the text turns where the ground is dark.
    low, high = (238, 244, 250), (11, 79, 138)
    share = min(max(box.share, 0.0), 1.0)
    ground = ",".join(str(round(a + (b - a) * share)) for a, b in zip(low, high, strict=True))
    ink = "#fff" if share > 0.55 else INK
    middle = f'x="{x + width / 2:.1f}" text-anchor="middle" fill="{ink}"'
    return [
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="34" fill="rgb({ground})" stroke="#fff"/>',
        f'<text {middle} y="{y + 15}">{escape(box.text)}</text>',
        f'<text {middle} y="{y + 28}" font-size="9.5">{escape(box.below)}</text>',
    ]


Gap = tuple[str, float] | tuple[str, float, float, float]
"""A name and a difference, with the ends of its interval where there is one."""


def intervals(title: str, rows: Sequence[Gap], margin: float, style: Style) -> str:
    """Return one player's differences between twins against an equivalence margin, all between -1 and 1."""
    first, step = TOP + 2, 38
    foot = first + step * len(rows)

    def x(value: float) -> float:
        return round(171 + 146 * min(max(value, -1.0), 1.0), 1)

    axis = "weak success, counterfactual − original"
    said = "; ".join(
        f"{row[0]}: {row[1]:+.3f}" + (f" ({row[2]:+.3f} to {row[3]:+.3f})" if len(row) == 4 else "")
        for row in rows
    )
    parts = [_head(title, foot + 24, f"{title}. {axis}. {said}.")]
    parts.append(f'<text x="12" y="36" fill="#444">{axis}</text>')
    size = f'width="{x(margin) - x(-margin):.1f}" height="{step * len(rows) + 6}"'
    parts.append(f'<rect x="{x(-margin)}" y="{first - 6}" {size} fill="#dfeaf3"/>')
    for value, text in ((-1.0, "−1"), (-0.5, "−0.5"), (0.0, "0"), (0.5, "+0.5"), (1.0, "+1")):
        parts.append(f'<path d="M{x(value)} {first - 6}V{foot}" stroke="{GRID}"/>')
        parts.append(f'<text x="{x(value)}" y="{foot + 16}" text-anchor="middle">{text}</text>')
    for number, row in enumerate(rows):
        y = first + step * number + 22
        parts.append(f'<text x="12" y="{y - 11}" {HALO}>{escape(short(row[0]))}</text>')
        if len(row) == 4:
            low, high = x(row[2]), x(row[3])
            ends = f"M{low} {y}H{high}M{low} {y - 4}V{y + 4}M{high} {y - 4}V{y + 4}"
            parts.append(f'<path d="{ends}" stroke="{style.colour}" stroke-width="2"/>')
        parts.append(mark(style, x(row[1]), y))
    return "".join([*parts, "</svg>"])


def ticks(top: float, count: int = 6) -> tuple[tuple[float, str], ...]:
    """Return whole ticks from 0 to at least ``top`` in at most ``count`` steps of 1, 2, 4 or 5 times 10^k."""
    sizes = (size * 10**power for power in range(9) for size in (1, 2, 4, 5))
    step = next(size for size in sizes if size * count >= top)
    last = max(1, math.ceil(top / step))
    return tuple((float(step * index), str(step * index)) for index in range(last + 1))


def decades(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return ticks at powers of ten that span log10 values from ``low`` to ``high``, six at most."""
    first, last = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    step = max(1, math.ceil((last - first) / 5))
    places = range(first, last + step, step)
    return tuple((float(power), f"{10.0**power:g}" if abs(power) < 4 else f"1e{power}") for power in places)


def short(name: str, longest: int = LONGEST) -> str:
    """Return a name cut to what fits into a picture."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _head(title: str, height: float, said: str) -> str:
    label = f'aria-label="{escape(said, quote=True)}"'
    name = f'<text x="12" y="18" font-weight="bold" font-size="13">{escape(title)}</text>'
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" {label} font-size="12" fill="{INK}">{name}'
