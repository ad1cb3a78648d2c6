"""Session: the one contract that every door, player and judge shares.

It holds the budget, idempotency, the one-shot commit and the event list. Because a world is a pure
function of its definition, seed and actions, a session is rebuilt exactly by replaying its events.
"""

from __future__ import annotations

from collections.abc import Iterable

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
MAX_KEY_LENGTH = 128


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
        for event in events:
            reply = self.call(event.tool, event.args, event.key)
            if canonical_json(reply.model_dump()) != canonical_json(event.reply.model_dump()):
                raise ValueError(f"event {event.seq} does not reproduce its stored reply")

    @property
    def brief(self) -> dict[str, JSON]:
        """What the player is told."""
        return self._world.brief

    @property
    def tools(self) -> list[Tool]:
        """The actions that this session understands."""
        return list(self._tools.values())

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
        """All charged or answered calls so far, oldest first."""
        return tuple(self._events)

    def record(self, ending: Ending | None = None) -> Record:
        """Return the record; ``ending`` says why a session that is still open stops here."""
        return Record(options=self._options, events=self.events, ending=self._ending or ending or "unfinished")

    def call(self, tool: str, args: JSON, key: str) -> Reply:
        """Carry out one action, at most once per ``key``.

        A repeated key with equal tool and arguments returns the stored reply; with others it is a
        conflict, which changes nothing and is not recorded.
        """
        if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH:
            return self._unrecorded("bad_key", f"the idempotency key must be 1 to {MAX_KEY_LENGTH} characters")
        stored = self._by_key.get(key)
        if stored is not None:
            if stored.tool == tool and _same(stored.args, args):
                return stored.reply
            return self._unrecorded("key_conflict", "this key was used for another action; choose a new key")
        if self.done:
            return self._unrecorded("closed", "this episode is over; no further action is possible")
        step, outcome_tool = self._step(tool, args)
        return self._enter(tool, args, key, step, outcome_tool)

    def _step(self, tool: str, args: JSON) -> tuple[Step, Tool | None]:
        known = self._tools.get(tool) if isinstance(tool, str) else None
        if known is None:
            names = ", ".join(self._tools)
            return _unreadable("unknown_tool", f"there is no such tool; the tools are: {names}"), None
        try:
            size = len(canonical_json(args))
        except (TypeError, ValueError, RecursionError):
            return _unreadable("bad_arguments", "the arguments are not finite plain JSON"), known
        if size > MAX_ARGUMENT_BYTES:
            message = f"the arguments are {size} bytes long; at most {MAX_ARGUMENT_BYTES} are read"
            return _unreadable("too_large", message), known
        if not isinstance(args, dict):
            return _unreadable("bad_arguments", "the arguments must be a JSON object"), known
        lacking = self._budget.lacking(known.charge.succeeded)
        if lacking is not None:
            return Step(
                outcome="refused",
                error=ActionError(code="budget", message=f"no {lacking} left for this action"),
            ), known
        return self._world.step(tool, args), known

    def _enter(self, tool: str, args: JSON, key: str, step: Step, known: Tool | None) -> Reply:
        charge = getattr(known.charge, step.outcome) if known is not None else {"calls": 1}
        lacking = self._budget.lacking(charge)
        if lacking is None:
            self._budget.spend(charge)
        self._ending = step.ended or self._exhausted()
        reply = Reply(
            ok=step.outcome == "succeeded",
            data=step.data,
            error=step.error,
            remaining=self._budget.remaining,
            done=self.done,
        )
        kept = args if step.error is None or step.error.code not in ("too_large", "bad_arguments") else None
        event = Event(
            seq=len(self._events), key=key, tool=str(tool)[:MAX_KEY_LENGTH], args=kept, outcome=step.outcome, reply=reply
        )
        self._events.append(event)
        self._by_key[key] = event
        return reply

    def _exhausted(self) -> Ending | None:
        calls = self._budget.remaining.get("calls")
        return "call_cap" if calls is not None and calls <= 0 else None

    def _unrecorded(self, code: str, message: str) -> Reply:
        return Reply(
            ok=False, error=ActionError(code=code, message=message), remaining=self.remaining, done=self.done
        )


def _same(one: JSON, other: JSON) -> bool:
    try:
        return canonical_json(one) == canonical_json(other)
    except (TypeError, ValueError, RecursionError):
        return False


def _unreadable(code: str, message: str) -> Step:
    return Step(outcome="unreadable", error=ActionError(code=code, message=message))
