"""Canonical JSON and its digest: one byte string for one value, on every machine.

Keys sorted, no white space, UTF-8, floats by shortest round-trip ``repr`` of the Python float,
NaN and infinities refused. Every hash in a release is taken over these bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

JSON = Any  # a value made of dict, list, str, int, float, bool and None


def canonical_json(value: JSON) -> bytes:
    """Serialise ``value`` to its one canonical byte string, without a final newline.

    Raises:
        ValueError: for NaN or an infinity.
        TypeError: for anything that is not plain JSON (numpy scalars included).
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of ``data`` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: JSON) -> str:
    """Return the SHA-256 of ``value``'s canonical JSON as hexadecimal digits."""
    return sha256_hex(canonical_json(value))


def jsonl(rows: Iterable[JSON]) -> bytes:
    """Serialise rows to JSON Lines, each row canonical and ended by a newline."""
    return b"".join(canonical_json(row) + b"\n" for row in rows)
