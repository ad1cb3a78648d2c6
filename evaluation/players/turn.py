"""What a model writes in one turn: a JSON object that names actions; here the form that most families share.

Arguments go to the session as they were written, and are checked there. Nothing is mended on the way: text
that is no action stays a problem, and what cannot be read is never run with other arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cards.document import loads_bounded
from cards.errors import ExpressionError
from environments.task import JSON, Tool

CALL = "Your action, as one JSON object:"


@dataclass(frozen=True, slots=True)
class Action:
    """One call to make."""

    tool: str
    args: JSON


class UnreadableError(Exception):
    """A reply that is no action; the message says why, to the model."""


@dataclass(frozen=True)
class Talk:
    """How one episode is talked about.

    Attributes:
        opening: what the model is told of brief and actions, in its first message.
        read: returns the actions of a reply, at least one; raises UnreadableError where it holds none.
        schema: the JSON schema of a reply; None where it is free text.
        first: an action that is taken before the model is asked anything.
        call: the words that end every message.
        most_tokens: the most tokens of a reply, where the brief sets a limit.
    """

    opening: str
    read: Callable[[str], Sequence[Action]]
    schema: dict[str, JSON] | None
    first: Action | None = None
    call: str = CALL
    most_tokens: int | None = None


def talk_of_tools(brief: dict[str, JSON], tools: Sequence[Tool], most: int = 1) -> Talk:
    """Return the talk in which a reply is one action, or a list of up to ``most``, with its arguments."""
    listed = "\n".join(f"- {one.name}: {one.description}\n  args: {shown(one.parameters)}" for one in tools)
    call = CALL if most == 1 else "Your next actions, as one JSON object:"
    return Talk(
        opening=f"The brief:\n{shown(brief)}\n\nThe actions:\n{listed}",
        read=lambda text: read_turn(text, most),
        schema=turn_schema(tools, most),
        call=call,
    )


def turn_schema(tools: Sequence[Tool], most: int = 1) -> dict[str, JSON]:
    """Return the JSON schema of a turn in which ``tools`` are offered."""
    shapes: list[JSON] = []
    for tool in tools:
        if tool.parameters not in shapes:
            shapes.append(tool.parameters)
    action = closed(
        {
            "rationale": {"type": "string", "maxLength": 2000},
            "tool": {"type": "string", "enum": [tool.name for tool in tools]},
            "args": shapes[0] if len(shapes) == 1 else {"anyOf": shapes},
        }
    )
    if most == 1:
        return action
    return closed({"actions": {"type": "array", "items": action, "minItems": 1, "maxItems": most}})


def read_turn(text: str, most: int = 1) -> list[Action]:
    """Return the actions of a reply: one, or up to ``most`` under "actions".

    Raises:
        UnreadableError: when it holds none, or more; then none of them is taken.
    """
    turn = json_object(text)
    if most == 1 or "actions" not in turn:
        return [_action(turn)]
    listed = turn["actions"]
    if not isinstance(listed, list) or not 1 <= len(listed) <= most:
        raise UnreadableError(f'"actions" must be a list of 1 to {most} actions')
    return [_action(item) for item in listed]


def named_args(turn: JSON) -> tuple[str, dict[str, JSON]]:
    """Return a turn's tool and arguments.

    Raises:
        UnreadableError: when it has none.
    """
    if not isinstance(turn, dict):
        raise UnreadableError("each action must be an object")
    tool, args = turn.get("tool"), turn.get("args")
    if not isinstance(tool, str) or not tool:
        raise UnreadableError('"tool" must name the action')
    if not isinstance(args, dict):
        raise UnreadableError('"args" must be an object')
    return tool, args


def after_thought(text: str) -> str:
    """Return a reply without the thoughts that some models write before it."""
    return text.rpartition("</think>")[2]


def json_object(text: str) -> dict[str, JSON]:
    """Return the JSON object in a reply, which may stand in a fence or after words of thought.

    Raises:
        UnreadableError: when there is none.
    """
    said = after_thought(text)
    start, end = said.find("{"), said.rfind("}")
    if start < 0 or end < start:
        raise UnreadableError("there is no whole JSON object in it")
    try:
        value = loads_bounded(said[start : end + 1])
        json.dumps(value, ensure_ascii=False).encode()
    except ExpressionError as error:
        raise UnreadableError(error.message) from error
    except UnicodeEncodeError as error:
        raise UnreadableError("it holds half of a surrogate pair, which is no character") from error
    if not isinstance(value, dict):
        raise UnreadableError("it is not a JSON object")
    return value


def closed(properties: dict[str, JSON]) -> dict[str, JSON]:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def shown(value: JSON) -> str:
    """Return a JSON value as models read it."""
    return json.dumps(value, ensure_ascii=False)


def _action(turn: JSON) -> Action:
    tool, args = named_args(turn)
    rationale = turn.get("rationale")
    if not isinstance(rationale, str) or not rationale.strip():
        raise UnreadableError('"rationale" must say why you do this')
    return Action(tool, args)
