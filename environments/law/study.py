"""A card seen as a place to mutate: its domain, a dense sample of it, and the original's responses there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np

from cards.card import Card
from cards.domain import Constraint, Domain, points, satisfied
from cards.evaluate import evaluate
from cards.expression import bind
from environments.law.definition import FloatArray

SAMPLE_SIZE = 512
_MOST_CORNERS = 256


class Study:
    """What every check of a pair needs to know of the card; computed once, whatever is tried on it."""

    def __init__(self, card: Card, others: Sequence[Card] = ()) -> None:
        self.card = card
        self.others = tuple(other for other in others if other.id != card.id)
        self.domain = player_domain(card)

    @cached_property
    def sample(self) -> dict[str, FloatArray]:
        """Low-discrepancy points and those corners of the box that the constraints admit."""
        inside = points(self.domain, SAMPLE_SIZE)
        ends = [(item.low, item.high) for item in self.domain.intervals.values()]
        corners = np.array(list(product(*ends))[:_MOST_CORNERS], dtype=np.float64)
        columns = {name: corners[:, i] for i, name in enumerate(self.domain.intervals)}
        kept = satisfied(self.domain, columns)
        return {name: np.concatenate([column, columns[name][kept]]) for name, column in inside.items()}

    @cached_property
    def original(self) -> dict[str, FloatArray]:
        """The original's responses on the sample, by observable."""
        values = self.card.values()
        return {
            item.name: evaluate(item.relation, {**self.sample, **values}) for item in self.card.observables
        }


def player_domain(card: Card) -> Domain:
    """Return the domain as a player can be told it: constraints hold no hidden parameter's name."""
    told = card.values(told_only=True)
    hidden = {name: value for name, value in card.values().items() if name not in told}
    constraints = tuple(
        Constraint(bind(item.left, hidden), item.op, bind(item.right, hidden)) for item in card.constraints
    )
    return Domain({item.name: item.interval() for item in card.inputs}, constraints, told)
