"""Session: the one contract that every door, player and judge shares.

It holds the budget, idempotency, the one-shot commit and the event list. Because a world is a pure
function of its definition, seed and actions, a session is rebuilt exactly by replaying its events.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping

from cards.canonical import canonical_json
from environments.budget import Budget
from environments.family import World
from environments.task import (
    JSON,
    ActionError,
    Ending,
    Event,
    Options,
    Record,
    Reply,
    Step,
    Tool,
)

MAX_ARGUMENT_BYTES = 262_144
"""Arguments longer than this as canonical JSON are refused unread."""
MAX_ARGUMENT_DEPTH = 200
"""Arguments nested deeper are refused unread; a predictor at its own limit (64) needs about 135."""
MAX_KEY_LENGTH = 128
MAX_TOOL_LENGTH = 128
MAX_EVENTS = 4096
"""A session ends after so many recorded calls, also where refused ones cost nothing."""
MAX_SESSION_BYTES = 8_388_608
"""A session ends when the arguments that it has recorded are longer than this in all."""

_UNKNOWN_CHARGE = {"calls": 1, "turns": 1}
_LAST_METERS: Mapping[str, Ending] = {"calls": "call_cap", "turns": "turn_cap"}
"""Meters whose end is the session's end."""


class Session:
    """One player's play of one world.

    Args:
        world: a freshly opened world.
        options: what it was opened with; goes into the record.
        events: earlier events to replay, in order; their stored replies must come out again.

    Raises:
        ValueError: when a replayed event does not reproduce its stored reply.
    """

    def __init__(self, world: World, options: Options, events: Iterable[Event] = ()) -> None:
        self._world = world
        self._options = options
        self._tools: dict[str, Tool] = {tool.name: tool for tool in world.tools}
        self._budget = Budget(world.meters)
        self._events: list[Event] = []
        self._by_key: dict[str, Event] = {}
        self._ending: Ending | None = None
        self._bytes = 0
        for event in events:
            self._replay(event)

    @property
    def brief(self) -> dict[str, JSON]:
        """What the player is told (a copy)."""
        return copy.deepcopy(self._world.brief)

    @property
    def tools(self) -> list[Tool]:
        """The actions that this session understands (copies)."""
        return [tool.model_copy(deep=True) for tool in self._tools.values()]

    @property
    def remaining(self) -> dict[str, int]:
        """What is left of the budget."""
        return self._budget.remaining

    @property
    def done(self) -> bool:
        """Whether the session is closed."""
        return self._ending is not None

    @property
    def events(self) -> tuple[Event, ...]:
        """All calls that were charged or carried out so far, oldest first."""
        return tuple(self._events)

    def record(self, ending: Ending | None = None) -> Record:
        """Return the record; ``ending`` says why a session that is still open stops here."""
        final = self._ending or ending or "unfinished"
        return Record(options=self._options, events=self.events, ending=final)

    def call(self, tool: str, args: JSON, key: str) -> Reply:
        """Carry out one action, at most once per ``key``.

        A repeated key with equal tool and arguments returns the stored reply, also after the end;
        with others it is a conflict. A conflict, a bad key and a call after the end change nothing
        and are not recorded.
        """
        if not _good_key(key):
            message = f"the idempotency key must be 1 to {MAX_KEY_LENGTH} characters"
            return self._unrecorded("bad_key", message)
        name = _tool_name(tool)
        kept, problem = _readable(args)
        stored = self._by_key.get(key)
        if stored is not None:
            if stored.tool == name and _same(stored.args, kept):
                return stored.reply.model_copy(deep=True)
            return self._unrecorded("key_conflict", "this key was used for another action; choose a new key")
        if self.done:
            return self._unrecorded("closed", "this episode is over; no further action is possible")
        return self._enter(name, kept, key, self._step(name, kept, problem))

    def _step(self, name: str, args: JSON, problem: ActionError | None) -> Step:
        known = self._tools.get(name)
        if known is None:
            message = f"there is no such tool; the tools are: {', '.join(self._tools)}"
            return Step(outcome="unreadable", error=ActionError(code="unknown_tool", message=message))
        if problem is not None:
            return Step(outcome="unreadable", error=problem)
        lacking = self._budget.lacking(known.charge.succeeded)
        if lacking is not None:
            message = f"no {lacking} left for this action"
            return Step(outcome="refused", error=ActionError(code="budget", message=message))
        return self._world.step(name, copy.deepcopy(args))

    def _enter(self, name: str, args: JSON, key: str, step: Step) -> Reply:
        known = self._tools.get(name)
        charge: Mapping[str, int] = getattr(known.charge, step.outcome) if known else _UNKNOWN_CHARGE
        self._budget.spend(charge)
        self._budget.spend(step.spent)
        self._bytes += len(canonical_json(args))
        self._ending = step.ended or self._exhausted()
        reply = Reply(
            ok=step.outcome == "succeeded",
            data=copy.deepcopy(step.data),
            error=step.error,
            remaining=self._budget.remaining,
            done=self.done,
        )
        event = Event(seq=len(self._events), key=key, tool=name, args=args, outcome=step.outcome, reply=reply)
        self._events.append(event)
        self._by_key[key] = event
        return reply.model_copy(deep=True)

    def _replay(self, event: Event) -> None:
        # Arguments that were refused unread were not kept: only a dict was ever shown to the world,
        # and what stands in any other event's place is the mark that _readable left.
        if isinstance(event.args, dict):
            reply = self.call(event.tool, event.args, event.key)
        else:
            step = self._step(event.tool, event.args, event.reply.error)
            reply = self._enter(event.tool, event.args, event.key, step)
        if canonical_json(reply.model_dump()) != canonical_json(event.reply.model_dump()):
            raise ValueError(f"event {event.seq} does not reproduce its stored reply")

    def _exhausted(self) -> Ending | None:
        if len(self._events) + 1 >= MAX_EVENTS or self._bytes > MAX_SESSION_BYTES:
            return "call_cap"
        left = self._budget.remaining
        return next((ending for name, ending in _LAST_METERS.items() if left.get(name, 1) <= 0), None)

    def _unrecorded(self, code: str, message: str) -> Reply:
        return Reply(
            ok=False, error=ActionError(code=code, message=message), remaining=self.remaining, done=self.done
        )


