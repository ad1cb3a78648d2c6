"""Built sets that several test files share, each built once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from environments.checks import play
from environments.family import Policy
from environments.pgm.build import build
from environments.pgm.definition import PgmDefinition
from environments.pgm.family import PGM
from environments.session import Session
from environments.task import Options, Record, Task

KEY = b"release key of the tests, 32 byte"[:32]
SMALL = {"decisions": 4, "list_worlds": 2, "qual_worlds": 6}


@cache
def full_set() -> tuple[Task, ...]:
    """The set of a release, with the settings as shipped."""
    return tuple(build({}, KEY))


@cache
def small_set() -> tuple[Task, ...]:
    """A set with every kind of question."""
    return tuple(build(SMALL, KEY))


def one(kind: str) -> Task:
    """Return the first task of the small set of a kind or sub-variant."""
    return next(task for task in small_set() if task.facets["kind"] == kind)


def definition(task: Task) -> PgmDefinition:
    """Return a task's definition."""
    return PgmDefinition.model_validate(task.definition)


def options(task: Task, protocol: str = "four_turn", **more: object) -> Options:
    """Return options of a session of a task."""
    return Options(setting=task.row.setting, protocol=protocol, extra=dict(more))


def open_session(task: Task, protocol: str = "four_turn", seed: bytes = bytes(32), **more: object) -> Session:
    """Open a session of a task."""
    opened = options(task, protocol, **more)
    return Session(PGM.open(task.definition, opened, seed), opened)


def played(task: Task, policy: Callable[[bytes], Policy], protocol: str = "four_turn") -> Record:
    """Let a player play a task."""
    return play(PGM, task, options(task, protocol), policy(bytes.fromhex(task.seed)))
