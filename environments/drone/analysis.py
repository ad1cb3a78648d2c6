"""Statistics over records: what a player may compute without code of its own.

Numbers are computed from the records as shown, so nothing comes out that does not stand in them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from environments.drone.arguments import Analysis, Condition
from environments.task import JSON, ActionError

QUARTERS = 4
MOST_GROUPS = 12
DIGITS = 4

Row = dict[str, Any]
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def flatten(record: Mapping[str, JSON], source: str) -> Row:
    """Return a record as one row of named values."""
    row: Row = {"source": source, "survived": int(record["survived"])}
    if "design" in record:
        row |= record["design"] | record["environment"]
        row |= {f"{name}_hp": value for name, value in record["hp"].items()}
        row["hit_count"] = record["hit_count"]
        if "equipment" in record:
            row["equipment"] = record["equipment"] or "none"
    return row


def analyse(rows: Sequence[Row], wish: Analysis) -> JSON | ActionError:
    """Return groups with their size and value; a value is None where it is not defined."""
    columns = sorted({name for row in rows for name in row})
    if wish.statistic == "correlation" and wish.against is None:
        return ActionError(code="malformed", message="a correlation needs a second column", path="against")
    for path, name in _named(wish):
        if name not in columns:
            known = ", ".join(columns) or "none, as there is no record yet"
            return ActionError(
                code="unknown_column", message=f"there is no such column; the columns are: {known}", path=path
            )
    measured = [wish.of] if wish.statistic != "correlation" else [wish.of, str(wish.against)]
    needed = [*measured, *([wish.by] if wish.by else [])]
    kept = [
        row
        for row in rows
        if wish.source in ("all", row["source"])
        and all(_meets(row, condition) for condition in wish.where)
        and all(row.get(name) is not None for name in needed)
    ]
    if wish.statistic != "count" and any(isinstance(row[name], str) for row in kept for name in measured):
        return ActionError(code="no_number", message="only columns of numbers have this statistic", path="of")
    groups = _split(kept, wish.by)
    return {"groups": [_group(label, group, wish) for label, group in groups], "columns": columns}


def _named(wish: Analysis) -> list[tuple[str, str]]:
    named = [("of", wish.of)]
    named += [("against", wish.against)] if wish.against else []
    named += [("by", wish.by)] if wish.by else []
    return named + [(f"where.{at}.column", item.column) for at, item in enumerate(wish.where)]


def _meets(row: Row, condition: Condition) -> bool:
    value = row.get(condition.column)
    if value is None or isinstance(value, str) != isinstance(condition.value, str):
        return False
    return _COMPARE[condition.op](value, condition.value)


def _split(rows: Sequence[Row], by: str | None) -> list[tuple[str, list[Row]]]:
    if by is None:
        return [("all", list(rows))]
    distinct = {row[by] for row in rows}
    if len(distinct) <= MOST_GROUPS or any(isinstance(value, str) for value in distinct):
        order = sorted(distinct, key=lambda value: (isinstance(value, str), value))
        return [(str(value), [row for row in rows if row[by] == value]) for value in order]
    edges = np.quantile([row[by] for row in rows], np.linspace(0, 1, QUARTERS + 1))
    places = np.clip(np.searchsorted(edges, [row[by] for row in rows], side="right") - 1, 0, QUARTERS - 1)
    return [
        (
            f"{edges[at]:.4g} to {edges[at + 1]:.4g}",
            [row for row, p in zip(rows, places, strict=True) if p == at],
        )
        for at in range(QUARTERS)
    ]


def _group(label: str, rows: Sequence[Row], wish: Analysis) -> JSON:
    return {"group": label, "n": len(rows), "value": _value(rows, wish)}


def _value(rows: Sequence[Row], wish: Analysis) -> float | int | None:
    if wish.statistic == "count":
        return len(rows)
    if not rows or (wish.statistic != "mean" and len(rows) < 2):
        return None
    values = np.array([row[wish.of] for row in rows], dtype=np.float64)
    if wish.statistic == "mean":
        return round(float(values.mean()), DIGITS)
    if wish.statistic == "sd":
        return round(float(values.std(ddof=1)), DIGITS)
    others = np.array([row[str(wish.against)] for row in rows], dtype=np.float64)
    if np.ptp(values) == 0 or np.ptp(others) == 0:
        return None
    return round(float(np.corrcoef(values, others)[0, 1]), DIGITS)
