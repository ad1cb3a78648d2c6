"""The law family: what Session, release, seal and doors need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cards.card import Card
from cards.finding import Finding
from environments.family import NullBound, Policy, World
from environments.law.definition import LawDefinition
from environments.law.policies import Answering, Ignorant
from environments.law.protocol import PROTOCOLS
from environments.law.world import LawWorld
from environments.task import JSON, Options, Record, Score, Task

Insider = Callable[[Mapping[str, JSON], Options], Policy]


class LawFamily:
    """Environments made of one scientific card each; stateless."""

    name = "law"
    version = "2"
    settings: Sequence[str] = ("identification", "discovery")
    twins = True

    def protocols(self, setting: str) -> Sequence[str]:
        """Return every protocol that a setting can be played under; a task's row names the default ones."""
        return PROTOCOLS

    def build(self, materials: Sequence[Card], params: Mapping[str, Any], key: bytes) -> Sequence[Task]:
        """Build four tasks for every card; ``params`` is the ``law`` section of the settings."""
        from environments.law.build import build  # brings scipy, which playing does not need

        return build(materials, params, key)

    def open(self, definition: Mapping[str, JSON], options: Options, seed: bytes) -> World:
        """Open a world; the seed serves for noise alone, which is off unless the settings declare it."""
        return LawWorld(_read(definition), options, seed)

    def judge(self, definition: Mapping[str, JSON], record: Record) -> Score:
        """Score a finished session."""
        from environments.law.judge import judge  # the doors that play import no judge

        return judge(_read(definition), record)

    def reference(self, definition: Mapping[str, JSON], options: Options) -> Policy:
        """Return the player that knows the truth."""
        known = _read(definition)
        return Answering(known, known.variant)

    def null(self, options: Options) -> Policy:
        """Return the player that knows nothing."""
        return Ignorant()

    def null_bound(self, task: Task) -> NullBound | None:
        """In Identification the null player may guess right; in Discovery it never passes."""
        return NullBound("discovery") if task.row.setting == "discovery" else None

    def analyses(self, definition: Mapping[str, JSON], record: Record) -> Mapping[str, JSON]:
        """Return effort, beliefs, forecast errors and the category of failure of one record."""
        from environments.law.analyses import analyses

        return analyses(_read(definition), record)

    def recertify(self, tasks: Sequence[Task], materials: Sequence[Card]) -> Sequence[Finding]:
        """Run every certificate of every pair again, with the cards of the release."""
        from environments.law.recertify import recertify

        return recertify(tasks, materials)

    @property
    def insiders(self) -> Mapping[str, Insider]:
        """Scripted players that need the sealed definition, by name."""
        return {"reference": self.reference, "perfect-memory": self._perfect_memory}

    def _perfect_memory(self, definition: Mapping[str, JSON], options: Options) -> Policy:
        return Answering(_read(definition), "original")


def _read(definition: Mapping[str, JSON]) -> LawDefinition:
    return LawDefinition.model_validate(definition)


LAW = LawFamily()
