"""A discrete Bayesian network as arrays: cards, parents, one conditional table per node.

Nodes are numbered from 0. Sets of nodes are bit masks, because graph questions are asked thousands of
times while a world is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cards.errors import InputError

FloatArray = NDArray[np.float64]
ROW_TOLERANCE = 1e-9
"""How far the sum of a row of a conditional table may lie from one."""


class Network:
    """A directed acyclic graph with one conditional table for each node.

    Args:
        parents: for each node its parents, in the order of its table's axes.
        tables: for each node P(node | parents), shape (cards of the parents …, card of the node).

    Raises:
        InputError: when the graph has a cycle, or a table does not fit or does not sum to one.
    """

    def __init__(self, parents: Sequence[Sequence[int]], tables: Sequence[FloatArray]) -> None:
        self.parents = tuple(tuple(above) for above in parents)
        self.tables = tuple(np.asarray(table, dtype=np.float64) for table in tables)
        self.cards = tuple(int(table.shape[-1]) for table in self.tables)
        self.order = topological_order(self.parents)
        self.parent_masks = tuple(mask_of(above) for above in self.parents)
        self.child_masks = _child_masks(self.parents)
        self.ancestor_masks = _ancestor_masks(self.parents, self.order)
        self._check()

    def __len__(self) -> int:
        return len(self.cards)

    def ancestors(self, node: int) -> frozenset[int]:
        """Return all proper ancestors of a node."""
        return frozenset(nodes_in(self.ancestor_masks[node]))

    def descendants(self, node: int) -> frozenset[int]:
        """Return all proper descendants of a node."""
        return frozenset(other for other in range(len(self)) if self.ancestor_masks[other] >> node & 1)

    def _check(self) -> None:
        for node, (above, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            shape = (*(self.cards[parent] for parent in above), self.cards[node])
            sums = table.sum(axis=-1) if table.shape == shape else np.array([np.inf])
            if table.min() < 0 or np.abs(sums - 1).max() > ROW_TOLERANCE:
                message = f"the table of node {node} (shape {table.shape}) is no P(node | parents)"
                raise InputError(
                    message, f"It needs shape {shape}, no negative entry, and rows that sum to 1."
                )


def mask_of(nodes: Iterable[int]) -> int:
    """Return a set of nodes as a bit mask."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def nodes_in(mask: int) -> list[int]:
    """Return the nodes of a bit mask in ascending order."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def topological_order(parents: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the nodes with every parent before its children.

    Raises:
        InputError: when there is a cycle or a parent that is no node.
    """
    order: list[int] = []
    placed = 0
    waiting = {node: mask_of(above) for node, above in enumerate(parents)}
    while waiting:
        ready = [node for node, above in waiting.items() if not above & ~placed]
        if not ready:
            raise InputError(f"nodes {sorted(waiting)} form a cycle.", "A world's graph must be acyclic.")
        order.extend(ready)
        placed |= mask_of(ready)
        for node in ready:
            del waiting[node]
    return tuple(order)


def _child_masks(parents: Sequence[Sequence[int]]) -> tuple[int, ...]:
    masks = [0] * len(parents)
    for node, above in enumerate(parents):
        for parent in above:
            masks[parent] |= 1 << node
    return tuple(masks)


def _ancestor_masks(parents: Sequence[Sequence[int]], order: Sequence[int]) -> tuple[int, ...]:
    masks = [0] * len(parents)
    for node in order:
        for parent in parents[node]:
            masks[node] |= masks[parent] | 1 << parent
    return tuple(masks)
