"""Pacing: how many requests may be under way at once, learnt from the server's refusals.

Additive increase, multiplicative decrease: each reply widens the window by a fraction of a request,
each "too many requests" halves it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Pace:
    """A window on concurrent requests to one (provider, key), shared by the threads of a process."""

    def __init__(self, most: int = 8) -> None:
        self._most = float(most)
        self._window = float(most)
        self._under_way = 0
        self._changed = threading.Condition()

    @property
    def window(self) -> float:
        """How many requests may be under way now."""
        return self._window

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until a request may leave; count it as under way inside the block."""
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < max(1, int(self._window)))
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def widen(self) -> None:
        """Note a reply."""
        with self._changed:
            self._window = min(self._most, self._window + 1 / self._window)
            self._changed.notify_all()

    def narrow(self) -> None:
        """Note a refusal for too many requests."""
        with self._changed:
            self._window = max(1.0, self._window / 2)
