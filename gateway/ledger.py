"""The ledger: every attempt to ask a model, written before it is made and settled after.

Two rows share an id: "open" before the request leaves, then "settled" (with tokens and money) or
"failed" (with a reason). An attempt that stayed open, because the process died, is possibly billed.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from gateway.reply import Usage

Status = Literal["open", "settled", "failed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One attempt, its rows joined. ``reason`` and ``possibly_billed`` speak of failed and open ones."""

    id: str
    purpose: str
    subject: str
    provider: str
    model: str
    mode: str
    attempt: int
    status: Status
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None
    reason: str | None = None
    http_status: int | None = None
    possibly_billed: bool = False


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a ledger. ``usd`` is None as soon as one settled attempt has no known price."""

    calls: int
    failed: int
    open: int
    tokens_in: int
    tokens_out: int
    usd: float | None


class Ledger:
    """An append-only file of JSON lines; an opened attempt is on disk before ``open`` returns.

    Args:
        path: the file; made with its folder when missing.
        now: the clock that dates the rows.
    """

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self._path = path
        self._now = now
        self._lock = threading.Lock()

    def open(self, id: str, **facts: str | int) -> None:
        """Write the row of an attempt that is about to be made."""
        self._append({"id": id, "status": "open", **facts}, durable=True)

    def settle(self, id: str, usage: Usage, seconds: float) -> None:
        """Write that the attempt brought a reply."""
        # Not waited for: the reply in hand is not kept by anyone yet, and a settling row that a power
        # failure takes leaves the attempt possibly billed, which errs on the safe side.
        row = {"id": id, "status": "settled", **usage.model_dump(), "seconds": round(seconds, 3)}
        self._append(row, durable=False)

    def fail(self, id: str, **facts: Any) -> None:
        """Write that the attempt brought none (``reason``, ``http_status``, ``possibly_billed``)."""
        self._append({"id": id, "status": "failed", **facts}, durable=True)

    def entries(self) -> list[Entry]:
        """Return all attempts in the order in which they were opened; torn lines are skipped."""
        joined: dict[str, dict[str, Any]] = {}
        for row in _rows(self._path):
            if row["status"] == "open":
                joined[row["id"]] = {**row, "possibly_billed": True}
            elif row["id"] in joined:
                joined[row["id"]] |= {"possibly_billed": False, **row}
        known = Entry.__dataclass_fields__
        return [Entry(**{name: row[name] for name in known if name in row}) for row in joined.values()]

    def totals(self) -> Totals:
        """Return the sums, recomputed from the rows."""
        entries = self.entries()
        settled = [entry for entry in entries if entry.status == "settled"]
        priced = [entry.usd for entry in settled if entry.usd is not None]
        return Totals(
            calls=len(settled),
            failed=sum(entry.status == "failed" for entry in entries),
            open=sum(entry.status == "open" for entry in entries),
            tokens_in=sum(entry.tokens_in or 0 for entry in settled),
            tokens_out=sum(entry.tokens_out or 0 for entry in settled),
            usd=sum(priced) if len(priced) == len(settled) else None,
        )

    def _append(self, row: dict[str, Any], *, durable: bool) -> None:
        dated = {**row, "at": self._now().isoformat(timespec="milliseconds")}
        line = json.dumps(dated, sort_keys=True).encode() + b"\n"
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab+", buffering=0) as file:
                file.write(line if _ends_whole(file) else b"\n" + line)
                if durable:
                    os.fsync(file.fileno())


def _ends_whole(file: Any) -> bool:
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    rows = []
    for line in path.read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and "id" in row and "status" in row:
            rows.append(row)
    return rows
