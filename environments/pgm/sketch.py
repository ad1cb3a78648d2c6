"""A world in the making: nodes with roles, edges with strengths, and the tables drawn from them.

Roles are words of the generator. They stay in the sealed definition and are never shown.

Source: arXiv 2610.14381, section 3.2 and figure 2 (edge constraints, graph completion, synthesis).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from environments.pgm.causal_world import World
from environments.pgm.network import FloatArray
from environments.pgm.ordinal import Millionths, linear_score, millionths, ordinal_table, root_table

CENTRAL_SPREAD, BACKGROUND_SPREAD = 1.8, 1.6
CENTRAL_SHIFT, BACKGROUND_SHIFT = 0.2, 0.4
MAX_PARENTS = 4

Uniform = tuple[float, float]
Extra = Callable[[Sequence[int]], FloatArray]
"""Returns a further part of a node's score from its parents' cards."""


@dataclass
class Spot:
    """One node: its role, number of states, and the strengths of the edges into it."""

    role: str
    card: int
    intervenable: bool = True
    betas: dict[int, float] = field(default_factory=dict)
    spread: float = CENTRAL_SPREAD
    central: bool = True
    by_parents: Extra | None = None
    root: Sequence[float] | None = None


@dataclass
class Sketch:
    """Nodes in a topological order of their making; ``rng`` is the only source of chance."""

    rng: np.random.Generator
    spots: list[Spot] = field(default_factory=list)

    def add(self, role: str, card: int, *, intervenable: bool = True) -> int:
        """Add a node and return its number."""
        self.spots.append(Spot(role, card, intervenable))
        return len(self.spots) - 1

    def link(self, parent: int, child: int, beta: float) -> None:
        """Draw an edge of a given strength."""
        self.spots[child].betas[parent] = beta

    def uniform(self, low: float, high: float) -> float:
        """Draw a number."""
        return float(self.rng.uniform(low, high))

    def signed(self, low: float, high: float) -> float:
        """Draw a number of either sign."""
        return self.uniform(low, high) * (1.0 if self.chance(0.5) else -1.0)

    def chance(self, share: float) -> bool:
        """Return True in this share of cases."""
        return bool(self.rng.random() < share)

    def card(self, low: int = 2, high: int = 3) -> int:
        """Draw a number of states."""
        return int(self.rng.integers(low, high + 1))

    def find(self, role: str) -> int:
        """Return the first node of a role."""
        return next(node for node, spot in enumerate(self.spots) if spot.role == role)

    def world(self, order: Sequence[int] | None = None) -> World:
        """Draw all tables and put the nodes into an order that tells nothing of their roles.

        Args:
            order: the old number of each new node; drawn where it is not given.
        """
        tables = [self._table(spot) for spot in self.spots]
        if order is None:
            order = [int(node) for node in self.rng.permutation(len(self.spots))]
        place = {old: new for new, old in enumerate(order)}
        return World(
            roles=tuple(self.spots[old].role for old in order),
            parents=tuple(tuple(place[parent] for parent in self.spots[old].betas) for old in order),
            tables=tuple(tables[old] for old in order),
            intervenable=tuple(self.spots[old].intervenable for old in order),
            preferred_low=(True,) * len(order),
        )

    def _table(self, spot: Spot) -> Millionths:
        if not spot.betas:
            if spot.root is not None:
                return millionths(np.array(spot.root))
            return root_table(spot.card, self.rng)
        cards = [self.spots[parent].card for parent in spot.betas]
        shift = float(self.rng.normal(0, CENTRAL_SHIFT if spot.central else BACKGROUND_SHIFT))
        score = linear_score(cards, list(spot.betas.values()), shift)
        if spot.by_parents is not None:
            score = score + spot.by_parents(cards)
        return ordinal_table(spot.card, score, spot.spread)


def complete(sketch: Sketch, nodes: int, *, outcome: int, actions: Sequence[int], covariate: int) -> None:
    """Add background nodes until there are ``nodes``; they never touch the central signature.

    Each takes one or two parents from the earlier background, the covariate, and each action with
    probability 0.4. A background node that is no descendant of an action may become one more parent
    of the outcome.
    """
    background: list[int] = []
    free: list[int] = []
    while len(sketch.spots) < nodes:
        node = sketch.add("background", int(sketch.rng.choice([2, 3, 4], p=[0.4, 0.45, 0.15])))
        spot = sketch.spots[node]
        spot.spread, spot.central = BACKGROUND_SPREAD, False
        pool = [*background, covariate, *(action for action in actions if sketch.chance(0.4))]
        count = min(len(pool), int(sketch.rng.integers(1, 3)))
        chosen = [int(parent) for parent in sketch.rng.choice(pool, size=count, replace=False)]
        for parent in chosen:
            sketch.link(parent, node, sketch.signed(1.0, 2.5))
        background.append(node)
        if all(parent == covariate or parent in free for parent in chosen):
            free.append(node)
    if free and len(sketch.spots[outcome].betas) < MAX_PARENTS and sketch.chance(0.6):
        sketch.link(int(sketch.rng.choice(free)), outcome, sketch.signed(0.2, 0.6))
