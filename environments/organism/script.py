"""Scripted sessions: what to do next, written as a generator that is sent each reply."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence

import numpy as np

from cards.canonical import canonical_json
from environments.organism import tools as words
from environments.organism.sweeps import Decision, Sheet
from environments.seeding import generator
from environments.task import JSON, Reply, Tool

Action = tuple[str, JSON]
Moves = Generator[Action, Reply, None]
Brief = dict[str, JSON]


class Script:
    """A policy made of moves; it stops where they end."""

    def __init__(self, moves: Callable[[Brief], Moves]) -> None:
        self._make = moves
        self._moves: Moves | None = None

    def start(self, brief: Brief, tools: Sequence[Tool]) -> None:
        """Read the brief."""
        self._moves = self._make(brief)

    def act(self, last: Reply | None) -> Action | None:
        """Return the next move."""
        assert self._moves is not None
        try:
            return next(self._moves) if last is None else self._moves.send(last)
        except StopIteration:
            return None


def experiment(plan: Mapping[str, str]) -> Action:
    """Return the action of one experiment."""
    return words.RUN, {"interventions": dict(plan)}


def submit(sheet: Sheet, decision: Decision) -> Moves:
    """Submit everything that a decision holds, and end the session."""
    for task, values in decision.predictions.items():
        named = {name: round(float(value), 6) for name, value in zip(sheet.phenotypes, values, strict=True)}
        yield words.PREDICT, {"task": task, "values": named}
    if sheet.diseased:
        yield words.DIAGNOSE, {"target": decision.target, "type": decision.kind}
        yield words.RESCUE, {"interventions": dict(decision.rescue)}
    yield words.FINISH, {}


def own_chance(brief: Brief) -> np.random.Generator:
    """Return a generator that depends on the brief alone, so that equal sessions are played equally."""
    return generator(hashlib.sha256(canonical_json(brief)).digest())


def silent() -> Script:
    """A player that has nothing to say here."""
    return Script(_no_moves)


def _no_moves(brief: Brief) -> Moves:
    yield from ()
