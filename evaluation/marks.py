"""How players are told apart in pictures: a colour, a mark and a dash each, the same on every picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

INK = "#1c1c1c"
COLOURS = ("#0b4f8a", "#d55e00", "#00865f", "#b0479a", "#000000", "#3d97d3", "#9a7400", "#7a3e00")
"""Told apart with the common kinds of colour blindness, and dark enough on white."""
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2")
MARKS = ("circle", "diamond", "square", "triangle", "cross", "ring", "wedge", "plus")


@dataclass(frozen=True)
class Style:
    """How one player is drawn."""

    colour: str
    mark: str
    dash: str


def styles(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each name in order; colour and mark together differ for up to 64 names."""
    found = {}
    for number, name in enumerate(dict.fromkeys(names)):
        turn = number // len(COLOURS)
        found[name] = Style(
            COLOURS[number % len(COLOURS)],
            MARKS[(number + turn) % len(MARKS)],
            DASHES[(number + turn) % len(DASHES)],
        )
    return found


def stroke(style: Style) -> str:
    """Return the attributes of a player's line."""
    return f'stroke="{style.colour}" stroke-width="1.8" stroke-dasharray="{style.dash}"'


def swatch(style: Style, x: float, y: float) -> str:
    """Return a piece of a player's line with its mark, for a legend."""
    return f'<path d="M{x} {y}h28" {stroke(style)}/>{mark(style, x + 14, y)}'


def mark(style: Style, x: float, y: float) -> str:
    """Return a player's mark at a place."""
    x, y = round(x, 1), round(y, 1)
    full = f'fill="{style.colour}" stroke="#fff" stroke-width=".8"'
    open_ = f'fill="#fff" stroke="{style.colour}" stroke-width="2"'
    bare = f'fill="none" stroke="{style.colour}" stroke-width="2.2"'
    match style.mark:
        case "circle":
            return f'<circle cx="{x}" cy="{y}" r="4" {full}/>'
        case "ring":
            return f'<circle cx="{x}" cy="{y}" r="3.6" {open_}/>'
        case "square":
            return f'<path d="M{x - 3.8} {y - 3.8}h7.6v7.6h-7.6Z" {full}/>'
        case "diamond":
            return f'<path d="M{x} {y - 4.8}l4.8 4.8l-4.8 4.8l-4.8 -4.8Z" {open_}/>'
        case "triangle":
            return f'<path d="M{x} {y - 4.8}l4.8 8.4h-9.6Z" {full}/>'
        case "wedge":
            return f'<path d="M{x} {y + 4.8}l4.8 -8.4h-9.6Z" {open_}/>'
        case "cross":
            return f'<path d="M{x - 4} {y - 4}l8 8m0 -8l-8 8" {bare}/>'
        case _:
            return f'<path d="M{x - 4.8} {y}h9.6m-4.8 -4.8v9.6" {bare}/>'
