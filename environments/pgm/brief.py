"""What a player is told: scenario, variables, question, and the rules of the protocol.

Source: arXiv 2610.14381, section 3.1 (what the agent observes).
"""

from __future__ import annotations

from environments.pgm.definition import PgmDefinition
from environments.pgm.phrase import phrase
from environments.pgm.protocol import meters
from environments.task import JSON

_INDEX = (
    "The index of a state is its place in the variable's list, counted from 0; where preferred_low is false "
    "it is counted from the end of the list. A lower mean index is better. What an action achieves is judged "
    "against the mean index in ordinary records."
)
_RULES = {
    "turns": "There are {turns} turns. A query, a query that fails, the answer and giving up take one each.",
    "queries": "At most {queries} queries can succeed.",
    "rows": "At most {rows} records can be drawn in all; a request for more than are left fails.",
}


def task_brief(definition: PgmDefinition) -> dict[str, JSON]:
    """Return the part of the brief that holds under every protocol."""
    return {
        "scenario": definition.scenario,
        "variables": [variable.model_dump(mode="json") for variable in definition.variables],
        "question": phrase(definition),
        "index": _INDEX,
    }


def brief(definition: PgmDefinition, protocol: str) -> dict[str, JSON]:
    """Return the whole brief of one session."""
    limits = meters(protocol)
    rules = [rule.format(**limits) for name, rule in _RULES.items() if name in limits]
    return task_brief(definition) | {"protocol": {"limits": limits, "rules": rules}}
