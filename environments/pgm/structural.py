"""Structural worlds: a random graph, questions with wanted labels, tables drawn until they are faithful.

Source: arXiv 2610.14381, section 3.3 and appendix B (structural validation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from environments.pgm.causal_world import World
from environments.pgm.network import FloatArray
from environments.pgm.oracle import EliminationOracle, Oracle
from environments.pgm.question import Question, YesNoKind
from environments.pgm.sketch import BACKGROUND_SPREAD, Sketch

FEWEST_NODES, MOST_NODES = 8, 14
EDGE_SHARE, MOST_PARENTS, GIVEN_PARENT_SHARE = 0.25, 3, 0.7
BETA = (1.5, 3.0)
FAITHFUL = 0.02
INDEPENDENT = 1e-9
EFFECT = 0.05
TABLE_DRAWS = 64
PAIR_DRAWS = 200
LIST_SIZES = range(2, 7)

Wanted = Sequence[tuple[YesNoKind, bool]]
"""Kinds of yes/no questions with their wanted answers."""


class Graph:
    """A random graph with its numbers of states, from which tables are drawn again and again."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        size = int(rng.integers(FEWEST_NODES, MOST_NODES + 1))
        self.cards = [int(card) for card in rng.choice([2, 3, 4], size=size, p=[0.45, 0.43, 0.12])]
        self.parents = [self._parents(node) for node in range(size)]
        self._order = [int(node) for node in rng.permutation(size)]

    def _parents(self, node: int) -> list[int]:
        chosen = [parent for parent in range(node) if self.rng.random() < EDGE_SHARE]
        if len(chosen) > MOST_PARENTS:
            chosen = [int(p) for p in self.rng.choice(chosen, size=MOST_PARENTS, replace=False)]
        if not chosen and node and self.rng.random() < GIVEN_PARENT_SHARE:
            chosen = [int(self.rng.integers(node))]
        return chosen

    def draw(self) -> World:
        """Draw tables: the same graph and order of nodes every time."""
        sketch = Sketch(self.rng)
        for card, parents in zip(self.cards, self.parents, strict=True):
            node = sketch.add("node", card)
            sketch.spots[node].spread, sketch.spots[node].central = BACKGROUND_SPREAD, False
            for parent in parents:
                sketch.link(parent, node, sketch.signed(*BETA))
        return sketch.world(self._order)


def yes_no_world(rng: np.random.Generator, wanted: Wanted) -> tuple[World, list[Question]] | None:
    """Draw a world with one question for each wanted label, or None where this graph or its tables fail."""
    graph = Graph(rng)
    oracle = EliminationOracle(graph.draw())
    questions: list[Question] = []
    for one in wanted:
        question = _find_pair(oracle, rng, one, questions)
        if question is None:
            return None
        questions.append(question)
    drawn = _faithful(graph, questions)
    return None if drawn is None else (_with_forbidden(drawn, questions, rng), questions)


def list_world(rng: np.random.Generator) -> tuple[World, list[Question]] | None:
    """Draw a world with one question for all causes and one for all effects, or None."""
    graph = Graph(rng)
    oracle = EliminationOracle(graph.draw())
    size = len(oracle.world.cards)
    caused = [node for node in range(size) if len(oracle.ancestors(node)) in LIST_SIZES]
    causing = [node for node in range(size) if len(oracle.descendants(node)) in LIST_SIZES]
    if not caused or not causing:
        return None
    below, above = int(rng.choice(caused)), int(rng.choice(causing))
    questions = [
        Question(kind="all_causes_of", outcome=below),
        Question(kind="all_effects_of", outcome=above, cause=above),
    ]
    drawn = _faithful(graph, questions)
    return None if drawn is None else (drawn, questions)


