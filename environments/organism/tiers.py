"""The three tiers: how densely, how steeply and how noisily an organism is wired.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (what tiers vary); every number is ours,
fitted to the published census.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cards.errors import InputError

TierName = Literal["easy", "medium", "hard"]

MODULE = 5
"""Genes of one module."""
SIGNALS = 3
PHENOTYPES = 3
GENES = 20


@dataclass(frozen=True, slots=True)
class Tier:
    """The generator's numbers; probabilities are those of one directed edge j → i."""

    name: TierName
    forward: float
    """Same module, j < i."""
    feedback: float
    """Same module, j > i."""
    adjacent: float
    """From the module before."""
    earlier: float
    """From a module further back."""
    later: float
    """From a module further on."""
    steepness: float
    noise: float
    latent: int
    """Genes that are never named, faulted or targeted."""


TIERS: dict[str, Tier] = {
    "easy": Tier("easy", 0.38 * 0.85, 0.085 * 0.3, 0.026 * 0.85, 0.025, 0.0, 3.1 * 0.85, 0.045 * 0.5, 0),
    "medium": Tier("medium", 0.38, 0.085, 0.026, 0.025, 0.030, 3.1, 0.045, 0),
    "hard": Tier(
        "hard",
        0.38 * 1.15,
        0.085 * 1.6,
        0.026 * 1.15,
        0.025 * 1.15,
        0.030 * 1.6,
        3.1 * 1.15,
        0.045 * 1.5,
        3,
    ),
}


def tier(name: str) -> Tier:
    """Return a tier by name.

    Raises:
        InputError: when there is no such tier.
    """
    if name not in TIERS:
        raise InputError(f"there is no tier {name[:40]!r}.", f"The tiers are: {', '.join(TIERS)}.")
    return TIERS[name]


def experiment_budget(visible: int) -> int:
    """Return the experiments of one session: floor((3·genes + signals)/2); 31 for 20 genes."""
    return (3 * visible + SIGNALS) // 2
