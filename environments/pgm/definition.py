"""Everything that the simulator and the judge of one task need: world, story, question, truth.

World, question and truth speak of nodes by number; only ``variables`` has words. So words can be
exchanged and no answer changes.

Source: arXiv 2610.14381, section 3.1: W = (G, V, P, s, Q, N).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from pydantic import BaseModel, ConfigDict

from environments.pgm.causal_world import World
from environments.pgm.question import Question, Truth


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Variable(_Model):
    """What a player knows of one variable; ``states`` are in order."""

    name: str
    states: tuple[str, ...]
    description: str
    intervenable: bool
    preferred_low: bool = True


class Node(_Model):
    """One node: its parents in the order of the table's axes, and the table in millionths, row by row."""

    role: str
    parents: tuple[int, ...]
    table: tuple[int, ...]


class PgmDefinition(_Model):
    """One task of the family, whole."""

    archetype: str
    """A decision archetype with its sub-variant, or the kind of a structural question."""
    topic: str
    scenario: str
    variables: tuple[Variable, ...]
    nodes: tuple[Node, ...]
    question: Question
    truth: Truth

    @cached_property
    def world(self) -> World:
        """The formal world."""
        cards = [len(variable.states) for variable in self.variables]
        return World(
            roles=tuple(node.role for node in self.nodes),
            parents=tuple(node.parents for node in self.nodes),
            tables=tuple(
                np.array(node.table, dtype=np.int64).reshape([*(cards[p] for p in node.parents), cards[i]])
                for i, node in enumerate(self.nodes)
            ),
            intervenable=tuple(variable.intervenable for variable in self.variables),
            preferred_low=tuple(variable.preferred_low for variable in self.variables),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names by node number."""
        return tuple(variable.name for variable in self.variables)


def nodes_of(world: World) -> tuple[Node, ...]:
    """Return a world's nodes as they stand in a definition."""
    return tuple(
        Node(role=role, parents=parents, table=tuple(int(entry) for entry in table.ravel()))
        for role, parents, table in zip(world.roles, world.parents, world.tables, strict=True)
    )
