"""What a run of a model may cost, before anything is bought: a range, from how long its conversations get.

The lower end is the shortest whole conversation with short replies; the upper end uses the experiments that
the budget allows, with long replies. A model that thinks at length, or goes on to the cap of its turns, costs
more: only ``--max-cost`` is a promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from environments.task import TaskRow
from evaluation.episode import Slot
from gateway.prices import Price

SHORT_REPLY, LONG_REPLY = 150, 800
"""Tokens of one reply."""


@dataclass(frozen=True)
class Course:
    """The conversations of one family under one protocol, in replies and tokens.

    Attributes:
        replies: how many, at least and at most.
        opening: tokens of prompt, brief and actions.
        answer: tokens of a session's answer to one reply, at least and at most.
    """

    replies: tuple[int, int]
    opening: int
    answer: tuple[int, int]

    def tokens(self, end: int) -> tuple[int, int]:
        """Return the tokens in and out of the shortest (0) or the longest (1) conversation."""
        count, reply = self.replies[end], (SHORT_REPLY, LONG_REPLY)[end]
        # Every question repeats all that was said before it.
        grown = (reply + self.answer[end]) * count * (count - 1) // 2
        return count * self.opening + grown, count * reply


@dataclass(frozen=True)
class Forecast:
    """The least and the most that a run is expected to need; ``usd`` is None without a known price."""

    calls: tuple[int, int]
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    usd: tuple[float, float] | None


def forecast(slots: Sequence[Slot], rows: Mapping[str, TaskRow], price: Price | None) -> Forecast:
    """Return what playing ``slots`` may need; ``rows`` are the release's, by task id."""
    courses = [course_of(slot, rows[slot.task].limits_under(slot.protocol)) for slot in slots]
    calls = [sum(course.replies[end] for course in courses) for end in (0, 1)]
    spent = [[course.tokens(end) for course in courses] for end in (0, 1)]
    tokens_in = [sum(one for one, _ in ends) for ends in spent]
    tokens_out = [sum(one for _, one in ends) for ends in spent]
    usd = None
    if price is not None:
        usd = (price.of(tokens_in[0], tokens_out[0]), price.of(tokens_in[1], tokens_out[1]))
    return Forecast((calls[0], calls[1]), (tokens_in[0], tokens_in[1]), (tokens_out[0], tokens_out[1]), usd)


def course_of(slot: Slot, limits: Mapping[str, float]) -> Course:
    """Return the course of one slot; the sizes were measured on releases with the shipped parameters."""
    if slot.family == "pgm":
        return Course((1, int(limits.get("turns", 30))), 2600, (400, 1600))
    if slot.family == "drone":
        return Course((2, int(limits.get("deployments", 10) + limits.get("queries", 20))), 2800, (2000, 5000))
    if slot.family == "organism":
        if slot.protocol == "item":
            return Course((1, 1), 900, (0, 0))
        return Course((3, int(limits.get("experiments", 31)) + 5), 3000, (40, 80))
    adaptive = slot.protocol == "adaptive"
    return Course((2, 24) if adaptive else (1, 2), 2600, (60, 150))
