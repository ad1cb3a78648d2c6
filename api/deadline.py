"""Connections that do not come to the point are closed, so that idle ones cannot shut everybody out.

uvicorn gives a client all the time in the world to send its request, and answers 503 to everyone once
``limit_concurrency`` connections are open: a few hundred half requests would close a door for good.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 30.0
"""A request must have arrived whole this long after its first byte, the first one after the connection."""


class PunctualProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a deadline for every request."""

    seconds = REQUEST_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the first request."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """Read on; the deadline stands from a request's first byte to its last."""
        self._start()
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE and self.conn.their_state is not h11.SEND_BODY:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.seconds, self._late)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        self._deadline = None
        self.transport.abort()
