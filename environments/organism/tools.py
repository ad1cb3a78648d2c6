"""The actions of a session and of a probe item, with their JSON schemas and charges.

Nothing that is refused costs anything.

Source: "Treating the Symptom, Missing the Cause", appendices 7 and 8.6 (the tools); texts ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from environments.organism.definition import OrganismDefinition
from environments.organism.network import FAULT_KINDS, GENE_ACTIONS, SIGNAL_ACTION
from environments.task import JSON, Charge, Tool

RUN = "run_experiment"
STATUS = "get_status"
PREDICT = "submit_prediction"
DIAGNOSE = "submit_malfunction_hypothesis"
RESCUE = "test_rescue"
FINISH = "finish"
ANSWER = "answer"

HEALTHY_TOOLS = (RUN, STATUS, PREDICT, FINISH)
DISEASED_TOOLS = (RUN, STATUS, PREDICT, DIAGNOSE, RESCUE, FINISH)
PROBE_TOOLS = (ANSWER,)

_FREE = Charge()
_ONE = Charge(succeeded={"experiments": 1})


def tool_names(*, diseased: bool) -> tuple[str, ...]:
    """Return the names of a session's tools in their order."""
    return DISEASED_TOOLS if diseased else HEALTHY_TOOLS


def task_name(number: int) -> str:
    """Return the name of a prediction task, counted from zero."""
    return f"prediction-{number + 1}"


def session_tools(definition: OrganismDefinition) -> tuple[Tool, ...]:
    """Return the tools of a session."""
    made: Mapping[str, Tool] = {
        RUN: Tool(
            name=RUN,
            kind="experiment",
            description=(
                "Intervene on one or more targets at once and read every phenotype. BLOCK, BOOST and DAMPEN "
                "act on genes, ON switches a signal on. Costs one experiment. A prediction task's own "
                "combination is refused."
            ),
            parameters=_interventions(definition),
            charge=_ONE,
        ),
        STATUS: Tool(
            name=STATUS,
            kind="analysis",
            description="Say what has been done and submitted so far. Takes no arguments and costs nothing.",
            parameters=_object({}),
            charge=_FREE,
        ),
        PREDICT: _predict(definition),
        DIAGNOSE: _diagnose(definition),
        RESCUE: Tool(
            name=RESCUE,
            kind="experiment",
            description=(
                "Test an intervention meant to bring the aberrant phenotypes back into their healthy ranges. "
                "Possible only after the malfunction hypothesis. Returns for each phenotype whether it is "
                "restored, and the mean squared error against the healthy baseline. Costs one experiment. "
                "The last tested rescue counts."
            ),
            parameters=_interventions(definition),
            charge=_ONE,
        ),
        FINISH: Tool(
            name=FINISH,
            kind="commit",
            description="End the session. What has been submitted by then counts. Takes no arguments.",
            parameters=_object({}),
            charge=_FREE,
        ),
    }
    return tuple(made[name] for name in tool_names(diseased=definition.diseased))


def answer_tool() -> Tool:
    """Return the one tool of a probe item."""
    return Tool(
        name=ANSWER,
        kind="commit",
        description="Give the whole reply to the question, in the form that it asks for. Only one counts.",
        parameters=_object({"text": {"type": "string"}}),
        charge=_FREE,
    )


def _predict(definition: OrganismDefinition) -> Tool:
    tasks: list[JSON] = [task_name(number) for number in range(len(definition.tasks))]
    value: JSON = {"type": "number", "minimum": 0, "maximum": 1}
    return Tool(
        name=PREDICT,
        kind="commit",
        description=(
            "Submit the predicted value of every phenotype for one prediction task of the brief. Once for "
            "each task; costs nothing; no score comes back."
        ),
        parameters=_object(
            {
                "task": {"type": "string", "enum": tasks},
                "values": _object(dict.fromkeys(definition.phenotypes, value)),
            }
        ),
        charge=_FREE,
    )


def _diagnose(definition: OrganismDefinition) -> Tool:
    targets: list[JSON] = [*definition.visible, *definition.signals]
    return Tool(
        name=DIAGNOSE,
        kind="commit",
        description=(
            "Submit the one component that is broken and how: a gene LOCK_HI or LOCK_LO, a signal PERSIST. "
            "Once, irrevocable, costs nothing; no score comes back. Unlocks test_rescue."
        ),
        parameters=_object(
            {
                "target": {"type": "string", "enum": targets},
                "type": {"type": "string", "enum": list(FAULT_KINDS)},
            }
        ),
        charge=_FREE,
    )


def _interventions(definition: OrganismDefinition) -> dict[str, JSON]:
    genes = {name: _one_of(GENE_ACTIONS) for name in definition.visible}
    signals = {name: _one_of((SIGNAL_ACTION,)) for name in definition.signals}
    plan = _object(genes | signals) | {"required": []}
    return _object({"interventions": plan})


def _one_of(words: Sequence[str]) -> JSON:
    return {"type": "string", "enum": list(words)}


def _object(properties: dict[str, JSON]) -> dict[str, JSON]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
