"""The actions of a game, the same in every scenario.

Source: arXiv 2607.04293, table 9; what each costs is ours where the paper is silent.
"""

from __future__ import annotations

from environments.drone.arguments import MAX_QUERY, MAX_REPORT, MAX_WHERE
from environments.drone.definition import DroneDefinition
from environments.task import JSON, Charge, Tool

STATUS = "get_status"
HISTORY = "get_history"
SPACE = "get_action_space"
QUERY = "query_environment"
DEPLOY = "deploy_drone"
ANALYSE = "run_analysis"
ENVIRONMENTS = "get_all_environments"
SUBMIT = "submit_final_design"

SETTING = "survival"
PROTOCOLS = ("agentic", "prompting")

# What is refused or cannot be read costs nothing at all.
_READ = Charge(succeeded={"calls": 1})
_QUERY = Charge(succeeded={"calls": 1, "queries": 1})
_DEPLOY = Charge(succeeded={"calls": 1, "deployments": 1})


def tool_names(protocol: str) -> tuple[str, ...]:
    """Return the names of a protocol's tools in their order."""
    more = (ENVIRONMENTS,) if protocol == "prompting" else ()
    return (STATUS, HISTORY, SPACE, QUERY, DEPLOY, ANALYSE, *more, SUBMIT)


def tools(definition: DroneDefinition, protocol: str) -> tuple[Tool, ...]:
    """Return a protocol's tools."""
    made = {
        STATUS: _reading(STATUS, "Say what is left of the budgets, the stage and the target."),
        HISTORY: _reading(
            HISTORY,
            "Return the records of earlier flights (the archive) and of all drones that you deployed. "
            "Variables that you unlocked are filled in.",
        ),
        SPACE: _reading(SPACE, "Return the parts with the range and default of their DEF, and the modules."),
        ENVIRONMENTS: _reading(ENVIRONMENTS, "Return the environment readings of all flights by their id."),
        QUERY: _query(),
        DEPLOY: _deploy(definition),
        ANALYSE: _analyse(),
        SUBMIT: _submit(definition),
    }
    return tuple(made[name] for name in tool_names(protocol))


def _reading(name: str, description: str) -> Tool:
    return Tool(
        name=name,
        kind="analysis",
        description=f"{description} Takes no arguments.",
        parameters=_object({}, []),
        charge=_READ,
    )


def _query() -> Tool:
    return Tool(
        name=QUERY,
        kind="analysis",
        description=(
            "Ask in words for a measurement that records do not show yet. A variable that is recognised is "
            "unlocked: it stands in all records from then on, earlier ones included. Costs no drone."
        ),
        parameters=_object({"text": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY}}, ["text"]),
        charge=_QUERY,
    )


def _deploy(definition: DroneDefinition) -> Tool:
    return Tool(
        name=DEPLOY,
        kind="experiment",
        description=(
            "Fly drones of one design in Stage 1 and return how many came back, with what could be recorded "
            "of each. Parts that are not named keep their default DEF."
        ),
        parameters=_object(
            {
                **_design(definition),
                "count": {"type": "integer", "minimum": 1, "maximum": definition.budgets.drones},
            },
            ["design"],
        ),
        charge=_DEPLOY,
    )


def _analyse() -> Tool:
    condition = _object(
        {
            "column": {"type": "string"},
            "op": {"type": "string", "enum": ["<", "<=", ">", ">=", "=", "!="]},
            "value": {"type": ["number", "string"]},
        },
        ["column", "op", "value"],
    )
    return Tool(
        name=ANALYSE,
        kind="analysis",
        description=(
            "Compute a statistic over the records that you may read. Columns: survived, hit_count, source, "
            "PART_def and PART_hp of each part, equipment, and every environment reading. `against` is "
            "the second column of a correlation; `by` splits into groups (quarters, where it has many "
            "values)."
        ),
        parameters=_object(
            {
                "statistic": {"type": "string", "enum": ["count", "mean", "sd", "correlation"]},
                "of": {"type": "string"},
                "against": {"type": ["string", "null"]},
                "by": {"type": ["string", "null"]},
                "where": {"type": "array", "items": condition, "maxItems": MAX_WHERE},
                "source": {"type": "string", "enum": ["all", "archive", "own"]},
            },
            ["statistic"],
        ),
        charge=_READ,
    )


def _submit(definition: DroneDefinition) -> Tool:
    return Tool(
        name=SUBMIT,
        kind="commit",
        description=(
            "Submit the final design with a report, once and irreversibly. "
            f"{definition.budgets.fleet} drones of it fly in Stage 2. The report says why the design should "
            "work, on what evidence, and how sure you are."
        ),
        parameters=_object(
            {
                **_design(definition),
                "report": {"type": "string", "minLength": 1, "maxLength": MAX_REPORT},
            },
            ["design", "report"],
        ),
        charge=_READ,
    )


def _design(definition: DroneDefinition) -> dict[str, JSON]:
    defence = {"type": "number", "minimum": 0, "maximum": 50}
    keys = {f"{part.name}_def": defence for part in definition.template.parts}
    return {
        "design": _object(keys, []),
        "equipment": {"enum": [None, *definition.template.modules]},
    }


def _object(properties: dict[str, JSON], required: list[str]) -> dict[str, JSON]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
