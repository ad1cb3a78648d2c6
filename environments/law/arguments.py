"""The two envelopes that a player sends: an experiment proposal and a completion.

Only the form is read here. What stands in a predictor is left as it is: a completion whose predictor
cannot be read commits all the same and is judged invalid.

Source: arXiv 2610.37919, appendix A.1 (report schema).
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from environments.task import JSON, ActionError

MAX_HYPOTHESES = 32

_Text = Annotated[str, Field(min_length=1)]
_Number = Annotated[float, Field(allow_inf_nan=False)]


class _Envelope(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Hypothesis(_Envelope):
    """A statement and how strongly it is held."""

    id: _Text
    statement: _Text
    confidence: Annotated[float, Field(ge=0, le=1)]


class Forecast(Hypothesis):
    """A hypothesis with what it expects to be read of each requested observable."""

    forecasts: dict[str, _Number]


class Proposal(_Envelope):
    """The arguments of ``propose_experiment``."""

    hypotheses: Annotated[list[Forecast], Field(min_length=2, max_length=MAX_HYPOTHESES)]
    inputs: dict[str, _Number]
    observables: Annotated[list[str], Field(min_length=1)]
    rationale: str = ""


class Completion(_Envelope):
    """The arguments of ``complete``."""

    hypotheses: Annotated[list[Hypothesis], Field(min_length=1, max_length=MAX_HYPOTHESES)]
    selected: _Text
    predictor: dict[str, Any]
    explanation: _Text
    conditions: list[str]

    def confidence(self) -> float:
        """Return the confidence of the selected hypothesis."""
        return next(item.confidence for item in self.hypotheses if item.id == self.selected)


_E = TypeVar("_E", bound=_Envelope)


def read_envelope(kind: type[_E], args: JSON) -> _E | ActionError:
    """Read arguments as one kind of envelope, or say where and why they are none."""
    try:
        return kind.model_validate(args)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return ActionError(code="malformed", message=_sentence(first["msg"]), path=_path(first["loc"]))


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part[:64]}" if path else part[:64]
    return path


def _sentence(message: str) -> str:
    return message[:1].lower() + message[1:]