def distances(oracle: Oracle, question: Question) -> list[float]:
    """Return the figures that a question's label rests on, one for each tested pair.

    An effect: the largest distance between P(B | do a) and P(B | do a'). An association: the largest
    TV(P(A, B | z), P(A | z)·P(B | z)) over z.
    """
    outcome, cause = question.outcome, question.cause
    if question.kind == "all_causes_of":
        return [effect_distance(oracle, node, outcome) for node in sorted(oracle.ancestors(outcome))]
    assert cause is not None
    if question.kind == "all_effects_of":
        return [effect_distance(oracle, cause, node) for node in sorted(oracle.descendants(cause))]
    if question.kind == "causal_effect":
        return [effect_distance(oracle, cause, outcome)]
    if question.given is None:
        return [_dependence(oracle.response((cause, outcome)))]
    states = range(oracle.world.cards[question.given])
    tables = [oracle.response((cause, outcome), (), {question.given: state}) for state in states]
    return [max(_dependence(table) for table in tables)]


def effect_distance(oracle: Oracle, cause: int, outcome: int) -> float:
    """Return max over a, a' of TV(P(B | do a), P(B | do a'))."""
    rows = oracle.response((outcome,), (cause,))
    return float(0.5 * np.abs(rows[:, None] - rows[None]).sum(axis=-1).max())


def holds(oracle: Oracle, question: Question, verdict: bool | None) -> bool:
    """Return whether a question's distances carry its label with the margins of appendix B."""
    figures = distances(oracle, question)
    if verdict is None:
        return min(figures) > EFFECT
    if question.kind == "causal_effect":
        return figures[0] > EFFECT if verdict else figures[0] < INDEPENDENT
    return figures[0] < INDEPENDENT if verdict else figures[0] > FAITHFUL


def _dependence(joint: FloatArray) -> float:
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return float(0.5 * np.abs(joint - apart).sum())


def _faithful(graph: Graph, questions: Sequence[Question]) -> World | None:
    """Draw tables for a fixed graph until every question's label shows in the distribution."""
    for _ in range(TABLE_DRAWS):
        world = graph.draw()
        oracle = EliminationOracle(world)
        if all(holds(oracle, question, label(oracle, question)) for question in questions):
            return world
    return None


def label(oracle: Oracle, question: Question) -> bool | None:
    """Return what the graph says of a yes/no question; None for a list."""
    cause, outcome = question.cause, question.outcome
    if question.kind == "causal_effect":
        return cause in oracle.ancestors(outcome)
    if question.kind in ("marginal", "conditional"):
        assert cause is not None
        return oracle.separated(cause, outcome, () if question.given is None else (question.given,))
    return None


def _find_pair(
    oracle: Oracle, rng: np.random.Generator, wanted: tuple[YesNoKind, bool], taken: Sequence[Question]
) -> Question | None:
    """Return a random question of a kind with the wanted label that was not asked yet."""
    kind, verdict = wanted
    for _ in range(PAIR_DRAWS):
        cause, outcome, third = (int(n) for n in rng.choice(len(oracle.world.cards), 3, replace=False))
        given = third if kind == "conditional" else None
        question = Question(kind=kind, outcome=outcome, cause=cause, given=given)
        if label(oracle, question) == verdict and not any(_alike(question, other) for other in taken):
            return question
    return None


def _alike(one: Question, other: Question) -> bool:
    pairs = {one.cause, one.outcome}, {other.cause, other.outcome}
    return one.kind == other.kind and pairs[0] == pairs[1] and one.given == other.given


def _with_forbidden(world: World, questions: Sequence[Question], rng: np.random.Generator) -> World:
    """Forbid setting up to two nodes that no question needs to set."""
    needed = {question.cause for question in questions if question.kind == "causal_effect"}
    free = [node for node in range(len(world.cards)) if node not in needed]
    count = min(len(free), int(rng.integers(0, 3)))
    closed = {int(node) for node in rng.choice(free, size=count, replace=False)}
    return replace(world, intervenable=tuple(node not in closed for node in range(len(world.cards))))
