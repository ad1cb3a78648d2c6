"""A cap on a run's cost: money is set aside before each question and settled after it."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from cards.errors import CapError
from environments.task import JSON
from gateway.prices import Price
from gateway.reply import ChatReply
from gateway.request import Message


@dataclass(frozen=True, slots=True)
class Cap:
    """The most that a run may cost in USD, and what a token costs."""

    usd: float
    price: Price


class Purse:
    """What is left of a cap, for all episodes in flight together.

    Args:
        cap: the cap.
        spent: what earlier processes of this run spent, in USD.
    """

    def __init__(self, cap: Cap, spent: float = 0.0) -> None:
        self._cap = cap
        self._gone = spent
        self._lock = threading.Lock()

    def set_aside(
        self, messages: Sequence[Message], schema: dict[str, JSON] | None, max_tokens: int
    ) -> float:
        """Reserve the most that one question can cost, and return it.

        Raises:
            CapError: when that would pass the cap; nothing is reserved then.
        """
        characters = sum(len(message.content.encode()) for message in messages) + len(json.dumps(schema))
        # No tokenizer makes more tokens than there are bytes; two bytes a token is still generous.
        most = self._cap.price.of(characters // 2 + 8 * len(messages), max_tokens)
        with self._lock:
            if self._gone + most > self._cap.usd:
                gone = f"${self._gone:.4f} of ${self._cap.usd:.2f} is gone"
                raise CapError(
                    f"the next question could cost ${most:.4f}, and {gone}.",
                    "Resume the run with a larger --max-cost.",
                )
            self._gone += most
        return most

    def settle(self, reserved: float, reply: ChatReply) -> None:
        """Give back what a reply cost less than was set aside.

        A question that failed is never settled: it may have been billed.
        """
        if reply.usage.usd is not None:
            with self._lock:
                self._gone += reply.usage.usd - reserved
