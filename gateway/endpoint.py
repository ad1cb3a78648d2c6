"""Where a model is asked, how patiently, and by which clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked. ``base_url`` may be missing as long as nothing is bought."""

    provider: str
    model: str
    base_url: str | None = None
    api_key: str | None = None
    proxy: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how often a reply is waited for.

    Attributes:
        attempts: requests at most for one reply.
        call_seconds: deadline of one request, whole reply included.
        total_seconds: deadline of one reply with all its attempts and waits.
        backoff_seconds: mean of the first wait, doubled from attempt to attempt.
        backoff_cap: longest wait of our own choosing; a server's Retry-After may be longer.
        concurrency: requests under way at once at most.
    """

    attempts: int = 6
    call_seconds: float = 120.0
    total_seconds: float = 600.0
    backoff_seconds: float = 1.0
    backoff_cap: float = 30.0
    concurrency: int = 8


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as the gateway sees it."""

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]


def system_clock() -> Clock:
    """Return the machine's clock, for the composition root to pass in."""
    return Clock(now=lambda: datetime.now(UTC), monotonic=time.monotonic, sleep=time.sleep)
