"""The three protocols: their names, and the rules that a report must keep.

Source: arXiv 2610.37919, section 3.3 and appendix A.1.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

from cards.errors import InputError

BUDGETS = (1, 2, 4, 8, 16)
"""Preset budgets of the Fixed protocol."""
DEFAULT_BUDGET = 4
PROTOCOLS = ("prior", *(f"fixed:{budget}" for budget in BUDGETS), "adaptive")
CALL_CAP = 512
TAU = 0.9
CONFIDENCE_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Protocol:
    """A protocol and, for Fixed, its number of preset experiments."""

    kind: Literal["prior", "fixed", "adaptive"]
    budget: int = 0


def read_protocol(text: str) -> Protocol:
    """Read "prior", "fixed:B" or "adaptive".

    Raises:
        InputError: for anything else.
    """
    if text == "prior":
        return Protocol("prior")
    if text == "adaptive":
        return Protocol("adaptive")
    if text in PROTOCOLS:
        return Protocol("fixed", int(text.partition(":")[2]))
    raise InputError(f"there is no protocol {text[:40]!r}.", f"The protocols are: {', '.join(PROTOCOLS)}.")


def normal_statement(text: str) -> str:
    """Return a statement without differences of case, width, spacing and closing punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".!; ")
