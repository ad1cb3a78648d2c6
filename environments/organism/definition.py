"""What an organism task is made of: a network, its fault, its names, and what is asked of a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from environments.organism.generate import Organism
from environments.organism.names import Names
from environments.organism.network import Action, Fault, FaultKind, FloatArray, Network, Plan

Entry = tuple[int, int, float]
"""One entry of a sparse matrix: row, column, value."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Wiring(_Model):
    """A network as plain JSON; matrices hold their non-zero entries."""

    tier: str
    weights: tuple[Entry, ...]
    signals: tuple[Entry, ...]
    bias: tuple[float, ...]
    steepness: float
    readout: tuple[Entry, ...]
    shift: tuple[float, ...]
    gain: float
    noise: float = Field(ge=0)
    latent: tuple[int, ...]
    signal_count: int

    @classmethod
    def of(cls, network: Network) -> Wiring:
        """Write a network down."""
        return cls(
            tier=network.tier,
            weights=_entries(network.weights),
            signals=_entries(network.signals),
            bias=tuple(network.bias.tolist()),
            steepness=network.steepness,
            readout=_entries(network.readout),
            shift=tuple(network.shift.tolist()),
            gain=network.gain,
            noise=network.noise,
            latent=network.latent,
            signal_count=len(network.signals),
        )

    def network(self) -> Network:
        """Return the network."""
        genes = len(self.bias)
        return Network(
            tier=self.tier,
            weights=_matrix(self.weights, genes, genes),
            signals=_matrix(self.signals, self.signal_count, genes),
            bias=np.array(self.bias),
            steepness=self.steepness,
            readout=_matrix(self.readout, len(self.shift), genes),
            shift=np.array(self.shift),
            gain=self.gain,
            noise=self.noise,
            latent=self.latent,
        )


class OrganismDefinition(_Model):
    """Everything that the simulator and the judge of one session need."""

    kind: Literal["organism"] = "organism"
    diseased: bool
    """Whether the player meets the organism with its fault."""
    wiring: Wiring
    fault: FaultKind
    target: int
    """What is broken: a gene, or number of genes + signal."""
    seed: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Seeds every noise of this organism."""
    genes: tuple[str, ...]
    signals: tuple[str, ...]
    phenotypes: tuple[str, ...]
    tasks: tuple[dict[str, Action], ...]
    """The interventions whose outcome is to be predicted, by name."""
    budget: int = Field(ge=1)

    @cached_property
    def organism(self) -> Organism:
        """The organism itself."""
        return Organism(bytes.fromhex(self.seed), self.wiring.network(), Fault(self.fault, self.target))

    @property
    def state(self) -> Fault | None:
        """The fault that is at work in this session, if any."""
        return self.organism.fault if self.diseased else None

    @cached_property
    def targets(self) -> Mapping[str, int]:
        """Every target that a player may name."""
        named = {name: gene for gene, name in enumerate(self.genes) if name}
        return named | {name: len(self.genes) + i for i, name in enumerate(self.signals)}

    @cached_property
    def names(self) -> Mapping[int, str]:
        """The name of every target that has one."""
        return {target: name for name, target in self.targets.items()}

    @property
    def visible(self) -> list[str]:
        """The names of the genes, sorted so that their order tells nothing."""
        return sorted(name for name in self.genes if name)

    def plan(self, named: Mapping[str, Action]) -> Plan:
        """Return named interventions as a plan."""
        return {self.targets[name]: action for name, action in named.items()}

    def named(self, plan: Plan) -> dict[str, Action]:
        """Return a plan by names, sorted."""
        return dict(sorted((self.names[target], action) for target, action in plan.items()))

    def phenotype_values(self, values: FloatArray) -> dict[str, float]:
        """Return phenotype values by name, to four decimals."""
        return dict(zip(self.phenotypes, np.round(values, 4).tolist(), strict=True))


def session_definition(
    organism: Organism, names: Names, tasks: Sequence[Plan], budget: int, *, diseased: bool
) -> OrganismDefinition:
    """Return the definition of one session."""
    by_target = dict(enumerate((*names.genes, *names.signals)))
    return OrganismDefinition(
        diseased=diseased,
        wiring=Wiring.of(organism.network),
        fault=organism.fault.kind,
        target=organism.fault.target,
        seed=organism.seed.hex(),
        genes=names.genes,
        signals=names.signals,
        phenotypes=names.phenotypes,
        tasks=tuple(dict(sorted((by_target[target], act) for target, act in task.items())) for task in tasks),
        budget=budget,
    )


def _entries(matrix: FloatArray) -> tuple[Entry, ...]:
    rows, columns = np.nonzero(matrix)
    places = zip(rows.tolist(), columns.tolist(), matrix[rows, columns].tolist(), strict=True)
    return tuple((row, column, value) for row, column, value in places)


def _matrix(entries: Sequence[Entry], rows: int, columns: int) -> FloatArray:
    matrix = np.zeros((rows, columns))
    for row, column, value in entries:
        matrix[row, column] = value
    return matrix
