"""What is asked of a language model."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from gateway.prompt import Prompt

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. Its content is sent as it stands; no template is applied."""

    role: Literal["system", "user", "assistant"]
    content: str

    def as_json(self) -> dict[str, str]:
        """Return the message as it goes over the wire."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn. ``temperature`` is left out where the model's profile forbids it."""

    temperature: float | None = 0.0
    max_tokens: int = 2048


@dataclass(frozen=True, slots=True)
class StructuredRequest(Generic[T]):
    """A question whose answer must fit a schema, bought at most once per key.

    Args:
        purpose: what it is for ("extract", "review" …); goes into the ledger, not into the key.
        prompt: the prompt from which the messages were rendered.
        messages: the rendered conversation.
        schema: the pydantic type of the answer: flat lists of {name, …}, every field required.
        sampling: how the reply is drawn.
        attempt: raise it to buy another answer to the same question.
        subject: what it is about, for people; not in the key.
    """

    purpose: str
    prompt: Prompt
    messages: tuple[Message, ...]
    schema: type[T]
    sampling: Sampling = Sampling()
    attempt: int = 0
    subject: str = ""

    def key(self, provider: str, model: str, reask: int) -> str:
        """Return the digest under which a reply is stored; ``reask`` counts repeats after unusable ones."""
        parts = {
            "provider": provider,
            "model": model,
            "prompt": [self.prompt.id, self.prompt.version],
            "schema": json_digest(self.schema.model_json_schema()),
            "input": json_digest([message.as_json() for message in self.messages]),
            "sampling": [self.sampling.temperature, self.sampling.max_tokens],
            "attempt": [self.attempt, reask],
        }
        return json_digest(parts)


def json_digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value, keys sorted, as hexadecimal digits."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
