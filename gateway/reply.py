"""What a language model answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal

from pydantic import BaseModel, ConfigDict

from gateway.request import T

Finish = Literal["stop", "length", "refused"]


class Usage(BaseModel):
    """Tokens and money of one reply; None where the server or the price table does not say."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None


class ChatReply(BaseModel):
    """One turn of a conversation; plain JSON both ways, so that a journal can keep it.

    ``ledger`` lists the ids of all attempts that led to it, the last one settled.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    text: str
    finish: Finish
    usage: Usage
    model: str
    ledger: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StructuredReply(Generic[T]):
    """A validated answer. ``bought`` is False when it came from the call store."""

    value: T
    key: str
    text: str
    usage: Usage
    model: str
    mode: str
    attempt: int
    bought: bool
