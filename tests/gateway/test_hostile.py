"""A server that means harm: every call ends as a reply or a GatewayError, in time, and in the ledger."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cards.errors import GatewayError
from gateway.endpoint import Limits
from gateway.prices import Price
from gateway.reply import Usage
from gateway.request import Message
from tests.gateway.conftest import Bench

HELLO = [Message("user", "hello")]
PLAIN = Limits(attempts=2, call_seconds=0.6, total_seconds=5, backoff_seconds=0.005, backoff_cap=0.01)
GOOD: dict[str, Any] = {
    "model": "m",
    "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
}


def _reply(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def _good(**changes: Any) -> bytes:
    return json.dumps(GOOD | changes).encode()


def _zipped(spaces: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(_good() + b" " * spaces) + packer.flush()


@contextmanager
def _server(first: bytes, drip: bytes = b"") -> Iterator[str]:
    """Answer every request with ``first`` and then, for ever, with ``drip``."""
    listening = socket.create_server(("127.0.0.1", 0))
    closing = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(5)
            asked = b""
            while not (whole := re.search(rb"content-length: (\d+).*?\r\n\r\n(.*)", asked, re.I | re.S)) or (
                len(whole[2]) < int(whole[1])
            ):
                asked += connection.recv(65536)
            connection.sendall(first)
            while drip and not closing.wait(0.1):
                connection.sendall(drip)

    def quietly(connection: socket.socket) -> None:
        try:
            answer(connection)
        except OSError:
            return  # the client has hung up, as it should

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=quietly, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        closing.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


USAGES = {
    "as it should be": ({"prompt_tokens": 3, "completion_tokens": 4}, (3, 4)),
    "beyond any number": ({"prompt_tokens": 10**400, "completion_tokens": 4}, (None, 4)),
    "below nothing": ({"prompt_tokens": -5, "completion_tokens": True}, (None, None)),
    "no numbers": ({"prompt_tokens": "3", "completion_tokens": 4.5}, (None, None)),
    "a list": ([3, 4], (None, None)),
}


@pytest.mark.parametrize("name", USAGES)
def test_a_usage_that_cannot_be_is_unknown(bench: Bench, name: str) -> None:
    """What a server says it has counted never breaks a bought reply, and never buys credit."""
    usage, (tokens_in, tokens_out) = USAGES[name]
    with _server(_reply(_good(usage=usage))) as url:
        reply = bench.gateway(url, PLAIN, price=Price(1.0, 1.0)).chat(HELLO, purpose="test")
    known = tokens_in is not None and tokens_out is not None
    assert reply.usage == Usage(tokens_in=tokens_in, tokens_out=tokens_out, usd=7e-6 if known else None)
    assert bench.outcomes() == [("settled", None, None, False)]


@pytest.mark.parametrize(
    "answer",
    [
        _reply(_good(), "Content-Type: application/json; charset=zip"),
        _reply(_good(), "Content-Type: text/html; charset=utf-16"),
        _reply(_good(model="\ud800" + "x" * 10_000)),
    ],
    ids=["charset of its own", "another charset", "a name no file can hold"],
)
def test_a_sound_reply_in_odd_clothes_is_read(bench: Bench, answer: bytes) -> None:
    """JSON is UTF-8 whatever the header says, and a reply can always be written down."""
    with _server(answer) as url:
        reply = bench.gateway(url, PLAIN).chat(HELLO, purpose="test")
    assert reply.text == "hi"
    assert len(reply.model_dump_json().encode()) < 1000


@pytest.mark.parametrize(
    "answer",
    [
        _reply(_zipped(200_000_000), "Content-Encoding: gzip"),
        _reply(b"abcd", "Content-Encoding: br"),
        _reply(b"[" * 200_000),
        _reply(b"{}", "Content-Type: text/plain; charset=zip", status="500 No"),
        _reply(b'{"error": {"message": "\\ud800"}}', "Content-Type: application/json", status="400 No"),
        _reply(b"", "Location: http://127.0.0.1:1/", status="307 Elsewhere"),
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * 5_000_000,
        b"no protocol\r\n\r\n",
    ],
    ids=["bomb", "packed", "nested", "charset of an error", "error", "redirect", "endless header", "other"],
)
def test_a_reply_that_is_none_is_a_gateway_error(bench: Bench, answer: bytes) -> None:
    """Never another exception, and no attempt is left open in the ledger."""
    with _server(answer) as url, pytest.raises(GatewayError) as caught:
        bench.gateway(url, PLAIN).chat(HELLO, purpose="test")
    str(caught.value).encode()
    assert {status for status, *_ in bench.outcomes()} == {"failed"}


@pytest.mark.parametrize(
    ("first", "drip"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X: a\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b" "),
    ],
    ids=["header", "continue", "body"],
)
def test_a_server_that_drips_is_cut_off_at_the_deadline(bench: Bench, first: bytes, drip: bytes) -> None:
    """The deadline of a call is for all of its reply, the header as well."""
    with _server(first, drip) as url:
        start = time.monotonic()
        with pytest.raises(GatewayError) as caught:
            bench.gateway(url, PLAIN).chat(HELLO, purpose="test")
        assert time.monotonic() - start < 4
    assert caught.value.reason == "timeout"
    assert bench.outcomes() == [("failed", "timeout", None, True)] * 2
