"""Buy: the parts of a cut that touch the world, composed of settings, clients and curation's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from api.workspace import Workspace
from curation.cut_record import CutRecord


@dataclass(frozen=True)
class Buyer:
    """What one cut may buy; with ``offline`` nothing but the papers of a folder."""

    workspace: Workspace
    params: Mapping[str, Any]
    clock: Callable[[], datetime]
    offline: bool = False

    def collect(self, record: CutRecord, source: Path | None) -> None:
        """Collect listings, dates and sources into the arrivals."""

    def buy(self, stage: str, clone: Path, key: bytes) -> None:
        """Ask a model for every reply that ``stage`` needs and the call store lacks."""
