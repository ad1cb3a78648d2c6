"""The scientific card: one quantitative law, whole, as data.

Source: arXiv 2610.37919, section 3.2.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator

from cards.document import read_tree, tree_document
from cards.domain import Constraint, Domain, Interval
from cards.expression import Apply, Number, Tree, Variable
from cards.infix import parse_constraint, parse_infix, print_constraint

SCHEMA_VERSION: Literal[1] = 1


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _tree(value: Any) -> Tree:
    if isinstance(value, Number | Variable | Apply):
        return value
    if isinstance(value, str):
        return parse_infix(value)
    return read_tree(value)


def _constraint(value: Any) -> Constraint:
    return value if isinstance(value, Constraint) else parse_constraint(value)


Relation = Annotated[Tree, PlainValidator(_tree), PlainSerializer(tree_document)]
"""An expression tree; read from infix text or from a document, written as a document."""

ConstraintText = Annotated[Constraint, PlainValidator(_constraint), PlainSerializer(print_constraint)]
"""A constraint; read from and written as infix text such as ``n2 > n1``."""


class Input(_Model):
    """One controllable quantity with its unit and its closed domain [low, high]."""

    name: str
    symbol: str = ""
    unit: str
    description: str
    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    integer: bool = False

    def interval(self) -> Interval:
        """Return the interval as the domain knows it."""
        return Interval(self.low, self.high, self.scale, self.integer)


class Parameter(_Model):
    """A constant of the law.

    ``told`` parameters stand in the brief by name and value, the same for both twins, and are never
    mutated. ``constant`` marks a dimensionless parameter that may stand as an exponent. A ``relation``
    over other parameters makes it a dependent one: ``value`` is then what the relation gives, and a
    counterfactual that changes one of these works it out anew.
    """

    name: str
    symbol: str = ""
    value: float
    unit: str
    description: str = ""
    source: str
    told: bool = False
    constant: bool = False
    relation: Relation | None = None


class Observable(_Model):
    """What is measured: its relation over inputs and parameters, tolerance and resolution.

    ``resolution`` is an absolute step in the observable's unit; ``significant_digits`` is the other
    way to say it, for an observable that spans more than three decades. At most one is given.
    """

    name: str
    symbol: str = ""
    unit: str
    description: str
    relation: Relation
    absolute_tolerance: float = Field(gt=0)
    resolution: float | None = Field(default=None, gt=0)
    significant_digits: int | None = Field(default=None, ge=1, le=12)


class Dates(_Model):
    """When the law became public, each as an ISO interval text (``2026-04`` or ``2026-04-01``)."""

    first_preprint: str | None = None
    journal_online: str | None = None


class Source(_Model):
    """Where the law was published."""

    authors: str
    title: str
    year: int = Field(ge=-3000, le=9999)
    venue: str = ""
    doi: str | None = None
    arxiv: str | None = None
    licence: str | None = None
    address: str | None = None
    checked_against: str = ""
    dates: Dates = Dates()


class Span(_Model):
    """A verbatim span of the parsed document that supports a field of the card."""

    field: str
    quote: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    page: int | None = None


class Card(_Model):
    """One task family."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{2,63}$")
    title: str
    collection: Literal["historical", "temporal"]
    discipline: Literal["physics", "chemistry", "biology", "engineering", "astronomy", "earth"]
    source: Source
    evidence: tuple[Span, ...] = ()
    inputs: tuple[Input, ...] = Field(min_length=1, max_length=8)
    constraints: tuple[ConstraintText, ...] = Field(default=(), max_length=16)
    parameters: tuple[Parameter, ...] = ()
    observables: tuple[Observable, ...] = Field(min_length=1, max_length=4)
    relative_tolerance: float = Field(gt=0, lt=1)
    conditions: tuple[str, ...] = Field(min_length=1)
    background: str
    extractor: str = "hand"

    def values(self, *, told_only: bool = False) -> dict[str, float]:
        """Return parameter values by name, all of them or only the told ones."""
        return {p.name: p.value for p in self.parameters if p.told or not told_only}

    def domain(self) -> Domain:
        """Return the domain, with the told parameters as its constants."""
        intervals = {item.name: item.interval() for item in self.inputs}
        return Domain(intervals, self.constraints, self.values())
