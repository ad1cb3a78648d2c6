"""The call store: every bought reply, whole, under the digest of the question that it answers.

An entry is written to a temporary file, flushed to disk and linked into place, so that a reader
sees all of it or nothing, whenever the writer is killed. The first entry under a key stays: a
second writer gets the first one's back. Only complete replies of a server are kept, never errors.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cards.errors import InputError
from gateway.completion import completion_problem

_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class StoredCall:
    """One bought reply as an arrival: what was asked, and the server's body letter by letter."""

    key: str
    provider: str
    model: str
    prompt: str
    version: int
    attempt: int
    mode: str
    messages: list[dict[str, str]]
    body: str

    def completion(self) -> dict[str, Any]:
        """Return the server's body as JSON."""
        value: dict[str, Any] = json.loads(self.body)
        return value


class CallStore:
    """A folder of replies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> StoredCall | None:
        """Return the entry, or None when the reply was never bought.

        Raises:
            InputError: when the entry's file is damaged.
        """
        path = self._path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            entry = StoredCall(**json.loads(data))
        except (ValueError, TypeError) as error:
            raise _damaged(path, str(error)) from error
        problem = "it has another key inside" if entry.key != key else completion_problem(entry.body)
        if problem is not None:
            raise _damaged(path, problem)
        return entry

    def put(self, entry: StoredCall) -> StoredCall:
        """Keep ``entry`` unless the key has one already; return the entry that the store holds."""
        path = self._path(entry.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(asdict(entry), sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.link(name, path)
        except FileExistsError:
            return self.get(entry.key) or entry
        finally:
            os.unlink(name)
        _sync_folder(path.parent)
        return entry

    def stored_keys(self) -> list[str]:
        """Return the keys of all stored replies, sorted."""
        return sorted(path.stem for path in self._folder.glob("??/*.json"))

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise InputError(
                f"{key[:80]!r} is not the key of a stored reply.", "A key is 64 hexadecimal digits."
            )
        return self._folder / key[:2] / f"{key}.json"


def _damaged(path: Path, problem: str) -> InputError:
    return InputError(
        f"the stored reply {path.name} is damaged: {problem}.", "Remove the file to buy it again."
    )


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
