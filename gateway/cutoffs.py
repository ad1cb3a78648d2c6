"""When a model's knowledge ends, as far as its maker says. What is not listed is unknown, never early."""

from __future__ import annotations

import json
from pathlib import Path

_TABLE = Path(__file__).with_name("cutoffs.json")


def cutoff_for(provider: str, model: str) -> str | None:
    """Return the cutoff of ``provider/model`` as a date text (``2024-06``), or None when it is not known."""
    found: str | None = json.loads(_TABLE.read_text(encoding="utf-8"))["models"].get(f"{provider}/{model}")
    return found
