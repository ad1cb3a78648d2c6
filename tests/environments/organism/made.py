"""Organisms and tasks that several tests share, made once."""

from __future__ import annotations

from functools import cache
from typing import Any

from environments.organism.build import Specimen, make_specimen, probe_tasks
from environments.organism.definition import OrganismDefinition
from environments.organism.generate import Organism, make_organism
from environments.organism.world import OrganismWorld
from environments.session import Session
from environments.task import Options, Reply, Task

KEY = b"release key of the organism test"
PER_TIER = 5


def seed(number: int) -> bytes:
    """Return the seed of a numbered organism."""
    return number.to_bytes(8, "big")


@cache
def organism(number: int, tier: str = "medium") -> Organism:
    """Return a numbered organism of a tier."""
    return make_organism(seed(number), tier)


@cache
def specimens() -> tuple[Specimen, ...]:
    """A few organisms of each tier, as a release has them."""
    return tuple(make_specimen(KEY, tier, i) for tier in ("easy", "medium", "hard") for i in range(PER_TIER))


@cache
def probes() -> tuple[Task, ...]:
    """The probe items of the specimens."""
    return tuple(probe_tasks(KEY, specimens()))


def definition(state: str = "diseased", tier: str = "medium") -> OrganismDefinition:
    """Return the first definition of a tier."""
    return next(specimen for specimen in specimens() if specimen.tier == tier).sessions[state]


def session(known: OrganismDefinition) -> Session:
    """Open a session."""
    setting = f"{'diseased' if known.diseased else 'healthy'}-{known.wiring.tier}"
    return Session(OrganismWorld(known), Options(setting=setting, protocol="session"))


class Player:
    """Calls a session with fresh keys."""

    def __init__(self, known: OrganismDefinition) -> None:
        self.session = session(known)
        self._calls = 0

    def __call__(self, tool: str, **args: Any) -> Reply:
        """Carry out one action."""
        self._calls += 1
        return self.session.call(tool, args, f"k{self._calls}")

    def run(self, **plan: str) -> Reply:
        """Run one experiment."""
        return self("run_experiment", interventions=plan)
