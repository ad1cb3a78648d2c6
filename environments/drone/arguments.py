"""Reading what a player sends: form first, then whether it can be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from environments.drone.components import MAX_DEF
from environments.drone.definition import Build
from environments.drone.template import Template
from environments.task import JSON, ActionError

MAX_QUERY = 500
MAX_REPORT = 4000
MAX_WHERE = 8

_Number = Annotated[float, Field(allow_inf_nan=False)]
_Name = Annotated[str, Field(max_length=64)]


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NoArguments(_Arguments):
    """An action without arguments."""


class Query(_Arguments):
    """The arguments of ``query_environment``."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_QUERY)]


class Deploy(_Arguments):
    """The arguments of ``deploy_drone``."""

    design: dict[str, _Number]
    count: int = 1
    equipment: str | None = None


class Submit(_Arguments):
    """The arguments of ``submit_final_design``."""

    design: dict[str, _Number]
    equipment: str | None = None
    report: str


class Condition(_Arguments):
    """A condition on one column."""

    column: _Name
    op: Literal["<", "<=", ">", ">=", "=", "!="]
    value: _Number | _Name


class Analysis(_Arguments):
    """The arguments of ``run_analysis``."""

    statistic: Literal["count", "mean", "sd", "correlation"]
    of: _Name = "survived"
    against: _Name | None = None
    by: _Name | None = None
    where: Annotated[list[Condition], Field(max_length=MAX_WHERE)] = []
    source: Literal["all", "archive", "own"] = "all"


_A = TypeVar("_A", bound=_Arguments)


def read_arguments(kind: type[_A], args: JSON) -> _A | ActionError:
    """Read arguments as one kind, or say where and why they are none."""
    try:
        return kind.model_validate(args)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        path = ".".join(str(part)[:64] for part in first["loc"])
        message = str(first["msg"])
        return ActionError(code="malformed", message=message[:1].lower() + message[1:], path=path)


def read_design(
    template: Template, defaults: Mapping[str, float], design: Mapping[str, float], equipment: str | None
) -> Build | ActionError:
    """Return a whole design, missing parts at their default, or say what is wrong with it."""
    allowed = {f"{part.name}_def": part.name for part in template.parts}
    parts = dict(defaults)
    for key, value in design.items():
        path = f"design.{key[:64]}"
        if key not in allowed:
            message = f"there is no such part; the keys are: {', '.join(allowed)}"
            return ActionError(code="unknown_part", message=message, path=path)
        if not 0 <= value <= MAX_DEF:
            message = f"a DEF must lie between 0 and {MAX_DEF:g}"
            return ActionError(code="out_of_range", message=message, path=path)
        parts[allowed[key]] = float(value)
    if equipment is not None and equipment not in template.modules:
        words = ", ".join(template.modules) or "none at all here"
        message = f"there is no such module; the modules are: {words}"
        return ActionError(code="unknown_module", message=message, path="equipment")
    return Build(parts=parts, module=equipment)
