"""Decision worlds: acceptance, signatures, chance, the passive trap.

Rates are over 80 tries with a fixed seed: a standard error of at most 0.056, a quarter of the distance
between the least rate asked for (0.20) and the least that the generator shows (0.45).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from environments.pgm.archetypes import ARCHETYPES, MEDIATOR_KINDS, draw
from environments.pgm.causal_world import World
from environments.pgm.derive import derive, residual, spread, total_effect
from environments.pgm.oracle import EliminationOracle, expected
from environments.pgm.question import CHOICES, Effect, Question, Truth
from environments.pgm.rules import accepted, accepted_share, best_actions
from environments.pgm.validate import misleads, validate

TRIES = 80


@dataclass(frozen=True)
class Accepted:
    """A world that shows its signature."""

    world: World
    oracle: EliminationOracle
    question: Question
    truth: Truth


@cache
def worlds(archetype: str, kind: str = "") -> tuple[Accepted, ...]:
    """All accepted worlds of 80 tries."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(TRIES):
        world = draw(archetype, rng, kind)
        oracle = EliminationOracle(world)
        question = validate(archetype, oracle, kind)
        if question is not None:
            found.append(Accepted(world, oracle, question, derive(question, oracle)))
    return tuple(found)


EVERY_KIND = [
    (archetype, kind)
    for archetype in ARCHETYPES
    for kind in (MEDIATOR_KINDS if archetype == "mediator" else ("",))
]
"""Archetypes, the mediator once for each sub-variant."""


@pytest.mark.parametrize(("archetype", "kind"), EVERY_KIND)
def test_worlds_are_accepted_often_enough(archetype: str, kind: str) -> None:
    """More than a fifth of drawn worlds show their signature; mediator worlds nearly always do."""
    share = len(worlds(archetype, kind)) / TRIES
    assert share > (0.9 if archetype == "mediator" else 0.7)


@pytest.mark.parametrize("archetype", CHOICES)
def test_the_passive_trap_leaves_enough_worlds(archetype: str) -> None:
    """With the rule that passive data must mislead, more than a fifth of drawn worlds remain."""
    trapped = [misleads(one.question, one.truth, one.oracle) for one in worlds(archetype)]
    assert sum(trapped) / TRIES > 0.35


@pytest.mark.parametrize("archetype", CHOICES)
def test_a_random_legal_answer_is_rarely_right(archetype: str) -> None:
    """By exact count of the effect table, fewer than a tenth of legal answers are accepted on average."""
    shares = [accepted_share(one.question, one.truth.effects) for one in worlds(archetype)]
    assert 0 < np.mean(shares) < 0.10


@pytest.mark.parametrize(("archetype", "kind"), EVERY_KIND)
def test_worlds_have_the_sizes_of_the_family(archetype: str, kind: str) -> None:
    """8 to 14 nodes of 2 to 4 states, a target of 3 states that cannot be set, at most 4 parents.

    The target of a satisficing world has five: four actions and the covariate.
    """
    for one in worlds(archetype, kind):
        assert 8 <= len(one.world.cards) <= 14
        assert set(one.world.cards) <= {2, 3, 4}
        assert max(map(len, one.world.parents)) <= (5 if archetype == "satisficing" else 4)
        assert one.world.cards[one.question.outcome] == 3
        assert not one.world.intervenable[one.question.outcome]
        assert not one.world.network.descendants(one.question.outcome)


def test_safety_worlds_show_their_signature() -> None:
    """A safe action helps by 0.20 and harms by 0.08 at most; the unsafe one helps and harms by 0.15."""
    for one in worlds("safety"):
        gold = next(e for e in one.truth.effects if e.action == one.truth.best[0])
        assert gold.improvement >= 0.20
        assert abs(gold.harm or 0.0) <= 0.08
        unsafe = [e for e in one.truth.effects if e.node == one.world.find("unsafe")]
        assert any(e.improvement >= 0.15 and (e.harm or 0) >= 0.15 for e in unsafe)
        mirage = [e for e in one.truth.effects if e.node == one.world.find("mirage")]
        assert max(abs(e.improvement) for e in mirage) < 1e-12
        assert one.question.watched not in {e.node for e in one.truth.effects}


