"""Structural worlds: labels from the graph, margins in the distribution, balance."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np

from environments.pgm.build import wanted
from environments.pgm.causal_world import World
from environments.pgm.derive import derive
from environments.pgm.joint import JointOracle
from environments.pgm.oracle import EliminationOracle
from environments.pgm.question import Question
from environments.pgm.structural import Graph, distances, list_world, yes_no_world

TRIES = 120


@cache
def yes_no() -> tuple[tuple[World, list[Question], list[bool]], ...]:
    """Accepted worlds of 120 tries with their wanted labels."""
    rng = np.random.default_rng(3)
    found = []
    for number in range(TRIES):
        drawn = yes_no_world(rng, wanted(number))
        if drawn is not None:
            found.append((*drawn, [verdict for _, verdict in wanted(number)]))
    return tuple(found)


@cache
def lists() -> tuple[tuple[World, list[Question]], ...]:
    """Accepted worlds of 120 tries."""
    rng = np.random.default_rng(4)
    return tuple(drawn for _ in range(TRIES) if (drawn := list_world(rng)) is not None)


def test_worlds_are_accepted_often_enough() -> None:
    """More than a fifth of graphs carry five wanted labels, and nearly all carry two lists."""
    assert len(yes_no()) / TRIES > 0.45
    assert len(lists()) / TRIES > 0.9


def test_labels_are_the_wanted_ones() -> None:
    """Each question has the label that balance asked for, by two ways."""
    for world, questions, verdicts in yes_no():
        for oracle in (EliminationOracle(world), JointOracle(world)):
            assert [derive(question, oracle).verdict for question in questions] == verdicts


def test_labels_show_in_the_distribution() -> None:
    """Effects exceed 0.05, dependence exceeds 0.02, independence is exact to 1e-9; computed by the joint."""
    for world, questions, verdicts in yes_no()[:40]:
        oracle = JointOracle(world)
        for question, verdict in zip(questions, verdicts, strict=True):
            figure = distances(oracle, question)[0]
            if question.kind == "causal_effect":
                assert figure > 0.05 if verdict else figure < 1e-9
            else:
                assert figure < 1e-9 if verdict else figure > 0.02


def test_lists_have_two_to_six_visible_members() -> None:
    """All causes are the ancestors, all effects the descendants; each moves or is moved by 0.05."""
    for world, questions in lists()[:60]:
        oracle = JointOracle(world)
        for question in questions:
            gold = derive(question, oracle).nodes
            assert gold is not None
            assert 2 <= len(gold) <= 6
            assert min(distances(oracle, question)) > 0.05
            assert all(world.intervenable)


def test_no_question_is_asked_twice() -> None:
    """Five different questions, none with A = B, and none of its variables is set where that is forbidden."""
    for world, questions, _ in yes_no():
        asked = {(q.kind, frozenset((q.cause, q.outcome)), q.given) for q in questions}
        assert len(asked) == 5
        for question in questions:
            assert len({question.cause, question.outcome, question.given}) == 3
            if question.kind == "causal_effect":
                assert question.cause is not None
                assert world.intervenable[question.cause]


def test_labels_are_balanced_over_six_worlds() -> None:
    """Over every six worlds each kind has ten questions, five of them with each answer."""
    count = Counter(pair for number in range(6) for pair in wanted(number))
    assert set(count.values()) == {5}
    assert len(count) == 6


def test_graphs_have_the_shape_of_the_family() -> None:
    """8 to 14 nodes, at most three parents, and a seventh of the possible edges or more."""
    rng = np.random.default_rng(5)
    edges, sizes = [], []
    for _ in range(200):
        graph = Graph(rng)
        size = len(graph.cards)
        sizes.append(size)
        edges.append(sum(map(len, graph.parents)) / (size * (size - 1) / 2))
        assert max(map(len, graph.parents)) <= 3
        assert graph.draw().network.cards
    assert set(sizes) == set(range(8, 15))
    assert 0.15 < np.mean(edges) < 0.35


def test_tables_are_drawn_again_on_the_same_graph() -> None:
    """A redraw keeps nodes, order and edges, and changes the tables."""
    graph = Graph(np.random.default_rng(6))
    one, other = graph.draw(), graph.draw()
    assert one.parents == other.parents
    assert one.cards == other.cards
    assert any((a != b).any() for a, b in zip(one.tables, other.tables, strict=True))
