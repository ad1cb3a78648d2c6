"""The second way to the truth: the full joint of what matters, and separation in the moral graph.

It shares no code with elimination or with trails; a world whose two answers differ is never published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cards.errors import InputError
from environments.pgm.causal_world import World
from environments.pgm.network import FloatArray
from environments.pgm.ordinal import UNIT

MAX_CELLS = 1 << 20
"""Cells of the joint that is still written out; a larger world is not built."""


class JointSizeError(InputError):
    """A joint that is too large to write out."""


class JointOracle:
    """Answers by summing over the joint distribution of the asked nodes and everything above them."""

    def __init__(self, world: World, most_cells: int = MAX_CELLS) -> None:
        self.world = world
        self._most_cells = most_cells
        self._reach = _reach(world)
        self._joints: dict[tuple[frozenset[int], tuple[int, ...]], tuple[list[int], FloatArray]] = {}

    def response(
        self, outcome: Sequence[int], vary: Sequence[int] = (), given: Mapping[int, int] | None = None
    ) -> FloatArray:
        """Return P(outcome | do(vary), given) by truncated factorisation over the joint.

        Raises:
            JointSizeError: when the joint would be too large to write out.
        """
        held = dict(given or {})
        wanted = {*outcome, *vary, *held}
        above = frozenset(wanted).union(*(self._above(node) for node in wanted))
        nodes, joint = self._joint(above, tuple(sorted(vary)))
        picked = joint[tuple(held.get(node, slice(None)) for node in nodes)]
        left = [node for node in nodes if node not in held]
        kept = (*vary, *outcome)
        summed = picked.sum(axis=tuple(i for i, node in enumerate(left) if node not in kept))
        rest = [node for node in left if node in kept]
        table = summed.transpose([rest.index(node) for node in kept])
        total = table.sum(axis=tuple(range(len(vary), len(kept))), keepdims=True)
        result: FloatArray = table / total
        return result

    def separated(self, one: int, other: int, given: Sequence[int] = ()) -> bool:
        """Return d-separation as separation in the moral graph of the ancestral set.

        Source: Lauritzen et al., Independence properties of directed Markov fields, 1990.
        """
        wanted = {one, other, *given}
        kept = wanted.union(*(self._above(node) for node in wanted))
        near: dict[int, set[int]] = {node: set() for node in kept}
        for child in kept:
            family = [*self.world.parents[child], child]
            for member in family:
                near[member].update(set(family) - {member})
        seen, frontier = {one}, {one}
        while frontier:
            frontier = set().union(*(near[node] for node in frontier)) - seen - set(given)
            seen |= frontier
        return other not in seen

    def ancestors(self, node: int) -> frozenset[int]:
        """Return the proper ancestors of a node."""
        return frozenset(self._above(node))

    def descendants(self, node: int) -> frozenset[int]:
        """Return the proper descendants of a node."""
        return frozenset(int(below) for below in np.flatnonzero(self._reach[node]))

    def _above(self, node: int) -> list[int]:
        return [int(above) for above in np.flatnonzero(self._reach[:, node])]

    def _joint(self, above: frozenset[int], cut: tuple[int, ...]) -> tuple[list[int], FloatArray]:
        """Return Π P(v | parents) over ``above``, without the factors of ``cut``."""
        key = (above, cut)
        if key not in self._joints:
            nodes = sorted(above)
            cells = int(np.prod([self.world.cards[node] for node in nodes], dtype=np.int64))
            if cells > self._most_cells:
                message = (
                    f"the joint of {len(nodes)} nodes has {cells} cells; the most is {self._most_cells}."
                )
                raise JointSizeError(message, "Draw a smaller world.")
            joint = np.ones([self.world.cards[node] for node in nodes])
            for node in nodes:
                if node not in cut:
                    joint *= self._spread(node, nodes)
            self._joints[key] = nodes, joint
        return self._joints[key]

    def _spread(self, node: int, nodes: Sequence[int]) -> FloatArray:
        """Return a node's table with one axis for each of ``nodes``."""
        axes = [*self.world.parents[node], node]
        order = sorted(range(len(axes)), key=lambda i: nodes.index(axes[i]))
        shape = [self.world.cards[other] if other in axes else 1 for other in nodes]
        spread: FloatArray = (self.world.tables[node] / UNIT).transpose(order).reshape(shape)
        return spread


def _reach(world: World) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return which node lies above which, by repeated squaring of the adjacency matrix."""
    size = len(world.parents)
    reach = np.zeros((size, size), dtype=bool)
    for child, above in enumerate(world.parents):
        reach[list(above), child] = True
    for _ in range(size.bit_length()):
        reach |= (reach.astype(int) @ reach.astype(int)) > 0
    return reach
