"""Two charts as inline SVG: lines over an axis, and bars of counts; readable at 320 px and at 700 px."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0b4f8a", "#a33b00", "#2c6e2f", "#6a3d9a", "#8a6d00", "#444444", "#b0175c", "#00737a")
DASHES = ("", "6 3", "2 3", "8 3 2 3")
"""Dashes as well as colours tell series apart."""
INK, GRID = "#1c1c1c", "#d5d5d5"
WIDTH, PLOT = 340, 190
LEFT, RIGHT, TOP = 44, 330, 34
LEGEND = 17
LONGEST = 46
MOST_MARKED = 20


@dataclass(frozen=True)
class Series:
    """One line: its name and its points (x, y), or (x, y, low, high) with an interval."""

    name: str
    points: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Axes:
    """Names of both axes; ``ticks``: places and texts on x; ``top``: the largest y; ``log``: y is log10."""

    x: str
    y: str
    ticks: tuple[tuple[float, str], ...]
    low: float = 0.0
    top: float = 1.0
    percent: bool = True


def lines(title: str, axes: Axes, series: Sequence[Series]) -> str:
    """Return a chart of lines with marks at their points and whiskers where there are intervals."""
    bottom = TOP + PLOT
    height = bottom + 40 + LEGEND * len(series)
    left, right = axes.ticks[0][0], axes.ticks[-1][0]
    span = (right - left) or 1.0

    def x(value: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (value - left) / span, 1)

    def y(value: float) -> float:
        share = (min(max(value, axes.low), axes.top) - axes.low) / (axes.top - axes.low)
        return round(bottom - PLOT * share, 1)

    said = "; ".join(
        f"{item.name}: " + ", ".join(f"{p[0]:g} → {p[1]:.3g}" for p in item.points) for item in series
    )
    parts = [_head(title, height, f"{title}. {axes.y} against {axes.x}. {said}.")]
    for share in (0, 0.25, 0.5, 0.75, 1):
        value = axes.low + share * (axes.top - axes.low)
        text = f"{value:.0%}" if axes.percent else f"{value:.3g}"
        parts.append(f'<path d="M{LEFT} {y(value)}H{RIGHT}" stroke="{GRID}"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y(value) + 4}" text-anchor="end">{text}</text>')
    for place, text in axes.ticks:
        parts.append(f'<text x="{x(place)}" y="{bottom + 15}" text-anchor="middle">{escape(text)}</text>')
    parts.append(
        f'<text x="{(LEFT + RIGHT) / 2}" y="{bottom + 31}" text-anchor="middle">{escape(axes.x)}</text>'
    )
    for number, item in enumerate(series):
        parts += _line(number, len(series), [(x(p[0]), *(y(v) for v in p[1:])) for p in item.points])
        place = bottom + 48 + LEGEND * number
        parts.append(
            f'<path d="M{LEFT} {place - 4}h22" {_stroke(number)}/>{_mark(LEFT + 11, place - 4, number)}'
        )
        parts.append(f'<text x="{LEFT + 30}" y="{place}">{escape(_short(item.name))}</text>')
    return "".join([*parts, "</svg>"])


def _line(number: int, count: int, places: Sequence[tuple[float, ...]]) -> list[str]:
    """Draw one series at its places on the picture: its path, whiskers, and marks where there are few."""
    if not places:
        return []
    path = "L".join(f"{place[0]} {place[1]}" for place in places)
    parts = [f'<path d="M{path}" fill="none" {_stroke(number)}/>']
    for place in places:
        if len(place) == 4:
            at = place[0] + 2 * (number - (count - 1) / 2)
            parts.append(
                f'<path d="M{at} {place[2]}V{place[3]}" stroke="{_colour(number)}" stroke-opacity=".55"/>'
            )
        if len(places) <= MOST_MARKED:
            parts.append(_mark(place[0], place[1], number))
    return parts


def bars(title: str, rows: Mapping[str, Mapping[str, float]]) -> str:
    """Return shares of each row's total as one stacked bar a row, with a legend of the kinds."""
    kinds = list(dict.fromkeys(kind for counts in rows.values() for kind, value in counts.items() if value))
    height = TOP + 40 * len(rows) + 8 + LEGEND * len(kinds)
    said = "; ".join(
        f"{name}: " + ", ".join(f"{value:g} {kind}" for kind, value in counts.items() if value)
        for name, counts in rows.items()
    )
    parts = [_head(title, height, f"{title}. {said}.")]
    for number, (name, counts) in enumerate(rows.items()):
        top, at = TOP + 40 * number, 12.0
        total = sum(counts.values()) or 1.0
        parts.append(f'<text x="12" y="{top + 8}">{escape(_short(name))} ({total:g})</text>')
        for kind, value in counts.items():
            width = 318 * value / total
            if value:
                colour = COLOURS[kinds.index(kind) % len(COLOURS)]
                box = f'x="{at:.1f}" y="{top + 13}" width="{width:.1f}" height="17"'
                parts.append(f'<rect {box} fill="{colour}" stroke="#fff"/>')
                if width > 24:
                    middle = at + width / 2
                    text = f'x="{middle:.1f}" y="{top + 26}" text-anchor="middle" fill="#fff"'
                    parts.append(f"<text {text}>{value:g}</text>")
            at += width
    for number, kind in enumerate(kinds):
        place = TOP + 40 * len(rows) + 12 + LEGEND * number
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<rect x="12" y="{place - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="30" y="{place}">{escape(kind)}</text>')
    return "".join([*parts, "</svg>"])


