"""The board's tables of named parts: players side by side, one table for each setting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.parts import PartFigure, PartRow

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class PartTable:
    """One table as text. ``columns`` are the headings; ``rows`` hold (player, n, cells)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, int, tuple[str, ...]], ...]


def part_tables(entries: Iterable[tuple[str, Sequence[PartRow]]]) -> list[PartTable]:
    """Return the tables of (player, rows) entries, players by name."""
    groups: dict[tuple[str, str, str, str], list[tuple[str, PartRow]]] = defaultdict(list)
    for player, rows in entries:
        for row in rows:
            groups[(row.family, row.setting, row.collection, row.protocol)].append((player, row))
    tables = []
    for (family, setting, collection, protocol), group in groups.items():
        # A tier that stands in the setting already is not said twice.
        words = [family, setting, *([] if setting.endswith(collection) else [collection]), protocol]
        headings = tuple(dict.fromkeys(figure.heading for _, row in group for figure in row.figures))
        if headings:
            lines = [_line(player, row, headings) for player, row in group]
            tables.append(PartTable(" · ".join(words), headings, tuple(sorted(lines))))
    return sorted(tables, key=lambda table: table.title)


def figure_text(figure: PartFigure) -> str:
    """Return a figure with its interval: ``0.55 [0.31, 0.79]``; a paired one carries its sign."""
    sign = "+" if figure.paired else ""
    text = f"{figure.value:{sign}.2f}"
    if figure.interval is None:
        return text
    return f"{text} [{figure.interval.low:{sign}.2f}, {figure.interval.high:{sign}.2f}]"


def rich_table(table: PartTable) -> Table:
    """Return a table for the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=table.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    made.add_column("player", no_wrap=True)
    made.add_column("n", justify="right")
    for heading in table.columns:
        made.add_column(heading, overflow="fold")
    for player, n, cells in table.rows:
        # The interval on a line of its own keeps five measures inside 80 columns.
        made.add_row(player, str(n), *(cell.replace(" [", "\n[") for cell in cells))
    return made


def _line(player: str, row: PartRow, headings: Sequence[str]) -> tuple[str, int, tuple[str, ...]]:
    found = {figure.heading: figure_text(figure) for figure in row.figures}
    return player, row.n, tuple(found.get(heading, "–") for heading in headings)
