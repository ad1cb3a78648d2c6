"""The vectorised dynamics against plain loops, and what faults and interventions do."""

from __future__ import annotations

import numpy as np
import pytest

from environments.organism.control import null_organism
from environments.organism.dynamics import conditions, fixed_points, product, read_out
from environments.organism.generate import EXACT, make_organism, truth
from environments.organism.measure import measure
from environments.organism.network import Fault
from tests.environments.organism.made import organism
from tests.environments.organism.naive import Naive

SLOW_TOLERANCE = 1e-9
"""Both iterate to 1e-12 from the same start, so only rounding separates them."""
FAST_TOLERANCE = 5e-5
"""The fast path stops at 1e-5 in single precision; a state is then up to 1.3e-5 from its fixed point."""
TIERS = ("easy", "medium", "hard")


@pytest.mark.parametrize("number", range(20))
def test_vectorised_states_are_those_of_plain_loops(number: int) -> None:
    """On 20 organisms, every fault under every intervention: the float64 states are fixed points of plain
    loops to 1e-9, and the fast states are theirs to 5e-5. Iterating plain loops from one half arrives at
    the same states; here on every 97th pair, all pairs in the nightly test below."""
    network = organism(number, TIERS[number % 3]).network
    faults, plans = (None, *network.faults), ({}, *network.interventions)
    rows = product(network, faults, plans)
    slow, arrived = fixed_points(network, rows, tolerance=EXACT)
    fast, arrived_fast = fixed_points(network, rows, fast=True)
    assert arrived.all()
    assert arrived_fast.all()
    assert np.abs(fast - slow).max() < FAST_TOLERANCE
    assert np.abs(read_out(network, fast) - read_out(network, slow)).max() < FAST_TOLERANCE
    naive, pairs = Naive(network), [(f, p) for f in faults for p in plans]
    for pair, state in zip(pairs, slow.tolist(), strict=True):
        assert naive.residual(state, *pair) < SLOW_TOLERANCE, pair
    for index in range(number, len(pairs), 97):
        state = naive.state(*pairs[index], EXACT)
        assert np.abs(slow[index] - state).max() < SLOW_TOLERANCE, pairs[index]
        values = naive.phenotypes(state)
        assert np.abs(read_out(network, slow[index : index + 1])[0] - values).max() < SLOW_TOLERANCE


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(20))
def test_every_pair_in_plain_loops(number: int) -> None:
    """All 20 × faults × interventions, none left out."""
    network = organism(number, TIERS[number % 3]).network
    faults, plans = (None, *network.faults), ({}, *network.interventions)
    slow, _ = fixed_points(network, product(network, faults, plans), tolerance=EXACT)
    naive = Naive(network)
    for index, pair in enumerate((f, p) for f in faults for p in plans):
        assert np.abs(slow[index] - naive.state(*pair, EXACT)).max() < SLOW_TOLERANCE, pair


def test_combinations_agree_with_plain_loops() -> None:
    """Several targets at once, signals among them, do what plain loops do."""
    network = organism(3).network
    plans = [{0: "BLOCK", 4: "BOOST", 9: "DAMPEN", 21: "ON"}, {2: "DAMPEN", 20: "ON", 22: "ON"}]
    for fault in (None, network.faults[2], network.faults[-1]):
        for plan in plans:
            expected = Naive(network).phenotypes(Naive(network).state(fault, plan, EXACT))
            assert np.abs(truth(network, [(fault, plan)])[0] - expected).max() < SLOW_TOLERANCE


def test_an_intervention_overrides_a_lock() -> None:
    """BLOCK on a gene locked high gives 0, DAMPEN 0.5, BOOST on one locked low 1; a stuck signal stays on."""
    network = organism(1).network
    high, low, stuck = Fault("LOCK_HI", 7), Fault("LOCK_LO", 7), Fault("PERSIST", 20)
    pairs = [(high, {7: "BLOCK"}), (high, {7: "DAMPEN"}), (low, {7: "BOOST"}), (low, {7: "DAMPEN"})]
    states, _ = fixed_points(network, conditions(network, pairs))
    assert states[:, 7].tolist() == pytest.approx([0.0, 0.5, 1.0, 0.0], abs=1e-4)
    on, twice = truth(network, [(stuck, {}), (stuck, {20: "ON"})])
    assert on.tolist() == twice.tolist()


def test_the_order_of_a_product_is_plans_fastest() -> None:
    """Row f·plans + p is fault f under plan p."""
    network = organism(2).network
    faults, plans = (None, network.faults[0]), ({}, {3: "BOOST"}, {21: "ON"})
    rows = product(network, faults, plans)
    single = conditions(network, [(fault, plan) for fault in faults for plan in plans])
    for name in ("drive", "factor", "offset"):
        assert np.array_equal(getattr(rows, name), getattr(single, name)), name


def test_a_null_organism_has_a_closed_form() -> None:
    """Without regulation each gene rests at its own sigmoid, whatever the others do."""
    for tier in TIERS:
        network = null_organism(tier).network
        states, _ = fixed_points(network, conditions(network, [(None, {})]), tolerance=EXACT)
        expected = 1 / (1 + np.exp(-network.steepness * network.bias))
        assert np.abs(states[0] - expected).max() < SLOW_TOLERANCE


def test_no_state_depends_on_the_start() -> None:
    """From a start near 0 or near 1, plain loops reach the same phenotypes, on 10 organisms' own faults."""
    for number in range(10):
        made = organism(number)
        naive = Naive(made.network)
        for start in (0.02, 0.98):
            x = [start] * naive.n
            on = naive.active(made.fault, {})
            for _ in range(400):
                step = [naive.gene(i, x, on, made.fault, {}) for i in range(naive.n)]
                x = [0.5 * a + 0.5 * b for a, b in zip(x, step, strict=True)]
            assert np.abs(np.array(naive.phenotypes(x)) - made.diseased).max() < 1e-6


def test_a_reading_repeats_and_its_noise_is_small() -> None:
    """One experiment always reads the same; purposes and states draw other noise; its size is as declared:
    a standard deviation of .015 and at most .025 of a reading at medium, here over 20 × 63 readings with a
    tolerance of .003 and .01 for the sample."""
    errors = []
    for number in range(20):
        made = organism(number)
        plans = list(made.network.interventions)
        values = measure(made, plans)
        assert np.array_equal(values, measure(made, plans))
        assert not np.array_equal(values, measure(made, plans, purpose="rescue"))
        errors.append(values - truth(made.network, [(made.fault, plan) for plan in plans]))
    spread = np.concatenate(errors).std(axis=0)
    assert 0.012 < float(np.mean(spread)) < 0.018
    assert float(np.max([e.std(axis=0).max() for e in errors])) < 0.035


def test_equal_keys_give_equal_organisms() -> None:
    """(seed, tier, n) determines an organism; any part of it changes it."""
    one, again = make_organism(b"x", "hard", 20), make_organism(b"x", "hard", 20)
    assert np.array_equal(one.network.weights, again.network.weights)
    assert one.fault == again.fault
    for other in (make_organism(b"y", "hard", 20), make_organism(b"x", "easy", 20)):
        assert not np.array_equal(one.network.weights, other.network.weights)
    assert make_organism(b"x", "medium", 25).network.genes == 25
