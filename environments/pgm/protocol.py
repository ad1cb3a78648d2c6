"""The budgets: four turns, five thousand rows, and the sweep's own for calibration.

Source: arXiv 2610.14381, section 4 (interaction budget) and appendix G (SAMP5K).
"""

from __future__ import annotations

from collections.abc import Mapping

from cards.errors import InputError

FOUR_TURN, SAMP5K, SWEEP = "four_turn", "samp5k", "sweep"
PROTOCOLS = (FOUR_TURN, SAMP5K)
"""What a task is played under; ``sweep`` is open to scripted players only, to calibrate a set."""

METERS: Mapping[str, Mapping[str, int]] = {
    FOUR_TURN: {"turns": 4, "queries": 10},
    SAMP5K: {"turns": 30, "rows": 5000},
    SWEEP: {"turns": 400},
}


def meters(protocol: str) -> dict[str, int]:
    """Return a protocol's meters.

    Raises:
        InputError: when there is no such protocol.
    """
    if protocol not in METERS:
        raise InputError(
            f"there is no protocol {protocol[:40]!r}.", f"The protocols are: {', '.join(METERS)}."
        )
    return dict(METERS[protocol])
