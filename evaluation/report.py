"""The board as one static page: no script, no outside asset, opens from disk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluation.leaderboard import (
    GAP_TITLE,
    Board,
    cell_name,
    gap_rows,
    mean_text,
    rate_text,
    statuses_text,
    withheld_reason,
)
from evaluation.picture import COLOURS, panels
from evaluation.statistics import Cell, CellKey

if TYPE_CHECKING:
    from jinja2 import Template


def render(found: Sequence[Board], now: datetime) -> str:
    """Return the page of some boards, the first one on top."""
    pages = [_board(board) for board in found]
    return _template().render(boards=pages, made=now.strftime("%Y-%m-%d %H:%M UTC"))


def _board(board: Board) -> dict[str, Any]:
    sections = board.sections()
    return {
        "version": board.version,
        "sha256": board.sha256,
        "window": board.window,
        "pictures": panels([section for section in sections if _twins(section)]),
        "sections": [
            {
                "title": f"{key.family} · {key.collection} · {key.setting}",
                "rows": [_row(*row) for row in rows],
            }
            for key, rows in sections
        ],
        "parts": board.part_tables(),
        "gap_title": GAP_TITLE,
        "gaps": gap_rows(board),
        "withheld": [
            (player, cell_name(cell.key), withheld_reason(cell)) for player, cell in board.withheld()
        ],
        "runs": [(entry.player, entry.runs) for entry in board.entries],
    }


def _twins(section: tuple[CellKey, list[tuple[str, Cell]]]) -> bool:
    """Whether a section compares twins, which is what the pictures show."""
    return any(cell.key.variant in COLOURS for _, cell in section[1])


def _row(player: str, cell: Cell) -> dict[str, Any]:
    return {
        "player": player,
        "protocol": cell.key.protocol,
        "variant": cell.key.variant,
        "n": cell.n,
        "clusters": cell.clusters,
        "statuses": statuses_text(cell),
        "prediction": mean_text(cell.prediction),
        "weak": rate_text(cell.weak),
        "strict": rate_text(cell.strict),
        "weak_only": cell.weak_only,
        "broken": cell.protocol_broken,
        "observations": "–" if cell.observations is None else f"{cell.observations:.1f}",
        "cost": "unpriced" if cell.usd is None else f"${cell.usd:.2f}" if cell.tokens else "–",
    }


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("evaluation", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("leaderboard.html")
