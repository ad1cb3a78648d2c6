"""The actions of a pgm world; each spends a turn however it ends."""

from __future__ import annotations

from environments.pgm.query import DEFAULT_ROWS, FEWEST_ROWS, MOST_ARMS, MOST_ROWS, MOST_SET
from environments.task import JSON, Charge, Tool

QUERY, ANSWER, GIVE_UP = "query", "answer", "give_up"
TOOL_NAMES = (QUERY, ANSWER, GIVE_UP)

_TURN = {"turns": 1}
_CHARGE = Charge(succeeded=_TURN, refused=_TURN, unreadable=_TURN)
_QUERY_CHARGE = Charge(succeeded={"turns": 1, "queries": 1}, refused=_TURN, unreadable=_TURN)

_STATES: JSON = {"type": "object", "additionalProperties": {"type": "string"}}
_ARM: JSON = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["observe", "intervene"]},
        "do": _STATES | {"maxProperties": MOST_SET},
        "n": {"type": "integer", "minimum": FEWEST_ROWS, "maximum": MOST_ROWS, "default": DEFAULT_ROWS},
        "where": _STATES,
        "by": {"type": "string"},
        "columns": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["kind"],
    "additionalProperties": False,
}


def tools() -> tuple[Tool, ...]:
    """Return the three actions, the same for every task."""
    return (
        Tool(
            name=QUERY,
            kind="experiment",
            description=(
                f"Ask for records: up to {MOST_ARMS} arms in one request. An arm observes ordinary records, "
                f'or intervenes by setting up to {MOST_SET} variables ("do"), and draws n records. "where" '
                'keeps the records in which variables have given states, "by" also splits them by the '
                'states of one variable, "columns" shows some variables only. Each arm comes back as a table '
                'of counts. Instead of arms a "text" such as "do(X=x) n=500; observe 1000 by Y" can be sent.'
            ),
            parameters={
                "type": "object",
                "properties": {
                    "arms": {"type": "array", "items": _ARM, "minItems": 1, "maxItems": MOST_ARMS},
                    "text": {"type": "string"},
                },
                "additionalProperties": False,
            },
            charge=_QUERY_CHARGE,
        ),
        Tool(
            name=ANSWER,
            kind="commit",
            description="Give the final answer in the form that the question asks for. It ends the episode.",
            parameters={
                "type": "object",
                "properties": {"answer": {}},
                "required": ["answer"],
                "additionalProperties": False,
            },
            charge=_CHARGE,
        ),
        Tool(
            name=GIVE_UP,
            kind="commit",
            description="End the episode without an answer. Takes no arguments.",
            parameters={"type": "object", "properties": {}, "additionalProperties": False},
            charge=_CHARGE,
        ),
    )
