"""What a law world is made of: one parametric relation, two sets of constants, and which one holds.

Source: arXiv 2610.37919, section 3.2 (counterfactual construction) and appendix C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator

from cards.card import ConstraintText, Input, Relation
from cards.domain import Domain
from cards.evaluate import evaluate
from cards.expression import Tree, bind
from environments.law.prune import prune

FloatArray = NDArray[np.float64]
Variant = Literal["original", "counterfactual"]
VARIANTS: tuple[Variant, ...] = ("original", "counterfactual")
DESIGN_SIZE = 16
"""Preset experiments of a family; the Fixed protocol of budget B reads the first B of them."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Told(_Model):
    """A constant that stands in the brief by name and value."""

    name: str
    symbol: str = ""
    value: float
    unit: str
    description: str = ""


class Constant(_Model):
    """A constant that a player must find, or can work out from the printed domain.

    ``hidden``: a parameter of the card. ``correction``: the strength of a mutation, neutral in the
    original. ``pivot``: the middle of an input's domain, the same in both.
    """

    name: str
    unit: str
    role: Literal["hidden", "correction", "pivot"]
    original: float
    counterfactual: float

    def value(self, variant: Variant) -> float:
        """Return the value in one of the twins."""
        return self.original if variant == "original" else self.counterfactual


class Measured(_Model):
    """An observable without its relation: what a player knows of it."""

    name: str
    symbol: str = ""
    unit: str
    description: str
    absolute_tolerance: float = Field(gt=0)
    resolution: float | None = None
    significant_digits: int | None = None


class Mutation(_Model):
    """One change: its kind, the quantity it acts on, and what it needs.

    ``coefficient``: a new value of a hidden parameter, or q → k·q when ``constant`` names a correction.
    ``exponent``: q → q·(v/v_ref)^d with ``inputs`` = (v,) and q = v. ``transform``:
    q → q·(1 + c·f(π)), f named by ``shape``, the powers of π in ``group``, ``inputs`` those that occur
    in it; π of the quantities themselves when ``bare``, else of inputs over their pivots.
    ``interaction``: q → q·(1 + c·(u/u_ref)·(w/w_ref)^sign) with ``inputs`` = (u, w). ``correction``:
    q → q + k·f(π) with k in the unit of q.
    """

    kind: Literal["coefficient", "exponent", "transform", "interaction", "correction"]
    target: str
    constant: str
    value: float
    inputs: tuple[str, ...] = ()
    sign: Literal[1, -1] = 1
    shape: str = ""
    group: dict[str, int] = {}
    bare: bool = False


class Certificate(_Model):
    """The outcome of one check of a pair, with the figures it rests on, to six digits."""

    name: str
    passed: bool
    values: dict[str, Any] = {}
    message: str = ""

    @field_validator("values")
    @classmethod
    def _rounded(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {name: _six_digits(value) for name, value in values.items()}


class LawDefinition(_Model):
    """Everything that the simulator and the judge of one law task need."""

    inputs: tuple[Input, ...]
    constraints: tuple[ConstraintText, ...] = ()
    told: tuple[Told, ...] = ()
    observables: tuple[Measured, ...]
    relative_tolerance: float
    background: str
    conditions: tuple[str, ...] = ()
    relations: dict[str, Relation]
    """Parametric trees by observable, over inputs, told parameters and constants."""
    constants: tuple[Constant, ...] = ()
    mutations: tuple[Mutation, ...]
    s: Literal[0, 1]
    """0: the original holds; 1: the counterfactual."""
    tau: float = Field(gt=0.5, lt=1)
    call_cap: int = Field(ge=1)
    noise: float = Field(default=0.0, ge=0)
    """Standard deviation of a reading's Gaussian noise, in tolerances a_r + λ|g|; 0: readings are exact."""
    design: dict[str, tuple[float, ...]]
    eval_inputs: dict[str, tuple[float, ...]] = {}
    strict: bool
    """Whether exact recovery is asked for; false for a weak-only family."""
    pair_class: Literal["structural", "parametric"]
    certificates: tuple[Certificate, ...] = ()

    @property
    def variant(self) -> Variant:
        """The twin that the simulator plays."""
        return VARIANTS[self.s]

    def told_values(self) -> dict[str, float]:
        """Return the told parameters by name."""
        return {item.name: item.value for item in self.told}

    def names(self) -> set[str]:
        """Return every name that a submission may use: inputs and told parameters."""
        return {item.name for item in self.inputs} | {item.name for item in self.told}

    def domain(self) -> Domain:
        """Return the domain with the told parameters as its constants."""
        intervals = {item.name: item.interval() for item in self.inputs}
        return Domain(intervals, self.constraints, self.told_values())

    def constant_values(self, variant: Variant) -> dict[str, float]:
        """Return the constants of one twin by name."""
        return {item.name: item.value(variant) for item in self.constants}

    def truth(self, variant: Variant | None = None) -> dict[str, Tree]:
        """Return the relations of one twin (default: the one that holds) as a player could write them.

        Constants are numbers, told parameters are names, and terms that a neutral constant switches
        off are gone.
        """
        chosen = variant or self.variant
        neutral = {c.name: c.value(chosen) for c in self.constants if c.role == "correction"}
        values = self.constant_values(chosen)
        return {name: bind(prune(tree, neutral), values) for name, tree in self.relations.items()}

    def respond(
        self,
        columns: Mapping[str, FloatArray],
        variant: Variant | None = None,
        instead: Mapping[str, float] | None = None,
    ) -> dict[str, FloatArray]:
        """Evaluate the unquantised relations of one twin, some constants replaced by ``instead``.

        Both twins run through the same parametric tree, so that they cost the same time.

        Raises:
            ExpressionError: when a relation is undefined at one of the points.
        """
        values = self.constant_values(variant or self.variant) | self.told_values() | dict(instead or {})
        return {name: evaluate(tree, {**columns, **values}) for name, tree in self.relations.items()}

    def columns(self, points: Mapping[str, Sequence[float]]) -> dict[str, FloatArray]:
        """Return points as arrays in the order of the inputs."""
        return {item.name: np.asarray(points[item.name], dtype=np.float64) for item in self.inputs}

    def scale_of_error(self, observable: Measured, truth: FloatArray) -> FloatArray:
        """Return a_r + λ|g|, the size of a normalised error of one.

        Source: arXiv 2610.37919, section 3.4, equation 2.
        """
        return observable.absolute_tolerance + self.relative_tolerance * np.abs(truth)


def _six_digits(value: Any) -> Any:
    """Round figures so that the last bits of a fit, which differ between machines, stay out of a release."""
    if isinstance(value, dict):
        return {name: _six_digits(item) for name, item in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value
