"""A buyer killed at any moment: nothing that reached the store is bought again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.fakes.model_server import Ask, ModelServer
from tests.gateway.conftest import GOOD, Bench

QUESTIONS = 24
BUYER = """
import random, sys
from pathlib import Path
from gateway.calls import CallStore
from gateway.client import Endpoint, Gateway, system_clock
from gateway.ledger import Ledger
from tests.gateway.conftest import question
clock, folder = system_clock(), Path(sys.argv[1])
gateway = Gateway(
    Endpoint("fake", "m", sys.argv[2]), ledger=Ledger(folder / "ledger.jsonl", clock.now),
    calls=CallStore(folder / "calls"), clock=clock, rng=random.SystemRandom(),
)
for number in range(int(sys.argv[3])):
    gateway.structured(question(f"question {number}"))
gateway.close()
"""
ROOT = Path(__file__).parents[2]


def buyer(bench: Bench, base_url: str) -> subprocess.Popen[bytes]:
    """Start a process that buys all questions."""
    command = [sys.executable, "-c", BUYER, str(bench.folder), base_url, str(QUESTIONS)]
    return subprocess.Popen(command, cwd=ROOT)


def test_a_killed_buyer_never_buys_a_stored_reply_again(bench: Bench) -> None:
    """Ingestion 9: kill -9 at three moments, then a whole run: no stored call is bought twice.

    The one reply that was under way at a kill may be bought again: at most one a kill, and the ledger
    shows it as possibly billed.
    """
    rng = random.Random(20261130)

    def slow(ask: Ask) -> str:
        time.sleep(0.02)
        return GOOD

    with ModelServer(slow) as server:
        for kill in range(3):
            started = len(bench.calls.stored_keys())
            child = buyer(bench, server.base_url)
            while len(bench.calls.stored_keys()) <= started and child.poll() is None:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.06))
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            stored = {_question_of(bench, key) for key in bench.calls.stored_keys()}
            asked_before = len(server.asks)
            assert kill < len(stored) < QUESTIONS
            again = {ask.messages[-1]["content"] for ask in server.asks[asked_before:]}
            assert not again & stored
        kept = {_question_of(bench, key) for key in bench.calls.stored_keys()}
        before = len(server.asks)
        assert buyer(bench, server.base_url).wait() == 0
        rest = [ask.messages[-1]["content"] for ask in server.asks[before:]]
        assert sorted(rest) == sorted({f"question {number}" for number in range(QUESTIONS)} - kept)
        assert len(bench.calls.stored_keys()) == QUESTIONS
        assert len(server.purchases) <= QUESTIONS + 3
        unsettled = [entry for entry in bench.ledger.entries() if entry.status == "open"]
        assert all(entry.possibly_billed for entry in unsettled)
        assert len(unsettled) <= 3


def _question_of(bench: Bench, key: str) -> str:
    entry = bench.calls.get(key)
    assert entry is not None
    return entry.messages[-1]["content"]
