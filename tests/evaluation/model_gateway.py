"""A real gateway to a model server on loopback, with limits that a test can wait for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.client import Endpoint, Gateway, Limits, system_clock
from gateway.ledger import Ledger

FAST = Limits(attempts=4, call_seconds=1, total_seconds=30, backoff_seconds=0.005, backoff_cap=0.01)


@contextmanager
def gateway_at(base_url: str, folder: Path, limits: Limits = FAST, model: str = "m") -> Iterator[Gateway]:
    """A gateway whose ledger stands in ``folder``."""
    clock = system_clock()
    made = Gateway(
        Endpoint("fake", model, base_url),
        ledger=Ledger(folder / "ledger.jsonl", clock.now),
        calls=None,
        clock=clock,
        rng=random.Random(len(base_url)),
        limits=limits,
    )
    try:
        yield made
    finally:
        made.close()
