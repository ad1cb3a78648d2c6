"""What a model writes in one turn of a law episode, and how it becomes an action.

On the wire everything is a flat list of named things, which every structured-output dialect can
express; the session wants objects by name and expression documents. An expression that cannot be read
goes on as it is, for the judge.
"""

from __future__ import annotations

from collections.abc import Sequence

from cards.document import loads_bounded, tree_document
from cards.errors import ExpressionError
from cards.infix import parse_infix
from environments.task import JSON, Tool
from evaluation.players.turn import Action, Talk, UnreadableError, closed, json_object, named_args, shown

COMPLETE = "complete"
PROPOSE = "propose_experiment"
READ = "read_observations"


def law_talk(brief: dict[str, JSON], tools: Sequence[Tool]) -> Talk:
    """Return the talk of a law episode; preset experiments are read without asking the model."""
    offered = [tool for tool in tools if tool.name != READ]
    actions = "\n".join(f"- {tool.name}: {tool.description}" for tool in offered)
    return Talk(
        opening=f"The brief:\n{shown(brief)}\n\nThe actions:\n{actions}",
        read=lambda text: [read_action(text)],
        schema=action_schema([tool.name for tool in offered]),
        first=Action(READ, {}) if len(offered) < len(tools) else None,
    )


def action_schema(tools: Sequence[str]) -> dict[str, JSON]:
    """Return the JSON schema of a turn in which ``tools`` are offered."""
    forecast = closed({"observable": _text(64), "value": {"type": "number"}})
    hypothesis = {"id": _text(32), "statement": _text(400), "confidence": {"type": "number"}}
    if PROPOSE in tools:
        hypothesis["forecasts"] = _list(forecast, 16)
    args = {
        "rationale": _text(1200),
        "hypotheses": _list(closed(hypothesis), 8),
        "inputs": _list(closed({"name": _text(64), "value": {"type": "number"}}), 16),
        "observables": _list(_text(64), 16),
        "selected": _text(32),
        "predictor": _list(closed({"observable": _text(64), "expression": _text(4000)}), 16),
        "explanation": _text(2400),
        "conditions": _list(_text(300), 12),
    }
    if PROPOSE not in tools:
        del args["inputs"], args["observables"]
    offered = [name for name in tools if name in (PROPOSE, COMPLETE)]
    return closed({"tool": {"type": "string", "enum": offered}, "args": closed(args)})


def read_action(text: str) -> Action:
    """Return the action that a reply stands for.

    Raises:
        UnreadableError: when it stands for none.
    """
    tool, args = named_args(json_object(text))
    if tool == COMPLETE:
        return Action(tool, _completion(args))
    return Action(tool, _proposal(args) if tool == PROPOSE else args)


def _completion(args: dict[str, JSON]) -> JSON:
    predictor = _by_name(args, "predictor", "observable", "expression")
    return {
        "hypotheses": [_report(item) for item in _needed(args, "hypotheses", list)],
        "selected": _needed(args, "selected", str),
        "predictor": {name: expression_document(value) for name, value in predictor.items()},
        "explanation": _needed(args, "explanation", str),
        "conditions": _needed(args, "conditions", list),
    }


def _proposal(args: dict[str, JSON]) -> JSON:
    return {
        "hypotheses": [
            {**_report(item), "forecasts": _by_name(item, "forecasts", "observable", "value")}
            for item in _needed(args, "hypotheses", list)
        ],
        "inputs": _by_name(args, "inputs", "name", "value"),
        "observables": _needed(args, "observables", list),
        "rationale": args.get("rationale", ""),
    }


def expression_document(value: JSON) -> JSON:
    """Return the expression document for infix text; anything else, and text that is none, unchanged."""
    if not isinstance(value, str):
        return value
    try:
        if value.lstrip().startswith("{"):
            return loads_bounded(value)
        return tree_document(parse_infix(value))
    except ExpressionError:
        return value


def _report(item: JSON) -> dict[str, JSON]:
    if not isinstance(item, dict):
        raise UnreadableError('each of "hypotheses" must be an object')
    return {name: item[name] for name in ("id", "statement", "confidence") if name in item}


def _by_name(holder: dict[str, JSON], field: str, name: str, value: str) -> dict[str, JSON]:
    """Turn a list of {name, value} into an object; an object is taken as it is."""
    pairs = holder.get(field)
    if isinstance(pairs, dict):
        return pairs
    if not isinstance(pairs, list):
        raise UnreadableError(f'"{field}" must be a list of {{"{name}", "{value}"}}')
    found: dict[str, JSON] = {}
    for pair in pairs:
        key = pair.get(name) if isinstance(pair, dict) else None
        if not isinstance(key, str) or value not in pair:
            raise UnreadableError(f'each of "{field}" must be an object {{"{name}", "{value}"}}')
        if key in found:
            raise UnreadableError(f'"{field}" names {key[:64]!r} twice')
        found[key] = pair[value]
    return found


def _needed(args: dict[str, JSON], name: str, kind: type) -> JSON:
    value = args.get(name)
    if not isinstance(value, kind):
        raise UnreadableError(f'"{name}" must be {"a list" if kind is list else "a text"}')
    return value


def _text(longest: int) -> dict[str, JSON]:
    return {"type": "string", "maxLength": longest}


def _list(items: JSON, longest: int) -> dict[str, JSON]:
    return {"type": "array", "items": items, "maxItems": longest}