def test_mediator_worlds_show_their_signatures() -> None:
    """Total effect above 0.20; the residuals and spreads of appendix B, and the label that follows."""
    labels = ("entirely_through", "also_direct_or_other", "not_through")
    for kind, label in zip(MEDIATOR_KINDS, labels, strict=False):
        for one in worlds("mediator", kind):
            mediator = one.world.find("mediator")
            left = residual(one.oracle, one.question, mediator)
            moved = spread(one.oracle, one.question.outcome, mediator)
            assert total_effect(one.oracle, one.question)[2] > 0.20
            assert one.truth.label == label
            if kind == "mediated_only":
                assert left.max() <= 0.10
            elif kind == "direct_and_mediated":
                assert left.min() > 0.18
                assert moved > 0.20
            else:
                assert left.min() >= 0.18
                assert moved <= 0.10
    for one in worlds("mediator", "which_mediator"):
        outcome, cause = one.question.outcome, one.question.cause
        others = [n for n in one.world.legal() if n not in (cause, one.world.find("mediator"))]
        ahead = spread(one.oracle, outcome, one.world.find("mediator"))
        assert one.truth.nodes == (one.world.find("mediator"),)
        assert ahead - max(spread(one.oracle, outcome, n) for n in others) >= 0.20


def test_satisficing_worlds_have_a_clean_gap() -> None:
    """No action lies within 0.05 of the threshold, to its three digits; some lie above, most below."""
    for one in worlds("satisficing"):
        threshold = one.question.threshold or 0.0
        above = [e for e in one.truth.effects if e.improvement >= threshold]
        assert min(abs(e.improvement - threshold) for e in one.truth.effects) >= 0.049
        assert 0 < len(above) <= len(one.truth.effects) / 2
        assert {e.action for e in above} == set(one.truth.best)


def test_subgroup_worlds_show_their_signature() -> None:
    """The robust action helps every group by 0.18, no other by 0.13, the best on average is another."""
    for one in worlds("subgroup"):
        gold = next(e for e in one.truth.effects if e.action == one.truth.best[0])
        rest = [e for e in one.truth.effects if e is not gold]
        assert gold.node == one.world.find("robust")
        assert (gold.floor or 0) >= 0.18
        assert max(e.floor or 0 for e in rest) < 0.13
        assert max(one.truth.effects, key=lambda e: e.improvement).node != gold.node
        assert any(e.node == one.world.find("bad") and (e.floor or 0) <= -0.05 for e in rest)


def test_invalid_premise_worlds_show_their_signature() -> None:
    """The proposed variable cannot be set, moves with the target by 0.20, and has no path to it."""
    for one in worlds("invalid"):
        assert one.question.proposed is not None
        node, state = one.question.proposed
        outcome = one.question.outcome
        means = [float(expected(one.oracle, outcome, (), {node: s})) for s in range(one.world.cards[node])]
        assert not one.world.intervenable[node]
        assert np.ptp(means) >= 0.20
        assert state == int(np.argmin(means))
        assert node not in one.oracle.ancestors(outcome)
        assert np.ptp(expected(one.oracle, outcome, (node,))) < 1e-12


def test_background_never_touches_the_signature() -> None:
    """No background edge goes into an action, a mediator, the watched node or the group.

    And none goes out of the target.
    """
    central = {"safe", "unsafe", "decoy", "mirage", "treatment", "mediator", "watched", "group", "robust"}
    for archetype, kind in EVERY_KIND:
        for one in worlds(archetype, kind):
            roles = one.world.roles
            for node, above in enumerate(one.world.parents):
                if roles[node] in central:
                    assert not any(roles[parent] == "background" for parent in above)
                assert "outcome" not in {roles[parent] for parent in above}


def test_ties_and_thresholds_of_the_rules() -> None:
    """Section 5, by hand: 0.05 ties, harm to 0.13, the stored threshold, a floor of 0.15 and 0.05 of gold."""

    def effect(node: int, improvement: float, harm: float = 0.0, floor: float = 0.0) -> Effect:
        return Effect(node=node, state=0, improvement=improvement, harm=harm, floor=floor)

    safety = Question(kind="safety", outcome=9, watched=8)
    gold, tie, harmful, weak = (
        effect(0, 0.40),
        effect(1, 0.351, 0.129),
        effect(2, 0.9, 0.131),
        effect(3, 0.349),
    )
    table = [gold, tie, harmful, weak]
    best = best_actions(safety, table)
    assert best == (gold,)
    assert [accepted(safety, e, best) for e in table] == [True, True, False, False]
    enough = Question(kind="satisficing", outcome=9, threshold=0.35)
    assert [accepted(enough, e, best_actions(enough, table)) for e in table] == [True, True, True, False]
    groups = Question(kind="subgroup", outcome=9, group=7)
    floors = [effect(n, 1.0, 0.0, f) for n, f in enumerate((0.20, 0.155, 0.149))]
    assert [accepted(groups, e, best_actions(groups, floors)) for e in floors] == [True, True, False]
    high = [effect(n, 1.0, 0.0, f) for n, f in enumerate((0.40, 0.351, 0.349))]
    assert [accepted(groups, e, best_actions(groups, high)) for e in high] == [True, True, False]
    assert not accepted(groups, floors[2], best_actions(groups, floors[2:]))
