"""A door closes connections whose request does not come, and no others."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from api.deadline import PunctualProtocol
from api.serve import _listen

SECONDS = 0.4
REQUEST = b"GET / HTTP/1.1\r\nHost: door\r\n\r\n"


class Hasty(PunctualProtocol):
    """The protocol with a deadline that a test can wait for."""

    seconds = SECONDS


async def _slow_app(scope: Any, receive: Any, send: Any) -> None:
    """Answer a request that has come whole only after the deadline would have passed."""
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(2 * SECONDS)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def _door(connections: int = 512) -> Iterator[tuple[str, int]]:
    listening = _listen(("127.0.0.1", 0))
    config = uvicorn.Config(
        _slow_app, http=Hasty, lifespan="off", log_level="error", limit_concurrency=connections
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def _closed(connection: socket.socket) -> bool:
    connection.settimeout(10)
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


def _answer(connection: socket.socket) -> bytes:
    """Read one answer of ``_slow_app``, which may come in several pieces."""
    answer = b""
    while not answer.endswith(b"\r\n\r\nok"):
        piece = connection.recv(1000)
        assert piece, answer
        answer += piece
    return answer


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nHost: door\r\nContent-Length: 9\r\n\r\nhalf"],
)
def test_half_a_request_is_closed(sent: bytes) -> None:
    """Silence, half a header and half a body each end at the deadline."""
    with _door() as address, socket.create_connection(address) as connection:
        connection.sendall(sent)
        assert _closed(connection)


def test_a_trickle_does_not_move_the_deadline() -> None:
    """A byte now and then is no request: the deadline counts from the first byte."""
    with _door() as address, socket.create_connection(address) as connection:
        start = time.monotonic()
        connection.settimeout(SECONDS / 8)
        ended = False
        while not ended and time.monotonic() - start < 10:
            try:
                connection.sendall(b"G")
                ended = connection.recv(100) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True
        assert ended


def test_a_whole_request_may_take_its_time() -> None:
    """An answer that takes longer than the deadline still comes, twice on one connection."""
    with _door() as address, socket.create_connection(address) as connection:
        connection.settimeout(10)
        for _ in range(2):
            connection.sendall(REQUEST)
            assert b"200 OK" in _answer(connection)


def test_half_requests_do_not_shut_a_door() -> None:
    """A door full of half requests answers again once their time is over."""
    with _door(connections=8) as address:
        idle = [socket.create_connection(address) for _ in range(8)]
        with socket.create_connection(address) as turned_away:
            turned_away.sendall(REQUEST)
            assert b"503" in turned_away.recv(1000)
        assert all(_closed(connection) for connection in idle)
        with socket.create_connection(address) as welcome:
            welcome.settimeout(10)
            welcome.sendall(REQUEST)
            assert b"200 OK" in _answer(welcome)
        for connection in idle:
            connection.close()
