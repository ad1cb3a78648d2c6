"""The one retry layer: attempts, waits, pacing, and a ledger row around every attempt."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.completion import usage_in
from gateway.endpoint import Clock, Endpoint, Limits
from gateway.ledger import Ledger
from gateway.pace import Pace
from gateway.prices import Price

if TYPE_CHECKING:
    from gateway.wire import AttemptError, Wire


@dataclass(frozen=True, slots=True)
class Errand:
    """What a request is for, as the ledger tells it."""

    purpose: str
    subject: str = ""
    mode: str = ""
    keep: Callable[[str], object] = lambda body: None
    """Called with the reply's body as soon as it is there, before anything else is done."""


@dataclass(frozen=True, slots=True)
class Bought:
    """A reply's body, and the ledger ids of all attempts that led to it."""

    body: str
    ledger: tuple[str, ...]


class MeteredWire:
    """Asks until there is a reply, the attempts are used up, or the deadline has passed.

    Args:
        endpoint: where to ask; its ``base_url`` must be set.
        ledger: where every attempt is written down.
        price: what its tokens cost, where known.
        clock, rng: time and chance (waits are drawn with full jitter).
        limits: attempts and deadlines.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        ledger: Ledger,
        *,
        price: Price | None,
        clock: Clock,
        rng: random.Random,
        limits: Limits,
    ) -> None:
        self._endpoint = endpoint
        self._ledger = ledger
        self._price = price
        self._clock = clock
        self._rng = rng
        self._limits = limits
        self._pace = Pace(limits.concurrency)
        self._lock = threading.Lock()
        self._wire: Wire | None = None

    def post(self, request: Mapping[str, Any], errand: Errand) -> Bought:
        """Return the reply to ``request``, a chat completion request as JSON.

        Raises:
            AttemptError: the last attempt's failure.
        """
        from gateway.wire import AttemptError

        end = self._clock.monotonic() + self._limits.total_seconds
        ids: list[str] = []
        while True:
            ids.append(f"{self._rng.getrandbits(64):016x}")
            try:
                with self._pace.turn():
                    body = self._attempt(request, errand, ids, end - self._clock.monotonic())
            except AttemptError as failure:
                wait = self._wait(failure, len(ids))
                late = self._clock.monotonic() + wait >= end
                if late or not failure.retry or len(ids) >= self._limits.attempts:
                    raise
                self._clock.sleep(wait)
            else:
                return Bought(body, tuple(ids))

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            if self._wire is not None:
                self._wire.close()
                self._wire = None

    def _attempt(self, request: Mapping[str, Any], errand: Errand, ids: list[str], left: float) -> str:
        from gateway.wire import AttemptError

        wire = self._open()
        self._ledger.open(
            ids[-1],
            purpose=errand.purpose,
            subject=errand.subject,
            mode=errand.mode,
            provider=self._endpoint.provider,
            model=self._endpoint.model,
            attempt=len(ids),
        )
        started = self._clock.monotonic()
        try:
            body = wire.post(request, max(0.001, min(self._limits.call_seconds, left)))
        except AttemptError as failure:
            self._failed(ids[-1], failure)
            raise
        errand.keep(body)
        self._ledger.settle(ids[-1], usage_in(body, self._price), self._clock.monotonic() - started)
        self._pace.widen()
        return body

    def _failed(self, id: str, failure: AttemptError) -> None:
        self._ledger.fail(
            id,
            reason=failure.reason,
            message=failure.message,
            http_status=failure.http_status,
            possibly_billed=failure.possibly_billed,
        )
        if failure.reason == "rate_limited":
            self._pace.narrow()

    def _wait(self, failure: AttemptError, attempts: int) -> float:
        most = min(self._limits.backoff_cap, 2 * self._limits.backoff_seconds * 2.0 ** (attempts - 1))
        return (failure.wait or 0.0) + self._rng.uniform(0.0, most)

    def _open(self) -> Wire:
        from gateway.wire import Wire

        with self._lock:
            if self._wire is None:
                self._wire = Wire(self._endpoint, self._clock.monotonic)
            return self._wire
