"""The actions of a law world, with their JSON schemas; the same for every law but for the names."""

from __future__ import annotations

from environments.law.arguments import MAX_HYPOTHESES
from environments.law.definition import LawDefinition
from environments.law.protocol import Protocol
from environments.task import JSON, Charge, Tool

COMPLETE = "complete"
PROPOSE = "propose_experiment"
READ = "read_observations"

_CALL = {"calls": 1}
_CHARGE = Charge(succeeded=_CALL, refused=_CALL, unreadable=_CALL)
_EXPERIMENT = Charge(succeeded={"calls": 1, "experiments": 1}, refused=_CALL, unreadable=_CALL)


def tool_names(protocol: Protocol) -> tuple[str, ...]:
    """Return the names of a protocol's tools in their order."""
    first = {"prior": (), "fixed": (READ,), "adaptive": (PROPOSE,)}[protocol.kind]
    return (*first, COMPLETE)


def tools(definition: LawDefinition, protocol: Protocol) -> tuple[Tool, ...]:
    """Return a protocol's tools."""
    made = {
        READ: lambda: _read(protocol.budget),
        PROPOSE: lambda: _propose(definition),
        COMPLETE: lambda: _complete(definition, 2 if protocol.kind == "adaptive" else 1),
    }
    return tuple(made[name]() for name in tool_names(protocol))


def _read(budget: int) -> Tool:
    return Tool(
        name=READ,
        kind="experiment",
        description=f"Read the {budget} preset experiments with their observables. Takes no arguments.",
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
        charge=_CHARGE,
    )


def _propose(definition: LawDefinition) -> Tool:
    inputs = [item.name for item in definition.inputs]
    observables = [item.name for item in definition.observables]
    forecast = _hypothesis(
        {"forecasts": {"type": "object", "additionalProperties": {"type": "number"}}}, ["forecasts"]
    )
    return Tool(
        name=PROPOSE,
        kind="experiment",
        description=(
            "Propose one experiment: set every input, name the observables to measure, and forecast each of "
            "them under each of at least two different hypotheses. Returns the measured observables, or says "
            "why the proposal is refused."
        ),
        parameters=_object(
            {
                "hypotheses": _list(forecast, 2, MAX_HYPOTHESES),
                "inputs": _object({name: {"type": "number"} for name in inputs}, inputs),
                "observables": _list({"type": "string", "enum": observables}, 1, len(observables)),
                "rationale": {"type": "string"},
            },
            ["hypotheses", "inputs", "observables"],
        ),
        charge=_EXPERIMENT,
    )


def _complete(definition: LawDefinition, at_least: int) -> Tool:
    observables = [item.name for item in definition.observables]
    return Tool(
        name=COMPLETE,
        kind="commit",
        description=(
            "End the episode: select a hypothesis and submit one expression document per observable, a "
            "scientific explanation, and the conditions under which the relation applies. Only one "
            "completion is accepted."
        ),
        parameters=_object(
            {
                "hypotheses": _list(_hypothesis({}, []), at_least, MAX_HYPOTHESES),
                "selected": {"type": "string"},
                "predictor": _object({name: {} for name in observables}, observables),
                "explanation": {"type": "string", "minLength": 1},
                "conditions": {"type": "array", "items": {"type": "string"}},
            },
            ["hypotheses", "selected", "predictor", "explanation", "conditions"],
        ),
        charge=_CHARGE,
    )


def _hypothesis(more: dict[str, JSON], required: list[str]) -> JSON:
    properties = {
        "id": {"type": "string", "minLength": 1},
        "statement": {"type": "string", "minLength": 1},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    }
    return _object(properties | more, [*properties, *required])


def _object(properties: dict[str, JSON], required: list[str]) -> JSON:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _list(items: JSON, low: int, high: int) -> JSON:
    return {"type": "array", "items": items, "minItems": low, "maxItems": high}
