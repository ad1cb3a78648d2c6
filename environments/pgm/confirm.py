"""Ask the second oracle for everything that the first one said.

A world too large for the second way is passed over; one on which the two ways differ stops the build,
because then one of them is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from cards.errors import InputError
from environments.pgm.causal_world import World
from environments.pgm.derive import derive
from environments.pgm.joint import MAX_CELLS, JointOracle, JointSizeError
from environments.pgm.question import LISTS, YES_NO, Effect, Question, Truth
from environments.pgm.structural import holds

AGREEMENT = 1e-9


def confirm(
    world: World, questions: Sequence[Question], truths: Sequence[Truth], cells: int = MAX_CELLS
) -> bool:
    """Return whether the joint gives the same truths; False when it has more than ``cells`` cells.

    Raises:
        InputError: when the two ways disagree.
    """
    oracle = JointOracle(world, cells)
    try:
        for question, truth in zip(questions, truths, strict=True):
            shown = question.kind not in (*YES_NO, *LISTS) or holds(oracle, question, truth.verdict)
            if not shown or not _agree(truth, derive(question, oracle)):
                message = f"two ways to the truth of a question of kind {question.kind} differ."
                raise InputError(message, "Inference is broken; do not publish anything built with it.")
    except JointSizeError:
        return False
    return True


def _agree(one: Truth, other: Truth) -> bool:
    alike = one.model_copy(update={"effects": ()}) == other.model_copy(update={"effects": ()})
    if not alike or len(one.effects) != len(other.effects):
        return False
    return all(_alike(a, b) for a, b in zip(one.effects, other.effects, strict=True))


def _alike(one: Effect, other: Effect) -> bool:
    pairs = zip(_figures(one), _figures(other), strict=True)
    return one.action == other.action and all(abs(a - b) <= AGREEMENT for a, b in pairs)


def _figures(effect: Effect) -> tuple[float, float, float]:
    return effect.improvement, effect.harm or 0.0, effect.floor or 0.0
