"""The extractor's answer as it goes over the wire: flat, every field required, lists in place of maps."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ObservableWire(_Wire):
    """The quantity that the relation gives."""

    name: str
    symbol: str
    unit: str
    description: str


class InputWire(_Wire):
    """One quantity that can be set, with the domain as the paper states it."""

    name: str
    symbol: str
    unit: str
    description: str
    low_printed: str
    low: float | None
    high_printed: str
    high: float | None
    scale: Literal["linear", "log"]
    quote: str


class ParameterWire(_Wire):
    """One constant. ``low`` and ``high`` are filled, and ``value`` null, where the paper gives an interval.

    ``unit`` parameters are 1 of a unit (as in sigma / (1 km/s)) and need no quote.
    """

    name: str
    symbol: str
    unit: str
    description: str
    role: Literal["measured", "reference", "unit"]
    printed: str
    value: float | None
    low: float | None
    high: float | None
    quote: str


class ScatterWire(_Wire):
    """The scatter about the relation, as stated."""

    printed: str
    value: float
    unit: str
    quote: str


class ConditionWire(_Wire):
    """One condition of validity in our own words, with the paper's."""

    text: str
    quote: str


class RelationWire(_Wire):
    """One quantitative relation: ``expression`` is infix text over the names of inputs and parameters."""

    title: str
    background: str
    observable: ObservableWire
    expression: str
    equation_quote: str
    inputs: list[InputWire]
    parameters: list[ParameterWire]
    scatter: ScatterWire | None
    conditions: list[ConditionWire]


class ExtractReply(_Wire):
    """All relations that the paper states in full; none, with a reason, where it states none."""

    relations: list[RelationWire]
    none_reason: str | None
