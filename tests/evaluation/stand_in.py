"""A model that answers with the reference's moves, in the model player's wire format, for every family.

It knows an episode by its first message alone. What it says next follows from how often it has spoken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cards.store import historical
from environments.drone.build import build as build_games
from environments.drone.scenarios import SCENARIOS
from environments.families import family
from environments.seeding import session_seed
from environments.session import Session
from environments.task import JSON, Options, Record, Reply, Task
from evaluation.episode import Seat, Slot, Verdict
from evaluation.players.model import ModelPlayer, Question
from evaluation.players.roles import shipped_roles
from evaluation.players.scripted import options_of
from gateway.reply import ChatReply
from tests.fakes.model_server import Ask, Fault

KEY = b"s" * 32
ORGANISMS: Mapping[str, Any] = {"seeds": 2}
GAME = "deployment_zone_trap_categorical"


@cache
def tasks_of(name: str) -> tuple[Task, ...]:
    """Return the tasks of one family, built once."""
    if name == "law":
        cards = [card for card in historical() if card.id == "arrhenius"]
        return tuple(family("law").build(cards, {}, KEY))
    if name == "drone":
        return tuple(build_games({}, KEY, [SCENARIOS[GAME]]))
    return tuple(family(name).build([], ORGANISMS if name == "organism" else {}, KEY))


def one_of_each_setting(name: str) -> list[Task]:
    """Return the first task of every setting of a family."""
    found: dict[str, Task] = {}
    for task in tasks_of(name):
        found.setdefault(task.row.setting, task)
    return list(found.values())


def open_session(task: Task, options: Options) -> Session:
    """Open a fresh session of a task."""
    seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
    return Session(family(task.row.family).open(task.definition, options, seed), options)


class FamilyVenue:
    """Sessions in process over some tasks."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.tasks = {task.row.id: task for task in tasks}

    def open(self, slot: Slot, ticket: JSON) -> tuple[Seat, JSON]:
        """Open a session."""
        return open_session(self.tasks[slot.task], options_of(slot)), None

    def judge(self, slot: Slot, record: Record, ticket: JSON) -> Verdict:
        """Score a record."""
        task = self.tasks[slot.task]
        score = family(slot.family).judge(task.definition, record)
        return Verdict(score=score, cluster=task.cluster, facets=dict(task.facets))


@dataclass
class StandIn:
    """The model. ``replies`` holds what it says, by the first message of an episode.

    ``at_once`` puts all of an episode's moves into one reply, where the family allows that.
    """

    replies: dict[str, list[str]] = field(default_factory=dict)
    headlines: dict[tuple[str, str], float | None] = field(default_factory=dict)
    """The reference's own score by task and protocol."""

    @classmethod
    def of(cls, tasks: Iterable[Task], *, at_once: bool = False) -> StandIn:
        """Play each task under each protocol with the reference, and remember its moves."""
        made = cls()
        for task in tasks:
            for protocol in task.row.protocols:
                made._learn(task, Options(setting=task.row.setting, protocol=protocol), at_once)
        return made

    def __call__(self, ask: Ask) -> str | Fault:
        """Answer one turn."""
        said = [m["content"] for m in ask.messages if m["role"] == "assistant"]
        replies = self.replies[ask.messages[1]["content"]]
        # What was no reply of its own was unreadable, and does not move the episode on.
        return replies[sum(text in replies for text in said)]

    def _learn(self, task: Task, options: Options, at_once: bool) -> None:
        moves, record = reference_moves(task, options)
        score = family(task.row.family).judge(task.definition, record)
        self.headlines[task.row.id, options.protocol] = score.headline
        self.replies[first_message(task, options)] = wire(task, moves, at_once=at_once)


def reference_moves(task: Task, options: Options) -> tuple[list[tuple[str, JSON]], Record]:
    """Return the actions of the family's reference on one task, and the record that they leave."""
    session = open_session(task, options)
    policy = family(task.row.family).reference(task.definition, options)
    policy.start(session.brief, session.tools)
    moves: list[tuple[str, JSON]] = []
    last: Reply | None = None
    while (last is None or not last.done) and (move := policy.act(last)) is not None:
        last = session.call(*move, key=f"a{len(moves)}")
        moves.append(move)
    return moves, session.record()


def first_message(task: Task, options: Options) -> str:
    """Return the first user message of an episode."""
    player = ModelPlayer("stand-in", _nobody, shipped_roles())
    words = options.model_dump(exclude={"extra"})
    slot = Slot(key="0" * 64, task=task.row.id, family=task.row.family, **words)
    return player.first_messages(slot, open_session(task, options))[1].content


def wire(task: Task, moves: list[tuple[str, JSON]], *, at_once: bool) -> list[str]:
    """Write moves as a model does."""
    if task.row.setting.startswith("probe-"):
        return [args["text"] for _, args in moves]
    acts = [
        {"rationale": f"Move {number}.", "tool": tool, "args": args}
        for number, (tool, args) in enumerate(moves, start=1)
    ]
    if task.row.family != "drone":
        return [json.dumps(act) for act in acts]
    turns = [acts] if at_once else [[act] for act in acts]
    return [json.dumps({"actions": turn}) for turn in turns]


def _nobody(question: Question) -> ChatReply:
    raise AssertionError("nobody is asked")
