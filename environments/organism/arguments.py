"""The arguments of the tools: their form here, what they may name in ``world``."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from environments.task import JSON, ActionError


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Nothing(_Arguments):
    """No arguments."""


class Interventions(_Arguments):
    """Targets with what is done to each."""

    interventions: dict[str, str]


class Prediction(_Arguments):
    """One prediction task with a value for every phenotype."""

    task: str
    values: dict[str, Annotated[float, Field(allow_inf_nan=False)]]


class Hypothesis(_Arguments):
    """The component that is held to be broken, and how."""

    target: str
    type: str


class Answer(_Arguments):
    """The whole reply to one probe item."""

    text: str


_A = TypeVar("_A", bound=_Arguments)


def read_arguments(kind: type[_A], args: JSON) -> _A | ActionError:
    """Read arguments of one kind, or say where and why they are none."""
    try:
        return kind.model_validate(args)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        path = ".".join(str(part)[:64] for part in first["loc"])
        message = str(first["msg"])
        return ActionError(code="malformed", message=message[:1].lower() + message[1:], path=path)
