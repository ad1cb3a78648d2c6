"""The cut's record: what one cut is, written once when it starts and read by every stage.

It lies in git beside the release (``data/arrivals/cut.json``), so that a rebuild in any clone knows its
clock, its tools and the arrivals that it may read.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from cards.canonical import canonical_json
from cards.errors import InputError
from curation.rows import write_bytes
from environments.manifest import Parent, Sha256, Version

CUT_RECORD = "data/arrivals/cut.json"


class CutRecord(BaseModel):
    """One cut.

    ``due`` is the cut's clock (ISO, UTC). ``first`` and ``last`` are the days whose papers were listed.
    ``commit`` is the hub's head at the start. ``arrivals`` is a keyed digest of the pinned arrivals, set
    when they are pinned.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Version
    due: str
    first: str | None = None
    last: str | None = None
    commit: str
    parent: Parent | None
    tools: dict[str, str]
    lock_digest: Sha256
    arrivals: Sha256 | None = None

    def write(self, path: Path) -> None:
        """Write the record as canonical JSON."""
        write_bytes(path, canonical_json(self.model_dump(mode="json")) + b"\n")

    @classmethod
    def read(cls, path: Path) -> CutRecord:
        """Read a record.

        Raises:
            InputError: when it is missing or is none.
        """
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            remedy = "Stages run inside a cut, or in a clone of the hub at a release's tag."
            raise InputError(f"{path} is not the record of a cut ({error}).", remedy) from error