def intervals(title: str, rows: Sequence[tuple[str, float, float, float]], margin: float) -> str:
    """Return differences with their intervals against an equivalence margin, all between -1 and 1."""
    height = TOP + 40 * len(rows) + 26

    def x(value: float) -> float:
        return round(171 + 159 * min(max(value, -1.0), 1.0), 1)

    said = "; ".join(f"{name}: {value:+.3f} ({low:+.3f} to {high:+.3f})" for name, value, low, high in rows)
    parts = [_head(title, height, f"{title}. {said}.")]
    box = f'x="{x(-margin)}" y="{TOP - 6}" width="{x(margin) - x(-margin):.1f}" height="{40 * len(rows) + 6}"'
    parts.append(f'<rect {box} fill="#e6eef5"/>')
    for value in (-1.0, -0.5, 0.0, 0.5, 1.0):
        parts.append(f'<path d="M{x(value)} {TOP - 6}V{height - 24}" stroke="{GRID}"/>')
        parts.append(f'<text x="{x(value)}" y="{height - 8}" text-anchor="middle">{value:+.1f}</text>')
    for number, (name, value, low, high) in enumerate(rows):
        y = TOP + 40 * number + 22
        ends = f"M{x(low)} {y - 4}V{y + 4}M{x(high)} {y - 4}V{y + 4}"
        parts.append(f'<text x="12" y="{y - 14}">{escape(_short(name))}</text>')
        parts.append(f'<path d="M{x(low)} {y}H{x(high)}{ends}" stroke="{COLOURS[0]}" stroke-width="2"/>')
        parts.append(f'<circle cx="{x(value)}" cy="{y}" r="4" fill="{COLOURS[0]}"/>')
    return "".join([*parts, "</svg>"])


def ticks(top: float, count: int = 5) -> tuple[tuple[float, str], ...]:
    """Return whole ticks from 0 to ``top``."""
    step = max(1, math.ceil(top / count))
    last = max(step * math.ceil(top / step), step)
    return tuple((float(value), str(value)) for value in range(0, last + 1, step))


def _head(title: str, height: float, said: str) -> str:
    label = f'aria-label="{escape(said, quote=True)}"'
    name = f'<text x="12" y="16" font-weight="bold" font-size="13">{escape(title)}</text>'
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" {label} font-size="12" fill="{INK}">{name}'


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _stroke(number: int) -> str:
    dash = DASHES[number // 2 % len(DASHES)]
    return f'stroke="{_colour(number)}" stroke-width="2" stroke-dasharray="{dash}"'


def _mark(x: float, y: float, number: int) -> str:
    if number % 2:
        shape = f"M{x} {y - 5}L{x + 5} {y}L{x} {y + 5}L{x - 5} {y}Z"
        return f'<path d="{shape}" fill="#fff" stroke="{_colour(number)}" stroke-width="2"/>'
    return f'<circle cx="{x}" cy="{y}" r="3.5" fill="{_colour(number)}"/>'


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
