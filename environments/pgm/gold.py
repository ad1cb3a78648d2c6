"""The gold answer of a task in words."""

from __future__ import annotations

from environments.pgm.definition import PgmDefinition
from environments.pgm.question import LISTS
from environments.task import JSON


def gold_answer(definition: PgmDefinition) -> JSON:
    """Return the gold answer in words: what the public commitment binds."""
    truth, variables = definition.truth, definition.variables
    if truth.verdict is not None:
        return "yes" if truth.verdict else "no"
    if truth.label is not None:
        return truth.label
    if definition.question.kind == "mediator":
        assert truth.nodes is not None
        return variables[truth.nodes[0]].name
    if definition.question.kind in LISTS:
        return [variables[node].name for node in truth.nodes or ()]
    actions = [
        {"variable": variables[node].name, "state": variables[node].states[state]}
        for node, state in truth.best
    ]
    if definition.question.kind == "invalid":
        return {"reject": True, "alternative": actions[0] if actions else None}
    return actions[0]
