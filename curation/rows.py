"""Rows on disk: JSON Lines, canonical, replaced as a whole, with a salt line where a file is private."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cards.canonical import JSON, jsonl
from cards.errors import InputError

SALT_FIELD = "salt"


def write_rows(path: Path, rows: Iterable[JSON], salt: str | None = None) -> None:
    """Write ``rows`` to ``path`` in one step: a reader sees the old file or the new one, never a part.

    ``salt`` (hexadecimal digits) becomes the first line, ``{"salt": …}``; every output that is not
    public has one, so that the digests of the file betray nothing about a small content.
    """
    head = [] if salt is None else [{SALT_FIELD: salt}]
    write_bytes(path, jsonl([*head, *rows]))


def read_rows(path: Path, *, skip_torn: bool = False) -> list[dict[str, Any]]:
    """Read the rows of ``path`` without its salt line.

    ``skip_torn`` passes over lines that are not JSON: in an append-only log a crash may cut one off.

    Raises:
        InputError: when the file is missing or a line is not a JSON object; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace" if skip_torn else "strict")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.", "Run the stage that writes it first.") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    rows = [_row(path, number, line) for number, line in lines if not (skip_torn and _torn(line))]
    return rows[1:] if rows and set(rows[0]) == {SALT_FIELD} else rows


def append_row(path: Path, row: JSON) -> None:
    """Append one row, durably; a line torn by a crash is closed off first."""
    append_rows(path, [row])


def append_rows(path: Path, rows: Iterable[JSON]) -> None:
    """Append rows that belong together with a single write and fsync, so that a kill leaves all or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = jsonl(rows)
    with path.open("a+b") as stream:
        if stream.tell() > 0:
            stream.seek(-1, os.SEEK_END)
            lines = lines if stream.read(1) == b"\n" else b"\n" + lines
        stream.write(lines)
        stream.flush()
        os.fsync(stream.fileno())


def write_bytes(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``: temporary file, fsync, rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _torn(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{path}, line {number} is not JSON.", "Write the file again.") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}, line {number} is not a JSON object.", "Write the file again.")
    return value
