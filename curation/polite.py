"""A polite way to ask a public service: one request at a time, paced, timed out, retried with care.

arXiv asks for at most one request per three seconds over one connection, by all programs of a user
together. The lock file makes all processes of one workspace one such user.
"""

from __future__ import annotations

import fcntl
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from cards.errors import SourceError

MAX_BODY_BYTES = 64_000_000
MAX_WAIT_SECONDS = 120.0
RETRIED = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Time:
    """The clock and the sleep that a polite client lives by."""

    now: Callable[[], float]
    sleep: Callable[[float], None]


class Pace:
    """At most one request per ``interval`` seconds, over all processes that share ``path``."""

    def __init__(self, path: Path, interval: float, time: Time) -> None:
        self.path = path
        self.interval = interval
        self.time = time

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn and hold it while one request is under way."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            stream.seek(0)
            waited = self._left(stream.read())
            if waited > 0:
                self.time.sleep(waited)
            try:
                yield
            finally:
                stream.truncate(0)
                stream.write(repr(self.time.now()))
                stream.flush()

    def _left(self, last: str) -> float:
        try:
            since = self.time.now() - float(last)
        except ValueError:
            return 0.0
        # A clock that was set back must not make us wait for hours.
        return min(self.interval, self.interval - since) if since >= 0 else self.interval


@dataclass(frozen=True)
class Fetched:
    """A whole answer; the names of the first two fields are what the arxiv package reads."""

    status_code: int
    content: bytes
    headers: Mapping[str, str]


Fault = Callable[[Fetched], str | None]
"""Says why an answer with status 200 is not one (None when it is)."""


class PoliteSession:
    """GET with pacing, ``Retry-After``, jittered back-off, and a cap on the body.

    Args:
        client: carries the user agent with a contact, and the time-outs.
        rng: for the jitter.
        attempts: requests for one address at most.
    """

    def __init__(self, client: httpx2.Client, pace: Pace, rng: random.Random, attempts: int = 4) -> None:
        self._client = client
        self._pace = pace
        self._rng = rng
        self._attempts = attempts
        self.requests = 0

    def get(self, url: str, fault: Fault = lambda _: None) -> Fetched:
        """Return the answer, of any status that asking again would not change.

        Raises:
            SourceError: when every attempt was cut, timed out, refused for load, or faulty.
        """
        trouble, waited = "", None
        for attempt in range(self._attempts):
            if attempt:
                self._pace.time.sleep(self._back_off(attempt, waited))
            answer, trouble, waited = self._once(url, fault)
            if answer is not None:
                return answer
        raise SourceError(
            f"{url} gave no usable answer in {self._attempts} attempts ({trouble}).", "Try again later."
        )

    def _once(self, url: str, fault: Fault) -> tuple[Fetched | None, str, float | None]:
        try:
            with self._pace.turn():
                self.requests += 1
                answer = self._read(url)
        except httpx2.HTTPError as error:
            return None, f"{type(error).__name__}: {error}", None
        self._heed_rate(answer.headers)
        if answer.status_code in RETRIED:
            return None, f"status {answer.status_code}", _seconds(answer.headers.get("retry-after"))
        wrong = fault(answer) if answer.status_code == 200 else None
        return (answer, "", None) if wrong is None else (None, wrong, None)

    def _read(self, url: str) -> Fetched:
        with self._client.stream("GET", url, follow_redirects=True) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise SourceError(
                        f"{url} answers with more than {MAX_BODY_BYTES} bytes.", "It is not read."
                    )
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Fetched(response.status_code, bytes(body), headers)

    def _back_off(self, attempt: int, asked: float | None) -> float:
        own = max(self._pace.interval, 0.01) * 2.0**attempt * (1.0 + self._rng.random())
        return min(MAX_WAIT_SECONDS, max(own, asked or 0.0))

    def _heed_rate(self, headers: Mapping[str, str]) -> None:
        limit, interval = headers.get("x-rate-limit-limit"), headers.get("x-rate-limit-interval", "1s")
        seconds = _seconds(interval.rstrip("s"))
        if limit and limit.isdigit() and int(limit) > 0 and seconds:
            self._pace.interval = max(self._pace.interval, seconds / int(limit))


def _seconds(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 86_400 else None
