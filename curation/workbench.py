"""Workbench: everything that a stage may read, handed to it by the composition root."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environments.seeding import salt
from gateway.client import Gateway


@dataclass(frozen=True)
class Workbench:
    """One clone with its settings.

    ``root`` holds ``data/arrivals`` (read) and ``data/build`` (written). ``params`` is params.yaml,
    parsed. ``key`` is the release key. ``models`` has a gateway for ``extract`` and one for ``review``,
    or none where no model is configured; in replay they only read the call store.
    """

    root: Path
    params: Mapping[str, Any]
    key: bytes
    models: Mapping[str, Gateway] = field(default_factory=dict)

    @property
    def arrivals(self) -> Path:
        """The folder of what touched the world."""
        return self.root / "data" / "arrivals"

    def private(self, name: str) -> Path:
        """Return the path of one private output."""
        return self.root / "data" / "build" / "private" / name

    def salt(self, stage: str) -> str:
        """Return the salt of one stage's private outputs."""
        return salt(self.key, stage)
