"""What a release is made of and what an episode leaves behind.

A task has three parts that never share a file: the public row, the sealed brief, the sealed
definition (contracts: who may see what). ``answer`` is what the public commitment binds.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

JSON = Any

Ending = Literal[
    "completed", "call_cap", "turn_cap", "time", "context", "refusal", "cost_cap", "interrupted", "unfinished"
]
Status = Literal["scored", "invalid", "missing", "undetermined", "error"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TaskRow(_Frozen):
    """The public row of one task. Nothing in it tells a twin, a scenario or a law."""

    id: str = Field(pattern=r"^[0-9a-f]{16}$")
    family: str
    setting: str
    protocols: tuple[str, ...]
    tools: dict[str, tuple[str, ...]]
    """Tool names by protocol."""
    limits: dict[str, float]
    protocol_limits: dict[str, dict[str, float]] = {}
    """Further limits that hold under one protocol only, by protocol."""

    def limits_under(self, protocol: str) -> dict[str, float]:
        """Return all limits of one protocol."""
        return self.limits | self.protocol_limits.get(protocol, {})


class Task(_Frozen):
    """One built task with its three parts, as the build stage writes it and release.py reads it."""

    row: TaskRow
    brief: dict[str, JSON]
    definition: dict[str, JSON]
    """The family's own frozen model as plain JSON; holds ``eval_inputs`` where the family has them."""
    answer: JSON
    seed: str
    """The item seed, 64 hexadecimal digits; twins share it."""
    cluster: str
    """Opaque id of the unit of analysis (law family, world, organism); sealed until the reveal."""
    facets: dict[str, str]
    """What a table groups by (variant, collection, tier …); sealed, joined to rows when scored."""
    link: dict[str, JSON] = {}
    """What the task was made from (card id); sealed until the reveal."""


class Charge(_Frozen):
    """What one call costs on each meter, by how it ends."""

    succeeded: dict[str, int] = {}
    refused: dict[str, int] = {}
    unreadable: dict[str, int] = {}


class Tool(_Frozen):
    """One action a player can take."""

    name: str
    kind: Literal["experiment", "analysis", "commit"]
    description: str
    parameters: dict[str, JSON]
    """JSON schema of the arguments."""
    charge: Charge


class ActionError(_Frozen):
    """Why an action was not carried out; ``path`` leads to the offending place in the arguments."""

    code: str
    message: str
    path: str = ""


class Step(_Frozen):
    """A world's answer to one action.

    ``outcome`` decides the charge. ``spent`` is what this one action cost beside its tool's charge, where
    the cost depends on the arguments (a fleet's drones). ``ended`` closes the session.
    """

    outcome: Literal["succeeded", "refused", "unreadable"]
    data: JSON = None
    error: ActionError | None = None
    spent: dict[str, int] = {}
    ended: Ending | None = None


class Reply(_Frozen):
    """What a player sees of one call: the same shape through every door."""

    ok: bool
    data: JSON = None
    error: ActionError | None = None
    remaining: dict[str, int]
    done: bool


class Event(_Frozen):
    """One call with its reply, as it stands in a session's event list."""

    seq: int
    key: str
    tool: str
    args: JSON
    outcome: Literal["succeeded", "refused", "unreadable"]
    reply: Reply


class Options(_Frozen):
    """How a session is opened: everything beside the definition that its course depends on."""

    setting: str
    protocol: str
    repetition: int = 0
    extra: dict[str, JSON] = {}


class Record(_Frozen):
    """The whole of one finished session: all that a judge may read."""

    options: Options
    events: tuple[Event, ...]
    ending: Ending


class Score(_Frozen):
    """A judge's verdict on one record."""

    status: Status
    headline: float | None = Field(default=None, ge=0, le=1)
    passed: dict[str, bool | None] = {}
    """``weak`` and ``strict``: true, false, or null where undecided or not asked."""
    parts: dict[str, float] = {}
    protocol_ok: bool | None = None
    findings: tuple[str, ...] = ()
