"""The fourteen games, built once, and ways to play them."""

from __future__ import annotations

from functools import cache
from typing import Any

from environments.drone.build import build
from environments.drone.definition import DroneDefinition
from environments.drone.family import DRONE
from environments.drone.scenarios import SCENARIOS
from environments.seeding import session_seed
from environments.session import Session
from environments.task import JSON, Options, Task

KEY = b"key of the drone tests, 32 bytes"[:32]
FAMILIES = {
    name: [item.name for item in SCENARIOS.values() if item.family == name]
    for name in ("antenna", "zone", "weather")
}
REPORT = "Because it came back more often."


@cache
def games() -> dict[str, Task]:
    """The games by the name of their scenario."""
    return {task.link["scenario"]: task for task in build({}, KEY)}


def definition(name: str) -> DroneDefinition:
    """The definition of one game."""
    return DroneDefinition.model_validate(games()[name].definition)


def options(protocol: str = "agentic", repetition: int = 0) -> Options:
    """Options of a session."""
    return Options(setting="survival", protocol=protocol, repetition=repetition)


def open_game(task: Task | str, opened: Options | None = None, events: Any = ()) -> Session:
    """Open a session of a game as the doors do."""
    task = games()[task] if isinstance(task, str) else task
    opened = opened or options()
    seed = session_seed(bytes.fromhex(task.seed), opened.setting, opened.protocol, opened.repetition)
    return Session(DRONE.open(task.definition, opened, seed), opened, events)


class Playing:
    """A session whose calls are numbered by themselves and must succeed."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.number = 0

    def __call__(self, tool: str, args: JSON | None = None) -> Any:
        self.number += 1
        reply = self.session.call(tool, args or {}, f"p{self.number}")
        assert reply.ok, reply.error
        return reply.data


def playing(name: str, protocol: str = "agentic", repetition: int = 0) -> Playing:
    """Open a game to be played without refusals."""
    return Playing(open_game(name, options(protocol, repetition)))
