"""A transport that holds a whole reply, its header included, to one deadline and to a maximal size.

A read time-out alone starts again with every byte, so that a server which drips could hold a slot for ever;
a compressed reply of a few kilobytes could fill the memory; a charset of its own could break the reader.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2

MAX_BODY_BYTES = 16 * 2**20
"""A longer reply is cut off, as if the connection had broken."""
_SHORTEST = 0.001


class DeadlineTransport(httpx2.BaseTransport):
    """HTTP as httpx2 speaks it, but the request's read time-out is meant for all of the reply.

    Args:
        proxy: address of a proxy, or None.
        monotonic: the clock that deadlines are measured with, in seconds.
    """

    def __init__(self, proxy: str | None, monotonic: Callable[[], float]) -> None:
        self._inner = httpx2.HTTPTransport(proxy=proxy, trust_env=False)
        self._clock = _Clock(monotonic)
        # httpx2 has no public place for it; without it the header's bytes would escape the deadline.
        pool: Any = self._inner._pool
        pool._network_backend = _Backend(pool._network_backend, self._clock)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and return its reply, plain and in UTF-8."""
        limit = request.extensions.get("timeout", {}).get("read")
        self._clock.start(limit)
        request.headers["accept-encoding"] = "identity"
        response = self._inner.handle_request(request)
        stream = response.stream
        assert isinstance(stream, httpx2.SyncByteStream)
        if response.headers.get("content-encoding", "identity") != "identity":
            response.close()
            raise httpx2.ReadError("the reply is compressed, which was not asked for", request=request)
        headers = httpx2.Headers(response.headers)
        headers["content-type"] = headers.get("content-type", "").split(";")[0]
        bounded = _BoundedStream(stream, self._clock, request)
        return httpx2.Response(
            response.status_code, headers=headers, stream=bounded, extensions=response.extensions
        )

    def close(self) -> None:
        """Close all connections."""
        self._inner.close()


class _Clock(threading.local):
    """The deadline of the request that this thread is waiting for."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._end = math.inf

    def start(self, seconds: float | None) -> None:
        self._end = math.inf if seconds is None else self._monotonic() + seconds

    def left(self) -> float:
        return self._end - self._monotonic()


class _Backend:
    """httpcore2's network backend, whose streams know the deadline."""

    def __init__(self, inner: Any, clock: _Clock) -> None:
        self._inner, self._clock = inner, clock

    def connect_tcp(self, *args: Any, **more: Any) -> _Stream:
        return _Stream(self._inner.connect_tcp(*args, **more), self._clock)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Stream:
    def __init__(self, inner: Any, clock: _Clock) -> None:
        self._inner, self._clock = inner, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = max(_SHORTEST, self._clock.left())
        shorter = left if timeout is None else min(timeout, left)
        data: bytes = self._inner.read(max_bytes, timeout=None if math.isinf(shorter) else shorter)
        return data

    def start_tls(self, *args: Any, **more: Any) -> _Stream:
        return _Stream(self._inner.start_tls(*args, **more), self._clock)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, clock: _Clock, request: httpx2.Request) -> None:
        self._inner, self._clock, self._request = inner, clock, request

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._inner:
            size += len(chunk)
            if self._clock.left() < 0:
                raise httpx2.ReadTimeout("the reply took too long", request=self._request)
            if size > MAX_BODY_BYTES:
                raise httpx2.ReadError("the reply is too long", request=self._request)
            yield chunk

    def close(self) -> None:
        self._inner.close()
