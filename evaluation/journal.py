"""What a run writes while it plays: append-only logs, and one journal per slot.

A journal makes an episode survive ``kill -9``. Every bought reply is on disk before anyone acts on
it; a later run plays the slot again from the start through a fresh session, takes the replies from
the journal instead of buying them, and checks that the session answers as it did before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cards.canonical import canonical_json, digest
from cards.errors import RunError
from environments.task import JSON, Record, Reply


class Log:
    """An append-only file of JSON lines. A line counts once it is whole.

    A torn last line, left by a killed process, is closed off by a newline and never rewritten.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab+", buffering=0)
        if self._file.seek(0, os.SEEK_END) > 0:
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")

    def append(self, row: JSON, *, durable: bool = True) -> None:
        """Write one line; ``durable`` waits until it is on disk."""
        self._file.write(canonical_json(row) + b"\n")
        if durable:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a log, skipping torn ones; an absent file is an empty log."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_bytes().split(b"\n"):
        row = _parse(line)
        if row is not None:
            rows.append(row)
    return rows


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


class Journal:
    """The memory of one slot.

    Args:
        path: the slot's file; its earlier entries are replayed in order, new ones appended.

    Attributes:
        bought: replies bought by this process.
        recalled: replies taken from the file.
    """

    def __init__(self, path: Path) -> None:
        entries = read_log(path)
        self._log = Log(path)
        self._ticket = next((row["ticket"] for row in entries if row["kind"] == "seat"), None)
        self._replies = [row for row in entries if row["kind"] == "reply"]
        self._results = [row for row in entries if row["kind"] == "result"]
        self._record = next((row["record"] for row in entries if row["kind"] == "record"), None)
        self._answered = 0
        self.bought = 0
        self.recalled = 0

    @property
    def ticket(self) -> JSON:
        """The seat's ticket from an earlier run, or None."""
        return self._ticket

    def keep_ticket(self, ticket: JSON) -> None:
        """Remember how to come back to the seat."""
        if ticket is not None and ticket != self._ticket:
            self._log.append({"kind": "seat", "ticket": ticket})
            self._ticket = ticket

    def ask(self, request: JSON, buy: Callable[[], JSON]) -> JSON:
        """Return the reply to ``request``: the journalled one, or else ``buy()``, written down first.

        Args:
            request: what identifies the question, as plain JSON; only its digest is stored.
            buy: asks the model and returns its reply as plain JSON (text, usage …).

        Raises:
            RunError: when the journal holds the reply to another question at this point.
        """
        asked = digest(request)
        if self.recalled < len(self._replies):
            entry = self._replies[self.recalled]
            if entry["request"] != asked:
                raise _diverged(f"question {self.recalled + 1} of the episode is not the one journalled")
            self.recalled += 1
            return entry["reply"]
        reply = buy()
        self._log.append({"kind": "reply", "request": asked, "reply": reply})
        self.bought += 1
        return reply

    def result(self, tool: str, reply: Reply) -> None:
        """Write down a session's answer, or check it against the one of the earlier run.

        Raises:
            RunError: when the session answers otherwise than before.
        """
        entry = {"kind": "result", "tool": tool, "reply": reply.model_dump()}
        if self._answered < len(self._results):
            if canonical_json(self._results[self._answered]) != canonical_json(entry):
                raise _diverged(f"the answer to action {self._answered + 1} differs from the journalled one")
        else:
            # Not made durable: a lost result is computed again from the replies, at no cost.
            self._log.append(entry, durable=False)
        self._answered += 1

    def keep_record(self, record: Record) -> None:
        """Write down the finished episode, from which it can be scored again at any time.

        Raises:
            RunError: when another record stands there already.
        """
        document = record.model_dump()
        if self._record is None:
            self._log.append({"kind": "record", "record": document})
        elif canonical_json(self._record) != canonical_json(document):
            raise _diverged("the record of the finished episode differs from the journalled one")

    def close(self) -> None:
        """Close the file."""
        self._log.close()


def read_record(path: Path) -> Record | None:
    """Return the record that a journal ends with, or None where the episode is not finished."""
    document = next((row["record"] for row in read_log(path) if row["kind"] == "record"), None)
    return None if document is None else Record.model_validate(document)


def _diverged(what: str) -> RunError:
    return RunError(
        f"the journal does not reproduce: {what}.",
        "The code, the prompts or the release changed under this run; start a new run.",
    )
