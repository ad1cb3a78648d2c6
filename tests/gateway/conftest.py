"""What the gateway's tests share: a schema, a question, and a gateway at a scripted server."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from gateway.calls import CallStore
from gateway.client import Clock, Endpoint, Gateway, Limits, system_clock
from gateway.ledger import Ledger
from gateway.prompt import Prompt
from gateway.request import Message, Sampling, StructuredRequest

PROMPT = Prompt("measure", 1, "Measure it.\n")
GOOD = '{"value": 2.5, "unit": "m"}'
FAST = Limits(attempts=3, call_seconds=0.5, total_seconds=20, backoff_seconds=0.005, backoff_cap=0.01)


class Measurement(BaseModel):
    """A flat answer with a nullable field."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    value: float
    unit: str | None


def question(text: str = "how long?", **more: Any) -> StructuredRequest[Measurement]:
    """Return a question whose key depends on its text."""
    messages = (Message("system", PROMPT.text), Message("user", text))
    return StructuredRequest("measure", PROMPT, messages, Measurement, Sampling(max_tokens=64), **more)


@dataclass
class Bench:
    """A folder with a ledger and a call store, and the gateways that use them."""

    folder: Path
    clock: Clock = field(default_factory=system_clock)
    made: list[Gateway] = field(default_factory=list)

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return Ledger(self.folder / "ledger.jsonl", self.clock.now)

    @property
    def calls(self) -> CallStore:
        """The call store."""
        return CallStore(self.folder / "calls")

    def gateway(self, base_url: str | None, limits: Limits = FAST, **more: Any) -> Gateway:
        """Return a gateway of its own connections."""
        endpoint = Endpoint("fake", more.pop("model", "m"), base_url, "key")
        made = Gateway(
            endpoint,
            ledger=self.ledger,
            calls=self.calls,
            clock=more.pop("clock", self.clock),
            rng=random.Random(7 + len(self.made)),
            limits=limits,
            **more,
        )
        self.made.append(made)
        return made

    def outcomes(self) -> list[tuple[str, str | None, int | None, bool]]:
        """Return (status, reason, HTTP status, possibly billed) of every attempt, in order."""
        return [
            (entry.status, entry.reason, entry.http_status, entry.possibly_billed)
            for entry in self.ledger.entries()
        ]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench in a fresh folder; its gateways are closed afterwards."""
    made = Bench(tmp_path)
    yield made
    for gateway in made.made:
        gateway.close()


@pytest.fixture
def waits() -> list[float]:
    """The seconds that ``patient_clock`` was asked to sleep."""
    return []


@pytest.fixture
def patient_clock(waits: list[float]) -> Clock:
    """The system's clock, but sleeping only moves the hand forward and is noted."""
    real = system_clock()
    skipped = [0.0]

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        skipped[0] += seconds

    monotonic: Callable[[], float] = lambda: real.monotonic() + skipped[0]  # noqa: E731
    return Clock(now=real.now, monotonic=monotonic, sleep=sleep)
