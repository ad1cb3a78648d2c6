"""The words of one episode: the seat, who sits in it, where it stands, and the row it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from environments.task import JSON, Ending, Record, Reply, Score, Status, Tool
from evaluation.journal import Journal

OPEN_STATUSES: frozenset[Status] = frozenset({"error"})
"""A row of such a status does not settle its slot: the episode is owed again."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Slot(_Frozen):
    """One planned episode. ``key`` is the digest of all that its outcome may depend on."""

    key: str
    task: str
    family: str
    setting: str
    protocol: str
    repetition: int


class Usage(_Frozen):
    """What an episode's model calls cost. ``usd`` is None where a price is not known."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0


class Seat(Protocol):
    """One place in one session: in process or at the other end of the agent door."""

    @property
    def brief(self) -> dict[str, JSON]:
        """What the player is told."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The actions of this session."""

    def call(self, tool: str, args: JSON, key: str) -> Reply:
        """Carry out one action, at most once per key."""

    def record(self, ending: Ending | None = None) -> Record:
        """Return all that happened; ``ending`` says why a session that is still open stops here."""


class Hand(Protocol):
    """One player's side of one session: a ``Policy`` that also says why it stopped and what it cost."""

    @property
    def ending(self) -> Ending | None:
        """Why the player stopped by itself (context, refusal, time …), or None."""

    @property
    def usage(self) -> Usage:
        """What was bought so far, replies recalled from the journal included."""

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the brief once, before the first action."""

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Return the next (tool, args), or None to stop.

        Raises:
            GatewayError: when no reply could be had; the episode is owed again.
            CapError: when the money set aside for the run is spent; the run stops.
        """


class Player(Protocol):
    """Someone who can sit down at a slot. ``spec`` and its family's prompt go into every slot key."""

    @property
    def name(self) -> str:
        """The name on the board."""

    @property
    def spec(self) -> dict[str, JSON]:
        """Everything that its play depends on, as plain JSON (no keys, no addresses)."""

    @property
    def prompt_digests(self) -> Mapping[str, str]:
        """The digest of the prompt files with which it plays a family, by family; empty without prompts."""

    def sit(self, slot: Slot, journal: Journal) -> Hand:
        """Return a fresh hand for one slot; whatever it buys goes through ``journal.ask``."""


class Verdict(_Frozen):
    """A score joined with the sealed words that a table groups by."""

    score: Score
    cluster: str
    facets: dict[str, str]


class Venue(Protocol):
    """Where episodes take place: a release at hand, or a service at the other end of HTTP."""

    def open(self, slot: Slot, ticket: JSON) -> tuple[Seat, JSON]:
        """Return the slot's seat, and the ticket by which a later run comes back to it.

        ``ticket`` is what an earlier run of this slot was given, or None.
        """

    def judge(self, slot: Slot, record: Record, ticket: JSON) -> Verdict:
        """Score a finished episode."""


class EpisodeRow(_Frozen):
    """One line of episodes.jsonl: the outcome of one slot. Holds no time, so equal play gives equal rows."""

    slot: str
    task: str
    family: str
    setting: str
    protocol: str
    repetition: int
    player: str
    status: Status
    ending: Ending
    protocol_ok: bool | None = None
    headline: float | None = None
    passed: dict[str, bool | None] = {}
    parts: dict[str, float] = {}
    findings: tuple[str, ...] = ()
    cluster: str = ""
    facets: dict[str, str] = {}
    usage: Usage = Usage()
    events: int = 0

    @property
    def settled(self) -> bool:
        """Whether the slot needs no further play."""
        return self.status not in OPEN_STATUSES


RunState = Literal["running", "complete", "resumable", "interrupted", "capped"]
