"""Derive the truth of a question from an oracle.

Source: arXiv 2610.14381, section 3.3 (gold answers) and appendix B.
"""

from __future__ import annotations

import numpy as np

from environments.pgm.network import FloatArray
from environments.pgm.oracle import Oracle, expected
from environments.pgm.question import LABELS, Effect, Question, Truth
from environments.pgm.rules import best_actions

MEDIATED_RESIDUAL, OTHER_RESIDUAL, SPREAD = 0.10, 0.18, 0.20


def derive(question: Question, oracle: Oracle) -> Truth:
    """Return the gold answer of a question with the table that scoring needs."""
    kind, outcome, cause = question.kind, question.outcome, question.cause
    if kind == "causal_effect":
        assert cause is not None
        return Truth(verdict=cause in oracle.ancestors(outcome))
    if kind in ("marginal", "conditional"):
        assert cause is not None
        given = () if question.given is None else (question.given,)
        return Truth(verdict=oracle.separated(cause, outcome, given))
    if kind == "all_causes_of":
        return Truth(nodes=tuple(sorted(oracle.ancestors(outcome))))
    if kind == "all_effects_of":
        assert cause is not None
        return Truth(nodes=tuple(sorted(oracle.descendants(cause))))
    if kind == "mediator":
        return _mediation(question, oracle)
    table = effects(question, oracle)
    return Truth(effects=table, best=tuple(e.action for e in best_actions(question, table)))


def effects(question: Question, oracle: Oracle) -> tuple[Effect, ...]:
    """Return the effect of every legal action: improvement, and harm or worst group where asked."""
    found = []
    for node in oracle.world.legal():
        if node not in (question.outcome, question.watched):
            found.extend(_effects_of(node, question, oracle))
    return tuple(found)


def _effects_of(node: int, question: Question, oracle: Oracle) -> list[Effect]:
    improvement = _change(oracle, question.outcome, node)
    harm = floor = None
    if question.watched is not None:
        harm = -_change(oracle, question.watched, node)
    if question.group is not None:
        group = question.group
        floor = np.min(
            [
                _change(oracle, question.outcome, node, {group: state})
                for state in range(oracle.world.cards[group])
            ],
            axis=0,
        )
    return [
        Effect(
            node=node,
            state=state,
            improvement=float(improvement[state]),
            harm=None if harm is None else float(harm[state]),
            floor=None if floor is None else float(floor[state]),
        )
        for state in range(oracle.world.cards[node])
    ]


def _change(oracle: Oracle, outcome: int, node: int, given: dict[int, int] | None = None) -> FloatArray:
    """Return E(outcome | given) - E(outcome | do(node), given) for each state of ``node``."""
    change: FloatArray = expected(oracle, outcome, (), given) - expected(oracle, outcome, (node,), given)
    return change


def total_effect(oracle: Oracle, question: Question) -> tuple[int, int, float]:
    """Return the treatment's states with the highest and lowest expected outcome, and the difference."""
    assert question.cause is not None
    means = expected(oracle, question.outcome, (question.cause,))
    high, low = int(means.argmax()), int(means.argmin())
    return high, low, float(means[high] - means[low])


def residual(oracle: Oracle, question: Question, mediator: int) -> FloatArray:
    """Return the effect that is left when the mediator is held, for each of its states."""
    assert question.cause is not None
    high, low, _ = total_effect(oracle, question)
    held = expected(oracle, question.outcome, (question.cause, mediator))
    left: FloatArray = np.abs(held[high] - held[low])
    return left


def spread(oracle: Oracle, outcome: int, node: int) -> float:
    """Return how far setting a node can move the expected outcome."""
    return float(np.ptp(expected(oracle, outcome, (node,))))


def candidates(oracle: Oracle, question: Question) -> list[int]:
    """Return the nodes that could carry the effect: those that may be set, but for the treatment."""
    return [node for node in oracle.world.legal() if node not in (question.cause, question.outcome)]


def _mediation(question: Question, oracle: Oracle) -> Truth:
    assert question.cause is not None
    between = oracle.descendants(question.cause) & oracle.ancestors(question.outcome)
    if question.mediator is None:
        able = [node for node in candidates(oracle, question) if node in between]
        spreads = {node: spread(oracle, question.outcome, node) for node in able}
        return Truth(nodes=(max(spreads, key=spreads.__getitem__),)) if spreads else Truth(nodes=())
    left = residual(oracle, question, question.mediator)
    if spread(oracle, question.outcome, question.mediator) <= MEDIATED_RESIDUAL:
        return Truth(label=LABELS[2])
    return Truth(label=LABELS[0] if left.max() <= MEDIATED_RESIDUAL else LABELS[1])
