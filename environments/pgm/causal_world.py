"""The formal half of a world: graph, tables and which nodes may be set. It has no names.

Source: arXiv 2610.14381, section 3.1: W = (G, V, P, s, Q, N); this is (G, P, N).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from environments.pgm.network import FloatArray, Network
from environments.pgm.ordinal import UNIT, Millionths


@dataclass(frozen=True, eq=False)
class World:
    """A causal world without words. ``tables`` are in millionths; ``roles`` are the generator's."""

    roles: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Millionths, ...]
    intervenable: tuple[bool, ...]
    preferred_low: tuple[bool, ...]

    @cached_property
    def network(self) -> Network:
        """The network that inference and sampling run on."""
        return Network(self.parents, [table / UNIT for table in self.tables])

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each node."""
        return tuple(int(table.shape[-1]) for table in self.tables)

    def find(self, role: str) -> int:
        """Return the first node of a role."""
        return self.roles.index(role)

    def legal(self) -> list[int]:
        """Return the nodes that may be set."""
        return [node for node, allowed in enumerate(self.intervenable) if allowed]

    def costs(self, node: int) -> FloatArray:
        """Return the index of each state as a cost: lower is better, shape (card,).

        Source: arXiv 2610.14381, section 4 (expected-state index).
        """
        index = np.arange(self.cards[node], dtype=np.float64)
        return index if self.preferred_low[node] else index[::-1].copy()

    def turned(self, nodes: Sequence[int]) -> World:
        """Return the same world with the states of some nodes in reverse order and preferred high."""
        tables, low = list(self.tables), list(self.preferred_low)
        for node in nodes:
            low[node] = not low[node]
            tables[node] = np.flip(tables[node], axis=-1).copy()
            for child, above in enumerate(self.parents):
                if node in above:
                    tables[child] = np.flip(tables[child], axis=above.index(node)).copy()
        return replace(self, tables=tuple(tables), preferred_low=tuple(low))
