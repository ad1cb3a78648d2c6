"""Arrivals: what touched the world, recorded whole and never changed.

harvest/<window>.json   one listing of one window, with the digests of its raw pages
content/<sha256>        bytes: raw listing pages, paper sources
contents.jsonl          which paper has which bytes, or why it has none
dates.jsonl             every reply of the date registry, raw
sources.jsonl           papers that came from a folder, with their metadata
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cards.canonical import JSON, canonical_json, sha256_hex
from cards.errors import InputError
from curation.rows import append_rows, read_rows, write_bytes


class Arrivals:
    """The append-only folder of one workspace (or a clone's copy of it)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> str:
        """Keep bytes under their SHA-256 and return it; equal bytes are kept once."""
        name = sha256_hex(data)
        path = self.folder / "content" / name
        if not path.exists():
            write_bytes(path, data)
        return name

    def get(self, name: str) -> bytes:
        """Return bytes by their SHA-256.

        Raises:
            InputError: when they are missing or are not what their name says.
        """
        try:
            data = (self.folder / "content" / name).read_bytes()
        except FileNotFoundError:
            raise InputError(
                f"the arrivals hold no content {name}.", "Restore the arrivals folder."
            ) from None
        if sha256_hex(data) != name:
            raise InputError(f"content {name} is damaged.", "Restore the arrivals folder.")
        return data

    def put_window(self, name: str, record: JSON) -> None:
        """Record a listing; a pending record of the same window gives way to it."""
        write_bytes(self.folder / "harvest" / f"{name}.json", canonical_json(record) + b"\n")

    def window(self, name: str) -> dict[str, Any] | None:
        """Return the record of one window, or None when it was never asked for."""
        path = self.folder / "harvest" / f"{name}.json"
        if not path.exists():
            return None
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record

    def windows(self) -> Iterator[dict[str, Any]]:
        """Yield all window records in the order of their names."""
        for path in sorted((self.folder / "harvest").glob("*.json")):
            yield json.loads(path.read_text(encoding="utf-8"))

    def append(self, log: str, *rows: JSON) -> None:
        """Append rows that belong together to ``contents``, ``dates`` or ``sources``."""
        append_rows(self.folder / f"{log}.jsonl", rows)

    def rows(self, log: str) -> list[dict[str, Any]]:
        """Return all rows of a log, oldest first; a log that does not exist is empty."""
        path = self.folder / f"{log}.jsonl"
        return read_rows(path, skip_torn=True) if path.exists() else []

    def left_out(self) -> frozenset[str]:
        """Return the keys of papers that this cut leaves unread, as the cut recorded them."""
        path = self.folder / "left_out.json"
        return frozenset(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else frozenset()
