"""The board: runs of one release side by side, as data and as a table in the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evaluation.part_table import PartTable, part_tables, rich_table
from evaluation.parts import PartRow, part_rows
from evaluation.statistics import Cell, CellKey, Estimate, Gap, Interval, cells, gaps, join, protocol_order
from evaluation.stored import StoredRun, seatings

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Known = Mapping[str, tuple[str, Mapping[str, str]]]


@dataclass(frozen=True)
class Entry:
    """One player on a board, with everything that it played on this release."""

    player: str
    runs: tuple[str, ...]
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...]
    parts: tuple[PartRow, ...] = ()


@dataclass(frozen=True)
class Board:
    """All players of one release. ``window`` says which papers could enter it."""

    version: str
    sha256: str
    window: str
    entries: tuple[Entry, ...]

    def sections(self) -> list[tuple[CellKey, list[tuple[str, Cell]]]]:
        """Return board rows by (family, collection, setting): comparable ones together, best first."""
        groups: dict[tuple[str, str, str], list[tuple[str, Cell]]] = defaultdict(list)
        for entry in self.entries:
            for cell in entry.cells:
                if cell.on_board:
                    key = cell.key
                    groups[(key.family, key.collection, key.setting)].append((entry.player, cell))
        found = []
        for family, collection, setting in sorted(groups):
            rows = sorted(groups[(family, collection, setting)], key=_row_order)
            found.append((CellKey(family, setting, "", "", collection), rows))
        return found

    def part_tables(self) -> list[PartTable]:
        """Return the tables of the parts that families name."""
        return part_tables((entry.player, entry.parts) for entry in self.entries)

    def withheld(self) -> list[tuple[str, Cell]]:
        """Return the cells with too few determined episodes for a row."""
        return [(entry.player, cell) for entry in self.entries for cell in entry.cells if not cell.on_board]


@dataclass(frozen=True)
class GapRow:
    """One player's counterfactual gaps under one setting and protocol, as text."""

    player: str
    family: str
    setting: str
    protocol: str
    weak: str
    strict: str


GAP_TITLE = "Counterfactual gap: original minus counterfactual, paired by family, percentage points"


def gap_rows(board: Board) -> list[GapRow]:
    """Return a board's gaps, comparable ones together."""
    found: dict[tuple[Any, ...], dict[str, str]] = defaultdict(dict)
    for entry in board.entries:
        for gap in entry.gaps:
            place = (
                gap.family,
                gap.collection,
                gap.setting,
                protocol_order(gap.protocol),
                entry.player,
                gap.protocol,
            )
            found[place][gap.measure] = gap_text(gap)
    return [
        GapRow(place[4], place[0], place[2], place[5], texts.get("weak", "–"), texts.get("strict", "–"))
        for place, texts in sorted(found.items())
    ]


def boards(runs: Sequence[StoredRun], known: Mapping[str, Known] | None = None) -> list[Board]:
    """Return one board for each release, newest version first.

    Runs of one player on one release are put together slot by slot; where two played the same slot,
    the later run's settled row counts.

    Args:
        runs: from ``load_run``.
        known: by the release's manifest digest, the sealed words of its tasks where they are at hand.
    """
    groups: dict[str, list[StoredRun]] = defaultdict(list)
    for run in runs:
        groups[run.manifest["release"]["sha256"]].append(run)
    found = [_board(sha256, group, (known or {}).get(sha256)) for sha256, group in groups.items()]
    return sorted(found, key=lambda board: _version_order(board.version), reverse=True)


def summary(run: StoredRun, known: Known | None = None) -> dict[str, Any]:
    """Return the content of summary.json: cells and gaps of one run."""
    outcomes = join(run.slots, run.rows, known)
    return {
        "run": run.name,
        "release": dict(run.manifest["release"]),
        "player": run.manifest["player"]["name"],
        "cells": [cell_document(cell) for cell in cells(outcomes)],
        "gaps": [asdict(gap) for gap in gaps(outcomes)],
        "parts": [asdict(row) for row in part_rows(outcomes)],
    }


def board_document(board: Board) -> dict[str, Any]:
    """Return a board as plain JSON."""
    entries = [
        {
            "player": entry.player,
            "runs": list(entry.runs),
            "cells": [cell_document(cell) for cell in entry.cells],
            "gaps": [asdict(gap) for gap in entry.gaps],
            "parts": [asdict(row) for row in entry.parts],
        }
        for entry in board.entries
    ]
    release = {"version": board.version, "sha256": board.sha256, "window": board.window}
    return {"release": release, "entries": entries}


def cell_document(cell: Cell) -> dict[str, Any]:
    """Return a cell as plain JSON, with whether it has a row on the board."""
    return asdict(cell) | {"on_board": cell.on_board}


