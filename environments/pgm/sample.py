"""Ancestral sampling, vectorised over rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from environments.pgm.network import FloatArray, Network

States = NDArray[np.uint8]


def sample(
    network: Network, rows: int, rng: np.random.Generator, do: Mapping[int, int] | None = None
) -> dict[int, States]:
    """Draw rows from P(V) or P(V | do).

    Returns:
        for each node its states, shape (rows,).
    """
    held = do or {}
    columns: dict[int, States] = {}
    for node in network.order:
        if node in held:
            columns[node] = np.full(rows, held[node], dtype=np.uint8)
        else:
            columns[node] = _draw(network, node, columns, rng.random(rows, dtype=np.float32))
    return columns


def _draw(network: Network, node: int, columns: Mapping[int, States], uniform: NDArray[np.float32]) -> States:
    limits = _limits(network.tables[node])
    parents = network.parents[node]
    if not parents:
        root: States = np.searchsorted(limits[:, 0], uniform, side="right").astype(np.uint8)
        return root
    place = columns[parents[0]].astype(np.intp)
    for parent in parents[1:]:
        place *= network.cards[parent]
        place += columns[parent]
    states: States = (uniform >= limits[0].take(place)).view(np.uint8)
    for limit in limits[1:]:
        states += uniform >= limit.take(place)
    return states


def _limits(table: FloatArray) -> NDArray[np.float32]:
    """Return the inner limits of the states on the unit line, shape (card - 1, rows of the table)."""
    flat = table.reshape(-1, table.shape[-1])
    sums = np.cumsum(flat, axis=1)[:, :-1]
    return np.ascontiguousarray(sums.T, dtype=np.float32)
