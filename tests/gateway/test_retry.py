"""The one retry layer: what is asked again, how long is waited, and what the ledger says of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from cards.errors import GatewayError
from gateway.client import Clock, Limits
from gateway.pace import Pace
from gateway.request import Message
from tests.fakes.model_server import Fault, ModelServer
from tests.gateway.conftest import GOOD, Bench, question

HELLO = [Message("user", "hello")]

PASSING = {
    "429": (Fault.status(429, retry_after=0), ("failed", "rate_limited", 429, False)),
    "408": (Fault.status(408), ("failed", "server", 408, False)),
    "409": (Fault.status(409), ("failed", "server", 409, False)),
    "500": (Fault.status(500), ("failed", "server", 500, True)),
    "503": (Fault.status(503), ("failed", "server", 503, True)),
    "garbage": (Fault.garbage(), ("failed", "malformed", None, True)),
    "foreign JSON": (Fault.foreign(), ("failed", "malformed", None, True)),
    "half a JSON": (Fault.half_json(), ("failed", "malformed", None, True)),
    "cut off": (Fault.cut(), ("failed", "connection", None, True)),
    "hang": (Fault.hang(), ("failed", "timeout", None, True)),
    "drip": (Fault.drip(), ("failed", "timeout", None, True)),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_asked_again_and_both_attempts_are_in_the_ledger(bench: Bench, name: str) -> None:
    """Evaluation 3: one retry layer; every attempt is a row before the request and settled after."""
    fault, row = PASSING[name]
    with ModelServer(lambda ask: GOOD) as server:
        server.inject([fault])
        reply = bench.gateway(server.base_url).structured(question())
        assert reply.value.value == 2.5
        assert bench.outcomes() == [row, ("settled", None, None, False)]
        assert server.requests == 2


@pytest.mark.parametrize("name", PASSING)
def test_a_lasting_fault_ends_after_the_allowed_attempts_with_its_reason(bench: Bench, name: str) -> None:
    """Attempts are bounded, and the error says which kind of fault it was; nothing is stored."""
    fault, row = PASSING[name]
    with ModelServer(lambda ask: GOOD) as server:
        server.inject([fault] * 9)
        with pytest.raises(GatewayError) as caught:
            bench.gateway(server.base_url).structured(question())
        assert caught.value.reason == row[1]
        assert bench.outcomes() == [row] * 3
        assert server.requests == 3
        assert bench.calls.stored_keys() == []


LASTING = {
    "bad key": (Fault.status(401), "denied"),
    "no such model": (Fault.status(404), "denied"),
    "bad request": (Fault.status(400, message="the field top_q is unknown"), "request"),
    "too long": (Fault.status(400, error_code="context_length_exceeded"), "context"),
    "too long, in words": (Fault.status(400, message="This model's maximum context is 10 tokens"), "context"),
    "too large": (Fault.status(413), "context"),
    "no money left": (Fault.status(429, error_code="insufficient_quota"), "rate_limited"),
}


@pytest.mark.parametrize("name", LASTING)
def test_what_cannot_pass_is_not_asked_again(bench: Bench, name: str) -> None:
    """A fault that waiting cannot heal costs one request, and none of it is possibly billed."""
    fault, reason = LASTING[name]
    with ModelServer(lambda ask: GOOD) as server:
        server.inject([fault])
        with pytest.raises(GatewayError) as caught:
            bench.gateway(server.base_url).chat(HELLO, purpose="play")
        assert caught.value.reason == reason
        assert [outcome[3] for outcome in bench.outcomes()] == [False]
        assert server.requests == 1


def test_nobody_listening_is_a_connection_error_that_was_not_billed(bench: Bench) -> None:
    """A request that never left cannot have been billed; the error names the setting to check."""
    with ModelServer(lambda ask: GOOD) as server:
        address = server.base_url
    with pytest.raises(GatewayError, match="ALMANAC_BASE_URL") as caught:
        bench.gateway(address).chat(HELLO, purpose="play")
    assert caught.value.reason == "connection"
    assert bench.outcomes() == [("failed", "connection", None, False)] * 3


@pytest.mark.parametrize(
    ("asked", "least"), [("7", 7.0), ("0.25", 0.25), ("Fri, 31 Dec 2100 23:59:59 GMT", None), ("soon", 0.0)]
)
def test_retry_after_is_honoured(
    bench: Bench, patient_clock: Clock, waits: list[float], asked: str, least: float | None
) -> None:
    """Retry-After is waited for, in seconds or as a date; a date beyond the deadline gives up at once."""
    with ModelServer(lambda ask: GOOD) as server:
        server.inject([Fault.status(429, retry_after=asked)])
        gateway = bench.gateway(server.base_url, clock=patient_clock)
        if least is None:
            with pytest.raises(GatewayError):
                gateway.chat(HELLO, purpose="play")
            assert waits == []
            return
        gateway.chat(HELLO, purpose="play")
    assert len(waits) == 1
    assert least <= waits[0] <= least + 0.01


def test_waits_are_jittered_and_grow_to_a_cap(bench: Bench, patient_clock: Clock, waits: list[float]) -> None:
    """Full jitter: each wait is drawn between nothing and a bound that doubles up to the cap."""
    limits = Limits(attempts=8, backoff_seconds=1, backoff_cap=9, total_seconds=1000)
    with ModelServer(lambda ask: Fault.status(500)) as server:
        gateway = bench.gateway(server.base_url, limits, clock=patient_clock)
        with pytest.raises(GatewayError):
            gateway.chat(HELLO, purpose="play")
    assert len(waits) == 7
    assert all(0 <= wait <= bound for wait, bound in zip(waits, (2, 4, 8, 9, 9, 9, 9), strict=True))
    assert len(set(waits)) == 7


def test_the_total_deadline_ends_the_attempts(bench: Bench, patient_clock: Clock) -> None:
    """All attempts and waits for one reply together are bounded in time."""
    limits = Limits(attempts=1000, backoff_seconds=1, backoff_cap=10, total_seconds=60)
    with ModelServer(lambda ask: Fault.status(503)) as server:
        started = patient_clock.monotonic()
        with pytest.raises(GatewayError):
            bench.gateway(server.base_url, limits, clock=patient_clock).chat(HELLO, purpose="play")
        assert patient_clock.monotonic() - started < 60
        assert server.requests < 100


def test_too_many_requests_halve_the_window_and_replies_widen_it() -> None:
    """Pacing is additive increase, multiplicative decrease, never below one request."""
    pace = Pace(8)
    for expected in (4, 2, 1, 1):
        pace.narrow()
        assert pace.window == expected
    pace.widen()
    assert pace.window == 2
    for _ in range(100):
        pace.widen()
    assert pace.window == 8


def test_threads_share_one_gateway_and_every_attempt_is_in_the_ledger(bench: Bench) -> None:
    """Concurrent players lose no row: the ledger's rows are exactly the server's requests."""
    with ModelServer(lambda ask: ask.messages[0]["content"]) as server:
        server.inject([Fault.status(429, retry_after=0)] * 5)
        gateway = bench.gateway(server.base_url, Limits(attempts=8, backoff_seconds=0.005))

        def say(number: int) -> str:
            return gateway.chat([Message("user", f"say {number}")], purpose="play").text

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(say, range(40))) == [f"say {number}" for number in range(40)]
        statuses = [entry.status for entry in bench.ledger.entries()]
        assert (statuses.count("settled"), statuses.count("failed")) == (40, 5)
        assert server.requests == 45