def _readable(args: JSON) -> tuple[JSON, ActionError | None]:
    """Return a private copy of the arguments, or a mark (a digest) and why they are not read.

    The mark is a string, which no arguments that are read can be; it lets a retry with the same key
    be recognised although the arguments themselves are not kept.
    """
    problem = _unbounded(args)
    if problem is not None:
        return f"unread:{problem.code}", problem
    try:
        raw = canonical_json(args)
    except (TypeError, ValueError, OverflowError, RecursionError):
        message = "the arguments are not finite plain JSON"
        return "unread:not_json", ActionError(code="bad_arguments", message=message)
    mark = f"unread:{hashlib.sha256(raw).hexdigest()}"
    if len(raw) > MAX_ARGUMENT_BYTES:
        message = f"the arguments are {len(raw)} bytes long; at most {MAX_ARGUMENT_BYTES} are read"
        return mark, ActionError(code="too_large", message=message)
    if not isinstance(args, dict):
        return mark, ActionError(code="bad_arguments", message="the arguments must be a JSON object")
    return json.loads(raw), None


def _unbounded(value: JSON) -> ActionError | None:
    """Look at the nesting level by level, so that neither depth nor width costs stack or memory."""
    level = [value]
    for _ in range(MAX_ARGUMENT_DEPTH):
        children: list[JSON] = []
        for item in level:
            if isinstance(item, dict):
                children.extend(item.values())
            elif isinstance(item, list | tuple):
                children.extend(item)
            if len(children) > MAX_ARGUMENT_BYTES:
                message = f"the arguments hold more values than {MAX_ARGUMENT_BYTES} bytes can"
                return ActionError(code="too_large", message=message)
        level = children
        if not level:
            return None
    message = f"the arguments are nested deeper than {MAX_ARGUMENT_DEPTH} levels"
    return ActionError(code="bad_arguments", message=message)


def _good_key(key: str) -> bool:
    return isinstance(key, str) and 0 < len(key) <= MAX_KEY_LENGTH and _encodable(key)


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _tool_name(tool: str) -> str:
    """Return a name that can be stored; what is no text or too long matches no tool anyway."""
    if not isinstance(tool, str):
        return "(not a name)"
    return tool.encode("utf-8", "backslashreplace").decode("utf-8")[:MAX_TOOL_LENGTH]


def _same(one: JSON, other: JSON) -> bool:
    return bool(one == other) and canonical_json(one) == canonical_json(other)
