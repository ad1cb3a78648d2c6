"""The words that Session, release, seal and doors know of a family, and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from cards.card import Card
from cards.finding import Finding
from environments.task import JSON, Options, Record, Reply, Score, Step, Task, Tool


class World(Protocol):
    """One open environment: a pure function of (definition, options, seed, actions so far)."""

    @property
    def brief(self) -> dict[str, JSON]:
        """What the player is told at the start."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The actions of this protocol."""

    @property
    def meters(self) -> Mapping[str, int]:
        """The budget: each meter's full amount."""

    def step(self, tool: str, args: JSON) -> Step:
        """Carry out one action; refuse with a reason rather than raise."""


class Policy(Protocol):
    """A scripted player's side of one session: what to do next, given the last reply."""

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the brief once, before the first action."""

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Return the next (tool, args), or None to stop."""


@dataclass(frozen=True)
class NullBound:
    """How often a player that knows nothing may pass, over all tasks of one group of a release.

    ``low`` and ``high`` are shares of the group's episodes, both ends allowed.
    """

    group: str
    low: float = 0.0
    high: float = 0.0


class Family(Protocol):
    """A kind of environment, whole."""

    name: str
    version: str
    """Version of the generator and the judge; stands in every manifest."""
    settings: Sequence[str]
    twins: bool
    """Whether tasks of one cluster and setting are twins: equal briefs, and no answer passes in both."""

    @property
    def insiders(self) -> Mapping[str, Callable[[Mapping[str, JSON], Options], Policy]]:
        """Players that know the truth, by name; each is made from (definition, options)."""

    def protocols(self, setting: str) -> Sequence[str]:
        """Return every protocol that a setting can be played under; a task's row names the default ones."""

    def build(self, materials: Sequence[Card], params: Mapping[str, Any], key: bytes) -> Sequence[Task]:
        """Build all tasks of this family for a release whose key is ``key``."""

    def open(self, definition: Mapping[str, JSON], options: Options, seed: bytes) -> World:
        """Open a world; ``seed`` is the session seed."""

    def judge(self, definition: Mapping[str, JSON], record: Record) -> Score:
        """Score a finished session."""

    def reference(self, definition: Mapping[str, JSON], options: Options) -> Policy:
        """Return the player that knows the truth."""

    def null(self, options: Options) -> Policy:
        """Return the player that knows nothing."""

    def null_bound(self, task: Task) -> NullBound | None:
        """Return the bound that a task's null episodes count against, or None where chance is free."""

    def analyses(self, definition: Mapping[str, JSON], record: Record) -> Mapping[str, JSON]:
        """Return named values beside the score (experiments used, trajectories …)."""


@runtime_checkable
class WithRules(Protocol):
    """A family with scripted players that know their brief alone and that it needs itself."""

    @property
    def rules(self) -> Mapping[str, Callable[[], Policy]]:
        """Makers of such players, by name."""


@runtime_checkable
class WithCertificates(Protocol):
    """A family whose tasks carry the outcomes of checks that anyone can run again."""

    def recertify(self, tasks: Sequence[Task], materials: Sequence[Card]) -> Sequence[Finding]:
        """Run the checks of the family's tasks again; return where they come out otherwise."""
