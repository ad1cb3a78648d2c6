"""Four figures over many ledgers: evidence acquired, retained, ignored, and turns spent after it.

Source: arXiv 2610.14381, section 4.1 and figure 5; the formulas are ours and reproduce its columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Trajectory:
    """What the diagnostics need of one session.

    ``acquired``: it ever held strong evidence. ``extra``: turns between that and the answer.
    """

    acquired: bool
    correct: bool
    extra: int | None


@dataclass(frozen=True)
class Diagnostics:
    """The four diagnostics over sessions, and the accuracy; None where there is nothing to divide by."""

    accuracy: float | None
    acquisition: float | None
    retention: float | None
    ignored: float | None
    extra_turns: float | None


def trajectory(parts: Mapping[str, float], *, correct: bool) -> Trajectory:
    """Return a session's trajectory from the parts of its score."""
    extra = parts.get("extra_turns")
    return Trajectory(parts.get("acquired", 0.0) > 0, correct, None if extra is None else int(extra))


def diagnose(trajectories: Sequence[Trajectory]) -> Diagnostics:
    """Return acquisition, retention, ignored evidence and extra turns.

    Source: arXiv 2610.14381, section 4.1 and figure 5.
    """
    strong = [t for t in trajectories if t.acquired]
    wrong = [t for t in trajectories if not t.correct]
    extras = [float(t.extra) for t in strong if t.extra is not None]
    return Diagnostics(
        accuracy=_mean([t.correct for t in trajectories]),
        acquisition=_mean([t.acquired for t in trajectories]),
        retention=_mean([t.correct for t in strong]),
        ignored=_mean([t.acquired for t in wrong]),
        extra_turns=_mean(extras),
    )


def ignored_share(accuracy: float, acquisition: float, retention: float) -> float:
    """Return P(strong | wrong) from the other three: acquisition·(1 - retention)/(1 - accuracy).

    Source: arXiv 2610.14381, figure 5, whose columns agree with it.
    """
    return acquisition * (1 - retention) / (1 - accuracy)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
