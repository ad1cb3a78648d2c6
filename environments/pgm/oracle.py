"""What is true of a world, asked of its network; two independent ways give the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from environments.pgm.causal_world import World
from environments.pgm.eliminate import MAX_FACTOR, respond
from environments.pgm.network import FloatArray
from environments.pgm.separation import separated


class Oracle(Protocol):
    """Exact answers about one world."""

    @property
    def world(self) -> World:
        """The world that is asked."""

    def response(
        self, outcome: Sequence[int], vary: Sequence[int] = (), given: Mapping[int, int] | None = None
    ) -> FloatArray:
        """Return P(outcome | do(vary at all states), given), shape (cards of vary …, of outcome …)."""

    def separated(self, one: int, other: int, given: Sequence[int] = ()) -> bool:
        """Return whether two nodes are d-separated."""

    def ancestors(self, node: int) -> frozenset[int]:
        """Return the proper ancestors of a node."""

    def descendants(self, node: int) -> frozenset[int]:
        """Return the proper descendants of a node."""


class EliminationOracle:
    """Factor elimination and reachability: what the generator and the gold answers rest on."""

    def __init__(self, world: World, cap: int = MAX_FACTOR) -> None:
        self.world = world
        self._cap = cap

    def response(
        self, outcome: Sequence[int], vary: Sequence[int] = (), given: Mapping[int, int] | None = None
    ) -> FloatArray:
        """Return P(outcome | do(vary), given) by elimination.

        Raises:
            EliminationSizeError: when an intermediate factor would exceed the cap.
        """
        return respond(self.world.network, outcome, vary=vary, given=given, cap=self._cap)

    def separated(self, one: int, other: int, given: Sequence[int] = ()) -> bool:
        """Return d-separation by active trails."""
        return separated(self.world.network, one, other, given)

    def ancestors(self, node: int) -> frozenset[int]:
        """Return the proper ancestors of a node."""
        return self.world.network.ancestors(node)

    def descendants(self, node: int) -> frozenset[int]:
        """Return the proper descendants of a node."""
        return self.world.network.descendants(node)


def expected(
    oracle: Oracle, node: int, vary: Sequence[int] = (), given: Mapping[int, int] | None = None
) -> FloatArray:
    """Return the expected cost index of a node, shape (cards of vary …).

    Source: arXiv 2610.14381, section 4: Σ_k k·P(node = k).
    """
    mean: FloatArray = oracle.response((node,), vary, given) @ oracle.world.costs(node)
    return mean
