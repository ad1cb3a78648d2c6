"""What tokens cost. A model without a known price costs None, never zero."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

_TABLE = Path(__file__).with_name("prices.json")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens that go in and come out."""

    usd_in: float
    usd_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the price of one reply in USD, exact to a billionth."""
        return round((tokens_in * self.usd_in + tokens_out * self.usd_out) / 1_000_000, 9)


def price_for(provider: str, model: str) -> Price | None:
    """Return the listed price of ``provider/model``, or None when it is not known."""
    row = json.loads(_TABLE.read_text(encoding="utf-8"))["models"].get(f"{provider}/{model}")
    return None if row is None else Price(usd_in=row["usd_in"], usd_out=row["usd_out"])
