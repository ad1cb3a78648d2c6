"""Rows become tables of counts: all that a player sees of a sample.

Source: arXiv 2610.14381, section 4 (simulator summaries; rows for agents that run code).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from environments.pgm.causal_world import World
from environments.pgm.names import Names
from environments.pgm.query import Arm
from environments.pgm.sample import States
from environments.task import JSON


def summarise(arm: Arm, columns: Mapping[int, States], world: World, names: Names) -> dict[str, JSON]:
    """Return one arm's table: for each variable counts and shares by state, and the mean index.

    Args:
        arm: what was asked for.
        columns: every node's states, shape (drawn rows,).
        world: the world that they come from.
        names: its words.
    """
    kept = kept_rows(arm, columns)
    table: dict[str, JSON] = {
        "do": _words(arm.do, names),
        "where": _words(arm.where, names),
        "drawn": arm.rows,
        "rows": int(kept.sum()),
        "variables": _tables(arm, columns, kept, (world, names)),
    }
    if arm.by is not None:
        groups = {
            state: {
                "rows": int((mask := kept & (columns[arm.by] == number)).sum()),
                "variables": _tables(arm, columns, mask, (world, names)),
            }
            for number, state in enumerate(names.variables[arm.by].states)
        }
        table["by"] = {"variable": names.variables[arm.by].name, "groups": groups}
    return table


def kept_rows(arm: Arm, columns: Mapping[int, States]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which rows fulfil an arm's ``where``."""
    kept = np.ones(arm.rows, dtype=bool)
    for node, state in arm.where.items():
        kept &= columns[node] == state
    return kept


def csv_text(arm: Arm, columns: Mapping[int, States], names: Names) -> str:
    """Return the kept rows as CSV, states by name."""
    kept = kept_rows(arm, columns)
    shown = [np.array(names.variables[node].states)[columns[node][kept]] for node in arm.columns]
    lines = [",".join(names.variables[node].name for node in arm.columns)]
    lines += [",".join(row) for row in zip(*shown, strict=True)]
    return "\n".join(lines) + "\n"


def _tables(
    arm: Arm,
    columns: Mapping[int, States],
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]],
    words: tuple[World, Names],
) -> dict[str, JSON]:
    world, names = words
    total = int(kept.sum())
    found: dict[str, JSON] = {}
    for node in arm.columns:
        counts = np.bincount(columns[node][kept], minlength=world.cards[node])
        mean = round(float(counts @ world.costs(node)) / total, 4) if total else None
        found[names.variables[node].name] = {
            "counts": [int(count) for count in counts],
            "shares": [round(int(count) / total, 4) if total else None for count in counts],
            "mean_index": mean,
        }
    return found


def _words(assignment: Mapping[int, int], names: Names) -> dict[str, str]:
    return {names.variables[node].name: names.variables[node].states[s] for node, s in assignment.items()}
