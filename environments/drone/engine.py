"""A small engine for structural causal models, vectorised over a fleet.

A model is a list of exogenous draws and of named equations: plain functions whose name is the variable
and whose argument names are its parents. A parent is a draw, a design variable, a parameter or an
earlier equation. The only intervention is the choice of the design.

Every exogenous variable has a stream of its own, derived from one seed and its name. So a fleet is the
same whether or not one looks at more of its variables, and two designs flown under one seed meet the
same weather.

Source: arXiv 2607.04293, appendix C.3 (table 7): structural equations over exogenous draws.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cards.errors import InputError
from environments.seeding import derive, generator

FloatArray = NDArray[np.float64]
Columns = dict[str, FloatArray]
Value = float | tuple[float, ...]
"""A parameter: a number, or one number for each of several kinds (zones, modules)."""
Parameters = Mapping[str, Value]
Equation = Callable[..., FloatArray]

GRID = 128
"""Midpoints on which a continuous draw is averaged when an expectation is computed."""


@dataclass(frozen=True)
class Exogenous:
    """One source of chance.

    ``draw(rng, n, parameters)`` returns n values. ``nodes(parameters)`` returns (values, weights) that
    stand for its distribution in an expectation; None where no expectation may depend on it.
    """

    name: str
    draw: Callable[[np.random.Generator, int, Parameters], FloatArray]
    nodes: Callable[[Parameters], tuple[FloatArray, FloatArray]] | None = None


def uniform(name: str) -> Exogenous:
    """Return a draw from Unif(0, 1); expectations use the midpoint rule."""
    midpoints = (np.arange(GRID) + 0.5) / GRID
    weights = np.full(GRID, 1.0 / GRID)
    return Exogenous(name, lambda rng, n, _: rng.random(n), lambda _: (midpoints, weights))


def split_uniform(name: str, border: str) -> Exogenous:
    """Return a draw from Unif(0, 1) that matters only through its being above the parameter ``border``."""

    def nodes(parameters: Parameters) -> tuple[FloatArray, FloatArray]:
        share = _number(parameters, border)
        return np.array([share / 2, (1 + share) / 2]), np.array([share, 1 - share])

    return Exogenous(name, lambda rng, n, _: rng.random(n), nodes)


def category(name: str, shares: str) -> Exogenous:
    """Return an index 0, 1, … drawn with the probabilities in the parameter ``shares``."""

    def draw(rng: np.random.Generator, n: int, parameters: Parameters) -> FloatArray:
        steps = np.cumsum(np.asarray(parameters[shares]))[:-1]
        return np.searchsorted(steps, rng.random(n), side="right").astype(np.float64)

    def nodes(parameters: Parameters) -> tuple[FloatArray, FloatArray]:
        weights = np.asarray(parameters[shares], dtype=np.float64)
        return np.arange(len(weights), dtype=np.float64), weights

    return Exogenous(name, draw, nodes)


def chance(name: str) -> Exogenous:
    """Return a draw from Unif(0, 1) that decides an event or a reading, never an expectation."""
    return Exogenous(name, lambda rng, n, _: rng.random(n))


def normal(name: str) -> Exogenous:
    """Return a draw from N(0, 1)."""
    return Exogenous(name, lambda rng, n, _: rng.standard_normal(n))


def poisson(name: str, mean: float) -> Exogenous:
    """Return a draw from Poisson(mean)."""
    return Exogenous(name, lambda rng, n, _: rng.poisson(mean, n).astype(np.float64))


@dataclass(frozen=True)
class Model:
    """A structural causal model.

    ``parameters`` are the defaults. ``equations`` stand in causal order. ``bernoulli`` names the outcome
    and the equation for its probability, given everything that happens before the last draws.

    Raises:
        InputError: for a name that is used twice or before it is defined.
    """

    name: str
    exogenous: tuple[Exogenous, ...]
    design: tuple[str, ...]
    parameters: Parameters
    equations: tuple[Equation, ...]
    outcome: str = "survived"
    probability: str = "survival_chance"
    parents: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        known = [item.name for item in self.exogenous] + [*self.design, *self.parameters]
        parents: dict[str, tuple[str, ...]] = {}
        for equation in self.equations:
            names = tuple(inspect.signature(equation).parameters)
            missing = [name for name in names if name not in known]
            if missing:
                raise InputError(
                    f"{self.name}: {equation.__name__} needs {missing[0]!r}, which is not defined."
                )
            known.append(equation.__name__)
            parents[equation.__name__] = names
        twice = next((name for name in known if known.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{self.name}: {twice!r} is defined twice.")
        object.__setattr__(self, "parents", parents)

    def bind(self, *changes: Parameters) -> dict[str, Value]:
        """Return the parameters with ``changes`` in place of the defaults, later ones last.

        Raises:
            InputError: for a name that the model does not have, or a value of another shape.
        """
        bound = dict(self.parameters)
        for change in changes:
            for name, value in change.items():
                if name not in bound:
                    raise InputError(
                        f"{self.name} has no parameter {name!r}.", f"It has: {', '.join(self.parameters)}."
                    )
                if np.shape(value) != np.shape(bound[name]):
                    raise InputError(f"{self.name}: {name} must be like {bound[name]}, not {value}.")
                bound[name] = value
        return bound

    def simulate(
        self,
        design: Mapping[str, FloatArray | float],
        n: int,
        seed: bytes,
        *,
        parameters: Parameters,
        wanted: Iterable[str],
    ) -> Columns:
        """Fly ``n`` drones and return the wanted columns.

        Args:
            design: design variables by name, one number for all or one for each drone.
            n: size of the fleet.
            seed: from which every draw's stream is derived.
            parameters: all parameters, as ``bind`` returns them.
            wanted: equations, draws or design variables to return.

        Raises:
            InputError: when a name is unknown, or a needed design variable or parameter is missing.
        """
        names = tuple(wanted)
        values = self._given(design, parameters)
        for item in self.exogenous:
            if item.name in self._needed(names):
                values[item.name] = item.draw(generator(derive(seed, item.name)), n, parameters)
        self._solve(values, names)
        return {name: np.broadcast_to(values[name], n) for name in names}

    def expectation(self, designs: Mapping[str, FloatArray], parameters: Parameters) -> FloatArray:
        """Return the exact probability of the outcome for each of m designs, shape (m,).

        Args:
            designs: design variables by name, each of shape (m,).
            parameters: all parameters, as ``bind`` returns them.
        """
        columns = {name: np.asarray(value, dtype=np.float64)[:, None] for name, value in designs.items()}
        values = self._given(columns, parameters)
        nodes, weights = self._nodes(parameters)
        values.update(nodes)
        self._solve(values, (self.probability,))
        shape = len(next(iter(columns.values()))), len(weights)
        averaged: FloatArray = np.broadcast_to(values[self.probability], shape) @ weights
        return averaged

    def _nodes(self, parameters: Parameters) -> tuple[Columns, FloatArray]:
        """Return the product grid of the draws on which the outcome's probability rests."""
        needed = [item for item in self.exogenous if item.name in self._needed((self.probability,))]
        grids, weights = [], np.ones(1)
        for item in needed:
            if item.nodes is None:
                raise InputError(f"{self.name}: an expectation cannot rest on {item.name!r}.")
            values, shares = item.nodes(parameters)
            grids.append(values)
            weights = np.multiply.outer(weights, shares).ravel()
        meshes = np.meshgrid(*grids, indexing="ij")
        return {item.name: mesh.ravel() for item, mesh in zip(needed, meshes, strict=True)}, weights

    def _given(self, design: Mapping[str, Any], parameters: Parameters) -> dict[str, Any]:
        unknown = [name for name in design if name not in self.design]
        if unknown:
            raise InputError(f"{self.name} has no design variable {unknown[0]!r}.")
        missing = [name for name in self.parameters if name not in parameters]
        if missing or len(parameters) > len(self.parameters):
            what = f"misses {missing[0]!r}" if missing else "has one too many"
            raise InputError(f"{self.name}: the set of parameters {what}.", "Make it with Model.bind.")
        ready = {name: np.asarray(v) if isinstance(v, tuple | list) else v for name, v in parameters.items()}
        return {**ready, **design}

    def _solve(self, values: dict[str, Any], wanted: tuple[str, ...]) -> None:
        needed = self._needed(wanted)
        for equation in self.equations:
            name = equation.__name__
            if name in needed:
                absent = [parent for parent in self.parents[name] if parent not in values]
                if absent:
                    raise InputError(f"{self.name}: the design lacks {absent[0]!r}.")
                values[name] = equation(*(values[parent] for parent in self.parents[name]))
        lacking = [name for name in wanted if name not in values]
        if lacking:
            raise InputError(f"{self.name} has no variable {lacking[0]!r}.")

    def _needed(self, wanted: tuple[str, ...]) -> frozenset[str]:
        return _ancestors(tuple(self.parents.items()), wanted)


@lru_cache(256)
def _ancestors(parents: Sequence[tuple[str, tuple[str, ...]]], wanted: tuple[str, ...]) -> frozenset[str]:
    """Return ``wanted`` and all that it rests on; an equation's parents stand before it."""
    needed = set(wanted)
    for name, names in reversed(parents):
        if name in needed:
            needed.update(names)
    return frozenset(needed)


def _number(parameters: Parameters, name: str) -> float:
    value = parameters[name]
    assert isinstance(value, float | int)
    return float(value)
