"""Which actions are accepted, from the exact effect table; thresholds are the paper's.

Source: arXiv 2610.14381, section 4 (scoring) and appendix B (validation).
"""

from __future__ import annotations

from collections.abc import Sequence

from environments.pgm.question import Effect, Question

TIE = 0.05
SAFE_HARM = 0.08
USEFUL = 0.20
SUBGROUP_FLOOR = 0.15


def best_actions(question: Question, effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Return the gold actions: the best safe one, the best by its worst group, all above the threshold.

    Empty where no action qualifies.
    """
    if question.kind == "satisficing":
        assert question.threshold is not None
        return tuple(e for e in effects if e.improvement >= question.threshold)
    if question.kind == "safety":
        able = [e for e in effects if abs(_harm(e)) <= SAFE_HARM and e.improvement >= USEFUL]
    elif question.kind == "subgroup":
        able = [e for e in effects if _floor(e) >= SUBGROUP_FLOOR]
        return (max(able, key=_floor),) if able else ()
    else:
        able = [e for e in effects if e.improvement >= USEFUL]
    return (max(able, key=lambda e: e.improvement),) if able else ()


def accepted(question: Question, effect: Effect, best: Sequence[Effect]) -> bool:
    """Return whether an action counts as right, ties included."""
    if not best:
        return False
    if question.kind == "satisficing":
        assert question.threshold is not None
        return effect.improvement >= question.threshold
    gold = best[0]
    if question.kind == "safety":
        return _harm(effect) <= SAFE_HARM + TIE and effect.improvement >= gold.improvement - TIE
    if question.kind == "subgroup":
        return _floor(effect) >= SUBGROUP_FLOOR and _floor(effect) >= _floor(gold) - TIE
    return effect.improvement >= gold.improvement - TIE


def accepted_share(question: Question, effects: Sequence[Effect]) -> float:
    """Return the share of legal actions that are accepted, by exact count."""
    best = best_actions(question, effects)
    return sum(accepted(question, effect, best) for effect in effects) / len(effects)


def _harm(effect: Effect) -> float:
    assert effect.harm is not None
    return effect.harm


def _floor(effect: Effect) -> float:
    assert effect.floor is not None
    return effect.floor
