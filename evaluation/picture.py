"""Success rates with their intervals as small pictures: inline SVG, readable at 320 px and at 600 px."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from evaluation.statistics import Cell, CellKey

WIDTH = 340
LEFT, RIGHT = 12, 328
ROW = 52
LINES = (22, 35)
"""Where in a player's row the original and the counterfactual stand."""
TOP, BOTTOM = 30, 26
LONGEST_NAME = 44
COLOURS = {"original": "#0b4f8a", "counterfactual": "#a33b00"}
INK, GRID = "#1c1c1c", "#d5d5d5"


def panel(title: str, rows: Sequence[tuple[str, Cell]]) -> str:
    """Return one panel: a row per player, its twins' weak success rates with their intervals.

    Args:
        title: what the panel shows; also its accessible name.
        rows: (player, cell); players stand in the order of their first cell.
    """
    players = list(dict.fromkeys(player for player, _ in rows))
    height = TOP + ROW * len(players) + BOTTOM
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(_spoken(title, rows))}" '
        f'font-size="12" fill="{INK}">',
        f'<text x="{LEFT}" y="16" font-weight="bold" font-size="13">{escape(title)}</text>',
        *_axis(height),
    ]
    for index, player in enumerate(players):
        top = TOP + ROW * index
        parts.append(f'<text x="{LEFT}" y="{top + 10}">{escape(_short(player))}</text>')
        for cell in (cell for name, cell in rows if name == player and cell.weak is not None):
            parts += _mark(top, cell)
    return "".join([*parts, "</svg>"])


def panels(sections: Sequence[tuple[CellKey, list[tuple[str, Cell]]]]) -> list[str]:
    """Return a panel for each setting and protocol of a board's sections."""
    made = []
    for key, rows in sections:
        for protocol in dict.fromkeys(cell.key.protocol for _, cell in rows):
            chosen = [(player, cell) for player, cell in rows if cell.key.protocol == protocol]
            made.append(panel(f"{key.family} {key.collection} · {key.setting} · {protocol}", chosen))
    return made


def _x(share: float) -> float:
    return round(LEFT + (RIGHT - LEFT) * share, 1)


def _axis(height: int) -> list[str]:
    parts = []
    for percent in (0, 25, 50, 75, 100):
        x = _x(percent / 100)
        anchor = {0: "start", 100: "end"}.get(percent, "middle")
        parts.append(f'<path d="M{x} {TOP - 6}V{height - BOTTOM + 4}" stroke="{GRID}"/>')
        parts.append(f'<text x="{x}" y="{height - 8}" text-anchor="{anchor}">{percent}%</text>')
    return parts


def _mark(top: int, cell: Cell) -> list[str]:
    hollow = cell.key.variant == "counterfactual"
    y, colour, weak = top + LINES[hollow], COLOURS.get(cell.key.variant, INK), cell.weak
    assert weak is not None
    parts = []
    if weak.interval is not None:
        low, high = _x(weak.interval.low), _x(weak.interval.high)
        ends = f"M{low} {y - 4}V{y + 4}M{high} {y - 4}V{y + 4}"
        parts.append(f'<path d="M{low} {y}H{high}{ends}" stroke="{colour}" stroke-width="2"/>')
    # Shape as well as colour tells the twins apart.
    x = _x(weak.value)
    fill = "#fff" if hollow else colour
    style = f'fill="{fill}" stroke="{colour}" stroke-width="2"'
    if hollow:
        parts.append(f'<path d="M{x} {y - 6}L{x + 6} {y}L{x} {y + 6}L{x - 6} {y}Z" {style}/>')
    else:
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" {style}/>')
    return parts


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _spoken(title: str, rows: Sequence[tuple[str, Cell]]) -> str:
    said = [
        f"{player}, {cell.key.variant}: {cell.weak.value:.0%}"
        for player, cell in rows
        if cell.weak is not None
    ]
    return f"Weak success rate, {title}. {'; '.join(said)}."
