"""Inference, separation and sampling, against the full joint and against pyAgrum."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from cards.errors import InputError
from environments.pgm.causal_world import World
from environments.pgm.eliminate import EliminationSizeError, respond
from environments.pgm.joint import JointOracle
from environments.pgm.network import Network
from environments.pgm.oracle import EliminationOracle
from environments.pgm.sample import sample
from environments.pgm.separation import separated
from environments.pgm.structural import Graph
from tests.environments.pgm.agrum import posteriors, public, to_agrum

TOLERANCE = 1e-9


def random_world(seed: int) -> World:
    """A structural world of 8 to 14 nodes."""
    return Graph(np.random.default_rng(seed)).draw()


def test_elimination_equals_the_full_joint() -> None:
    """Twenty worlds: P(Y | do(X) at all states, evidence) equals truncated factorisation to 1e-8."""
    for seed in range(20):
        world, rng = random_world(seed), np.random.default_rng(seed)
        ours, joint = EliminationOracle(world), JointOracle(world)
        for _ in range(10):
            y, x, e, other = (int(n) for n in rng.choice(len(world.cards), size=4, replace=False))
            given = {e: int(rng.integers(world.cards[e]))}
            for vary, evidence in (((), {}), ((x,), {}), ((x,), given), ((x, other), given), ((), given)):
                np.testing.assert_allclose(
                    ours.response((y,), vary, evidence), joint.response((y,), vary, evidence), atol=1e-8
                )


def test_random_worlds_agree_with_pyagrum() -> None:
    """200 worlds: marginals, do-queries with evidence and d-separation; no disagreement at 1e-9."""
    for seed in range(200):
        network, rng = random_world(1000 + seed).network, np.random.default_rng(seed)
        bn = to_agrum(network)
        for _ in range(3):
            y, x, e, z = (int(n) for n in rng.choice(len(network), size=4, replace=False))
            do, given = {x: int(rng.integers(network.cards[x]))}, {e: int(rng.integers(network.cards[e]))}
            for held, seen in (({}, {}), (do, {}), (do, given), ({}, given)):
                theirs = posteriors(bn, [y], held, seen)[0]
                assert np.abs(respond(network, (y,), do=held, given=seen) - theirs).max() < TOLERANCE
            for known in ((), (e,), (e, z)):
                assert separated(network, y, x, known) == bn.isIndependent(y, x, list(known))


@pytest.mark.parametrize("name", ["asia", "survey", "sachs", "alarm"])
def test_public_networks_agree_with_pyagrum(name: str, tmp_path: Path) -> None:
    """Every P(Y | do X = 0), with and without evidence, and d-separation of every pair given one node."""
    network, bn = public(name, tmp_path)
    rng = np.random.default_rng(7)
    nodes = list(range(len(network)))
    for y, theirs in zip(nodes, posteriors(bn, nodes), strict=True):
        assert np.abs(respond(network, (y,)) - theirs).max() < TOLERANCE
    for x in nodes:
        rest = [node for node in nodes if node != x]
        for y, theirs in zip(rest, posteriors(bn, rest, {x: 0}), strict=True):
            assert np.abs(respond(network, (y,), do={x: 0}) - theirs).max() < TOLERANCE
        e = int(rng.choice(rest))
        # A state that evidence makes possible under the intervention.
        state = int(respond(network, (e,), do={x: 0}).argmax())
        left = [node for node in rest if node != e]
        for y, theirs in zip(left, posteriors(bn, left, {x: 0}, {e: state}), strict=True):
            assert np.abs(respond(network, (y,), do={x: 0}, given={e: state}) - theirs).max() < TOLERANCE
    for x, y in combinations(nodes, 2):
        z = int(rng.choice([node for node in nodes if node not in (x, y)]))
        for known in ((), (z,)):
            assert separated(network, x, y, known) == bn.isIndependent(x, y, list(known))


def test_separation_is_separation_in_the_moral_graph() -> None:
    """Two algorithms without shared code agree on every pair given every single node."""
    for seed in range(20):
        world = random_world(50 + seed)
        ours, moral = EliminationOracle(world), JointOracle(world)
        nodes = range(len(world.cards))
        for x, y in combinations(nodes, 2):
            for known in ((), *((z,) for z in nodes if z not in (x, y))):
                assert ours.separated(x, y, known) == moral.separated(x, y, known)
        assert [ours.ancestors(n) for n in nodes] == [moral.ancestors(n) for n in nodes]
        assert [ours.descendants(n) for n in nodes] == [moral.descendants(n) for n in nodes]


def test_the_sampler_draws_from_the_exact_distribution() -> None:
    """100,000 rows lie within 0.006 of every exact share, with and without an intervention.

    A share's standard error is at most 0.0016, and some 600 shares are compared: 0.006 is 3.8 of them.
    """
    for seed in range(8):
        world = random_world(200 + seed)
        intervened = int(np.argmax([len(world.network.descendants(n)) for n in range(len(world.cards))]))
        for do in ({}, {intervened: 0}):
            rows = sample(world.network, 100_000, np.random.default_rng(seed), do)
            for node, card in enumerate(world.cards):
                shares = np.bincount(rows[node], minlength=card) / 100_000
                exact = np.eye(card)[do[node]] if node in do else respond(world.network, (node,), do=do)
                assert np.abs(shares - exact).max() < 0.006


def test_samples_keep_their_dependence() -> None:
    """Pairs of parent and child have the exact joint distribution, not only the margins."""
    world = random_world(77)
    rows = sample(world.network, 100_000, np.random.default_rng(1))
    for child, above in enumerate(world.parents):
        for parent in above:
            cells = rows[parent].astype(int) * world.cards[child] + rows[child]
            shares = np.bincount(cells, minlength=world.cards[parent] * world.cards[child]) / 100_000
            assert np.abs(shares - respond(world.network, (parent, child)).ravel()).max() < 0.006


def test_a_query_above_the_cap_is_refused() -> None:
    """An elimination whose intermediate factor would exceed the cap raises instead of filling memory."""
    wide = 22
    parents = [[] for _ in range(wide)] + [[node, node + 1] for node in range(wide - 1)] + [[]]
    roots = [np.array([0.5, 0.5])] * wide
    gates = [np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.2, 0.8]]])] * (wide - 1)
    network = Network(parents, [*roots, *gates, np.array([0.5, 0.5])])
    evidence = {wide + node: 0 for node in range(wide - 1)}
    assert respond(network, (0,), given=evidence).shape == (2,)
    with pytest.raises(EliminationSizeError, match="cap is 1"):
        respond(network, (0,), given=evidence, cap=1)
    with pytest.raises(EliminationSizeError, match="answer has"):
        respond(network, tuple(range(wide)), cap=1 << 20)


def test_contradictory_questions_are_refused() -> None:
    """A node cannot be asked for and set, or set and seen; impossible evidence has no answer."""
    network = Network([[], [0]], [np.array([0.0, 1.0]), np.eye(2)])
    for call in ({"do": {0: 1}}, {"given": {0: 1}}):
        with pytest.raises(ValueError, match="more than once"):
            respond(network, (0,), **call)
    with pytest.raises(ValueError, match="more than once"):
        respond(network, (1,), do={0: 1}, given={0: 1})
    with pytest.raises(ValueError, match="probability zero"):
        respond(network, (1,), given={0: 0})


def test_a_network_is_checked() -> None:
    """A cycle, a table of the wrong shape and rows that do not sum to one are named."""
    with pytest.raises(InputError, match="cycle"):
        Network([[1], [0]], [np.eye(2), np.eye(2)])
    with pytest.raises(InputError, match="table of node 1"):
        Network([[], [0]], [np.array([0.5, 0.5]), np.eye(3)])
    with pytest.raises(InputError, match="table of node 0"):
        Network([[]], [np.array([0.5, 0.6])])


def test_turning_states_round_changes_no_effect() -> None:
    """A world whose outcome is listed the other way round, preferred high, has the same costs."""
    world = random_world(5)
    node = 3
    turned = world.turned([node])
    before, after = EliminationOracle(world), EliminationOracle(turned)
    for cause in range(len(world.cards)):
        if cause != node:
            one = before.response((node,), (cause,)) @ world.costs(node)
            other = after.response((node,), (cause,)) @ turned.costs(node)
            np.testing.assert_allclose(one, other, atol=1e-12)
            child = before.response((cause,), (node,))
            np.testing.assert_allclose(child, after.response((cause,), (node,))[::-1], atol=1e-12)