def print_boards(found: Sequence[Board], console: Console) -> None:
    """Print boards as tables."""
    for board in found:
        console.print(
            f"release {board.version} · manifest {board.sha256[:16]}… · {board.window}", highlight=False
        )
        for key, rows in board.sections():
            console.print(_section(key, rows))
        for table in board.part_tables():
            console.print(rich_table(table))
        paired = gap_rows(board)
        if paired:
            console.print(_gap_table(paired))
        for player, cell in board.withheld():
            console.print(
                f"no row: {player}, {cell_name(cell.key)}: {withheld_reason(cell)}", highlight=False
            )


def cell_name(key: CellKey) -> str:
    """Return a cell's words as one phrase."""
    return f"{key.family} {key.collection} {key.setting} {key.variant} {key.protocol}"


def withheld_reason(cell: Cell) -> str:
    """Say why a cell has no row, with the bounds that its open episodes leave."""
    reason = f"{cell.coverage:.1%} of {cell.n} episodes determined, 98% needed ({statuses_text(cell)})"
    if cell.weak is None:
        return reason
    low, high = cell.weak.bounds
    return f"{reason}; weak between {low:.0%} and {high:.0%}"


def statuses_text(cell: Cell) -> str:
    """Return the counts of the statuses that occur: ``38 scored, 2 missing``."""
    return ", ".join(f"{count} {status}" for status, count in cell.statuses.items() if count) or "none"


def rate_text(estimate: Estimate | None) -> str:
    """Return a success rate with its interval in per cent."""
    if estimate is None:
        return "–"
    return f"{estimate.value:.0%}{_interval_text(estimate.interval, 100, 0)}"


def mean_text(estimate: Estimate | None) -> str:
    """Return a mean prediction score with its interval."""
    if estimate is None:
        return "–"
    return f"{estimate.value:.3f}{_interval_text(estimate.interval, 1, 3)}"


def gap_text(gap: Gap) -> str:
    """Return a gap with its interval in percentage points, and the number of pairs."""
    return f"{100 * gap.value:+.0f}{_interval_text(gap.interval, 100, 0, sign='+')} of {gap.pairs}"


def _interval_text(interval: Interval | None, scale: float, digits: int, sign: str = "") -> str:
    if interval is None:
        return ""
    low, high = scale * interval.low + 0.0, scale * interval.high + 0.0
    return f" [{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"


def _section(key: CellKey, rows: Sequence[tuple[str, Cell]]) -> Table:
    """Return a table that fits 80 columns: a line for each protocol and variant, its players below."""
    table = _table(f"{key.family} · {key.collection} · {key.setting}")
    table.add_column("player")
    table.add_column("n", justify="right")
    for heading in ("statuses", "PS", "weak", "strict"):
        table.add_column(heading, overflow="fold")
    before = ""
    for player, cell in rows:
        condition = f"{cell.key.protocol}, {cell.key.variant}"
        if condition != before:
            table.add_section()
            table.add_row(f"[bold]{condition}[/bold]")
            before = condition
        mean = "–" if cell.prediction is None else f"{cell.prediction.value:.3f}"
        strict = rate_text(cell.strict) + (
            f" ({cell.weak_only} weak-only out)" if cell.weak_only and cell.strict else ""
        )
        table.add_row(f"  {player}", f"{cell.n}", statuses_text(cell), mean, rate_text(cell.weak), strict)
    return table


def _gap_table(rows: Sequence[GapRow]) -> Table:
    table = _table(GAP_TITLE)
    for heading in ("player", "weak", "strict"):
        table.add_column(heading, overflow="fold")
    before = ""
    for row in rows:
        condition = f"{row.setting}, {row.protocol}"
        if condition != before:
            table.add_section()
            table.add_row(f"[bold]{condition}[/bold]")
            before = condition
        table.add_row(f"  {row.player}", row.weak, row.strict)
    return table


def _table(title: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def _row_order(row: tuple[str, Cell]) -> tuple[Any, ...]:
    player, cell = row
    weak = cell.weak.value if cell.weak is not None else -1.0
    variants = {"original": 0, "counterfactual": 1}
    variant = variants.get(cell.key.variant, 2), cell.key.variant
    return protocol_order(cell.key.protocol), variant, -weak, player


def _board(sha256: str, runs: Sequence[StoredRun], known: Known | None) -> Board:
    entries = []
    for seated in seatings(runs):
        outcomes = join(seated.slots, seated.rows.values(), known)
        found = (tuple(cells(outcomes)), tuple(gaps(outcomes)), tuple(part_rows(outcomes)))
        entries.append(Entry(seated.player, seated.runs, *found))
    release = runs[0].manifest["release"]
    return Board(release["version"], sha256, release.get("window", ""), tuple(entries))


def _version_order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
