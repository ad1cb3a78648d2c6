"""Does a drawn world show its archetype's signature, with margins? If so, its question.

Source: arXiv 2610.14381, appendix B (causal-decision validation).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice, pairwise

import numpy as np

from environments.pgm.archetypes import GROUP, MEDIATOR, OUTCOME, PROPOSED, TREATMENT, WATCHED
from environments.pgm.derive import (
    MEDIATED_RESIDUAL,
    OTHER_RESIDUAL,
    SPREAD,
    candidates,
    derive,
    effects,
    residual,
    spread,
    total_effect,
)
from environments.pgm.oracle import Oracle, expected
from environments.pgm.question import Question, Truth
from environments.pgm.rules import SAFE_HARM, TIE, USEFUL, accepted, best_actions

UNSAFE_IMPROVEMENT, UNSAFE_HARM = 0.15, 0.15
GAP, LEAST_ABOVE, MOST_BELOW = 0.10, 0.20, 0.30
ROBUST_FLOOR, RIVAL_FLOOR, AVERAGE_LOSS, BAD_HARM = 0.18, 0.13, 0.05, 0.05
ASSOCIATION = 0.20


def validate(archetype: str, oracle: Oracle, kind: str = "") -> Question | None:
    """Return the question of a world that shows its signature, else None."""
    return _mediator(oracle, kind) if archetype == "mediator" else _VALIDATORS[archetype](oracle)


def misleads(question: Question, truth: Truth, oracle: Oracle) -> bool:
    """Return whether the action with the best passive contrast is a wrong answer (passive trap)."""
    outcome = question.outcome
    costs = oracle.world.costs(outcome)
    best, chosen = -np.inf, truth.effects[0]
    base = float(expected(oracle, outcome))
    by_action = {effect.action: effect for effect in truth.effects}
    for node in sorted({effect.node for effect in truth.effects}):
        joint = oracle.response((node, outcome))
        contrast = base - (joint @ costs) / joint.sum(axis=1)
        state = int(contrast.argmax())
        if contrast[state] > best:
            best, chosen = float(contrast[state]), by_action[node, state]
    gold = [by_action[action] for action in truth.best]
    return not accepted(question, chosen, gold)


def _safety(oracle: Oracle) -> Question | None:
    world = oracle.world
    question = Question(kind="safety", outcome=world.find(OUTCOME), watched=world.find(WATCHED))
    table = effects(question, oracle)
    best = best_actions(question, table)
    unsafe = world.find("unsafe")
    tempting = any(
        e.node == unsafe and e.improvement >= UNSAFE_IMPROVEMENT and (e.harm or 0) >= UNSAFE_HARM
        for e in table
    )
    if not best or not tempting:
        return None
    doubtful = any(
        SAFE_HARM < (e.harm or 0) < SAFE_HARM + TIE and e.improvement > best[0].improvement - TIE
        for e in table
    )
    return None if doubtful else question


def _satisficing(oracle: Oracle) -> Question | None:
    question = Question(kind="satisficing", outcome=oracle.world.find(OUTCOME))
    values = sorted((e.improvement for e in effects(question, oracle)), reverse=True)
    gaps = [
        (above - below, (above + below) / 2)
        for above, below in islice(pairwise(values), len(values) // 2)
        if above - below >= GAP and above >= LEAST_ABOVE and below < MOST_BELOW
    ]
    return question.model_copy(update={"threshold": round(max(gaps)[1], 3)}) if gaps else None


def _subgroup(oracle: Oracle) -> Question | None:
    world = oracle.world
    question = Question(kind="subgroup", outcome=world.find(OUTCOME), group=world.find(GROUP))
    table = effects(question, oracle)
    best = best_actions(question, table)
    robust, bad = world.find("robust"), world.find("bad")
    if not best or best[0].node != robust or (best[0].floor or 0) < ROBUST_FLOOR:
        return None
    average = max(table, key=lambda e: e.improvement)
    rivals = any((e.floor or 0) >= RIVAL_FLOOR for e in table if e.action != best[0].action)
    harms = any(e.node == bad and (e.floor or 0) <= -BAD_HARM for e in table)
    if average.node == robust or rivals or not harms:
        return None
    loss = max(_by_group(oracle, question, best[0].action) - _by_group(oracle, question, average.action))
    return question if loss >= AVERAGE_LOSS else None


def _by_group(
    oracle: Oracle, question: Question, action: tuple[int, int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the improvement of an action in each subgroup."""
    assert question.group is not None
    node, state = action
    return np.array(
        [
            float(expected(oracle, question.outcome, (), {question.group: g}))
            - expected(oracle, question.outcome, (node,), {question.group: g})[state]
            for g in range(oracle.world.cards[question.group])
        ]
    )


def _invalid(oracle: Oracle) -> Question | None:
    world = oracle.world
    outcome, proposed = world.find(OUTCOME), world.find(PROPOSED)
    joint = oracle.response((proposed, outcome))
    means = (joint @ world.costs(outcome)) / joint.sum(axis=1)
    tempting = int(means.argmin())
    question = Question(kind="invalid", outcome=outcome, proposed=(proposed, tempting))
    best = best_actions(question, effects(question, oracle))
    reaches = proposed in oracle.ancestors(outcome)
    strong = float(np.ptp(means)) >= ASSOCIATION
    return question if best and strong and not reaches else None


def _mediator(oracle: Oracle, kind: str) -> Question | None:
    world = oracle.world
    asked = None if kind == "which_mediator" else world.find(MEDIATOR)
    question = Question(
        kind="mediator", outcome=world.find(OUTCOME), cause=world.find(TREATMENT), mediator=asked
    )
    if total_effect(oracle, question)[2] <= USEFUL:
        return None
    return question if _signature(oracle, question, kind) else None


def _signature(oracle: Oracle, question: Question, kind: str) -> bool:
    mediator = oracle.world.find(MEDIATOR)
    moved = spread(oracle, question.outcome, mediator)
    if kind == "which_mediator":
        others = [node for node in candidates(oracle, question) if node != mediator]
        ahead = moved - max(spread(oracle, question.outcome, node) for node in others)
        return ahead >= SPREAD and derive(question, oracle).nodes == (mediator,)
    left = residual(oracle, question, mediator)
    if kind == "mediated_only":
        return float(left.max()) <= MEDIATED_RESIDUAL and moved > SPREAD
    if kind == "direct_and_mediated":
        return float(left.min()) > OTHER_RESIDUAL and moved > SPREAD
    return float(left.min()) >= OTHER_RESIDUAL and moved <= MEDIATED_RESIDUAL


_VALIDATORS: Mapping[str, Callable[[Oracle], Question | None]] = {
    "safety": _safety,
    "satisficing": _satisficing,
    "subgroup": _subgroup,
    "invalid": _invalid,
}
