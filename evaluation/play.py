"""Play one episode: a hand against a seat, with a journal between them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from environments.task import Record, Reply
from evaluation.episode import Hand, Seat
from evaluation.journal import Journal


def play(hand: Hand, seat: Seat, journal: Journal, stop: Callable[[], bool] = lambda: False) -> Record:
    """Let ``hand`` act until the session closes, it stops by itself, or ``stop()`` is true.

    Action n carries the idempotency key ``a<n>``, so that a seat which saw it in an earlier life of
    this episode answers as it did then. An episode broken off by ``stop`` ends as ``interrupted``.

    Raises:
        RunError: when the seat answers otherwise than the journal says.
        GatewayError, CapError: from the hand.
    """
    hand.start(seat.brief, seat.tools)
    last: Reply | None = None
    for number in itertools.count():
        if stop():
            return seat.record("interrupted")
        action = hand.act(last)
        if action is None:
            break
        tool, args = action
        last = seat.call(tool, args, f"a{number}")
        journal.result(tool, last)
        if last.done:
            break
    record = seat.record(hand.ending)
    journal.keep_record(record)
    return record
