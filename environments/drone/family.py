"""The family of drone survival games: what Session, release, seal and doors need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cards.card import Card
from environments.drone.definition import DroneDefinition
from environments.drone.policies import default, reference
from environments.drone.tools import PROTOCOLS, SETTING
from environments.drone.world import DroneWorld
from environments.family import NullBound, Policy, World
from environments.task import JSON, Options, Record, Score, Task

Insider = Callable[[Mapping[str, JSON], Options], Policy]


class DroneFamily:
    """Two-stage design games over a structural causal model; stateless."""

    name = "drone"
    version = "1"
    settings: Sequence[str] = (SETTING,)
    twins = False

    def protocols(self, setting: str) -> Sequence[str]:
        """Return the protocols: with and without the duty to explore first."""
        return PROTOCOLS

    def build(self, materials: Sequence[Card], params: Mapping[str, Any], key: bytes) -> Sequence[Task]:
        """Build the fourteen games; ``params`` is the ``drone`` section, and cards are not used."""
        from environments.drone.build import build  # brings scipy, which playing does not need

        return build(params, key)

    def open(self, definition: Mapping[str, JSON], options: Options, seed: bytes) -> World:
        """Open a game; Stage 1 is drawn from ``seed``."""
        return DroneWorld(_read(definition), options, seed)

    def judge(self, definition: Mapping[str, JSON], record: Record) -> Score:
        """Score a finished session by flying its design in Stage 2."""
        from environments.drone.judge import judge  # the doors that play import no judge

        return judge(_read(definition), record)

    def reference(self, definition: Mapping[str, JSON], options: Options) -> Policy:
        """Return the player that knows the best design."""
        return reference(_read(definition))

    def null(self, options: Options) -> Policy:
        """Return the player that submits the default design."""
        return default()

    def null_bound(self, task: Task) -> NullBound | None:
        """The default design wins no game but the one that is made so; that one is not counted."""
        return None if task.facets["null_may_win"] == "yes" else NullBound("games")

    def analyses(self, definition: Mapping[str, JSON], record: Record) -> Mapping[str, JSON]:
        """Return designs, behaviour and words of one record."""
        from environments.drone.behaviour import analyses
        from environments.drone.session_log import read_session

        known = _read(definition)
        return analyses(known, read_session(known, record), record)

    @property
    def insiders(self) -> Mapping[str, Insider]:
        """Scripted players that need the sealed definition, by name."""
        return {"reference": self.reference}


def _read(definition: Mapping[str, JSON]) -> DroneDefinition:
    return DroneDefinition.model_validate(definition)


DRONE = DroneFamily()
