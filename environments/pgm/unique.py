"""A fingerprint that two worlds share only when they are the same up to the order of their nodes.

It is taken over the graph by colour refinement, the numbers of states, the gold answer and the effect
table rounded to hundredths. Equal worlds always agree; worlds that agree are treated as equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from cards.canonical import digest
from environments.pgm.causal_world import World
from environments.pgm.question import Question, Truth


def fingerprint(world: World, questions: Sequence[Question], truths: Sequence[Truth]) -> str:
    """Return the fingerprint of a world with everything asked of it."""
    marks = _marks(world, questions, truths)
    colours = [digest([card, mark]) for card, mark in zip(world.cards, marks, strict=True)]
    for _ in world.cards:
        colours = [
            digest(
                [
                    colours[node],
                    sorted(colours[parent] for parent in world.parents[node]),
                    sorted(colours[child] for child, above in enumerate(world.parents) if node in above),
                ]
            )
            for node in range(len(colours))
        ]
    return digest(sorted(colours))


def _marks(world: World, questions: Sequence[Question], truths: Sequence[Truth]) -> list[list[object]]:
    """Return for each node what the questions and gold answers say of it."""
    marks: list[list[object]] = [[] for _ in world.cards]
    for question, truth in zip(questions, truths, strict=True):
        marks[question.outcome].append([question.kind, "outcome", truth.verdict, truth.label])
        for role in ("cause", "given", "watched", "group", "mediator"):
            node = getattr(question, role)
            if node is not None:
                marks[node].append([question.kind, role])
        for node in truth.nodes or ():
            marks[node].append([question.kind, "gold"])
        for effect in truth.effects:
            marks[effect.node].append(
                [effect.state, effect.action in truth.best, _hundredth(effect.improvement)]
            )
    return marks


def _hundredth(value: float) -> int:
    return round(100 * value)
