"""A release folder: reading it, and checking that it is what it claims to be.

Layout: ``manifest.json``, ``manifest.sig``, ``public/`` and, where access is granted, ``sealed/``.
Works on plain files alone: no git, no DVC, nothing beyond the base install.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cards.canonical import JSON, canonical_json, sha256_hex
from cards.card import Card
from cards.errors import InputError, ReleaseError
from environments.manifest import VERSION_PATTERN, Manifest
from environments.task import Task, TaskRow

MANIFEST = "manifest.json"
SIGNATURE = "manifest.sig"
MAX_MANIFEST_BYTES = 8_000_000


def check_version(text: str) -> str:
    """Return ``text`` when it is a release's version.

    Raises:
        InputError: when it is anything else, a path for instance.
    """
    if not re.fullmatch(VERSION_PATTERN, text):
        raise InputError(f"{text!r} is not a release version.", "Write YYYY.M.PATCH, for example 2026.11.0.")
    return text


def version_order(version: str) -> tuple[int, ...]:
    """Return the key by which versions sort."""
    return tuple(int(part) for part in version.split("."))


def commitment(nonce: str, answer: JSON) -> str:
    """Return sha256(nonce ‖ canonical answer), which binds an answer before it is revealed.

    Args:
        nonce: 32 bytes as hexadecimal digits.
        answer: the task's answer as plain JSON.
    """
    return sha256_hex(bytes.fromhex(nonce) + canonical_json(answer))


class Release:
    """An opened release.

    Args:
        folder: where it lies.
        manifest: its manifest.
        manifest_sha256: digest of the manifest's bytes; what a pin names.
    """

    def __init__(self, folder: Path, manifest: Manifest, manifest_sha256: str) -> None:
        self.folder = folder
        self.manifest = manifest
        self.manifest_sha256 = manifest_sha256

    @classmethod
    def open(cls, folder: Path) -> Release:
        """Open the release that lies in ``folder``.

        Raises:
            ReleaseError: when there is no readable manifest.
        """
        manifest, digest = read_manifest(folder / MANIFEST)
        return cls(folder, manifest, digest)

    @property
    def version(self) -> str:
        """The release's version."""
        return self.manifest.version

    @property
    def has_sealed(self) -> bool:
        """Whether the sealed part is at hand."""
        return (self.folder / "sealed").is_dir()

    def rows(self) -> list[TaskRow]:
        """Return the public rows of all tasks, ordered by id."""
        return list(self._rows.values())

    def tasks(self) -> Iterator[Task]:
        """Yield every task with its sealed parts, ordered by id."""
        return (self.task(identity) for identity in self._rows)

    def task(self, identity: str) -> Task:
        """Return one task with its sealed parts.

        Raises:
            InputError: when the release has no such task.
            ReleaseError: when the sealed part is not at hand or does not hold the task.
        """
        row = self._rows.get(identity)
        if row is None:
            raise InputError(f"release {self.version} has no task {identity[:32]!r}.")
        sealed = self._sealed
        try:
            held = sealed["definitions"][identity]
            definition = dict(held["definition"])
            if held["eval_inputs"] is not None:
                definition["eval_inputs"] = sealed["eval_inputs"][held["eval_inputs"]]["inputs"]
            return Task(
                row=row,
                brief=sealed["briefs"][identity]["brief"],
                definition=definition,
                answer=sealed["answers"][identity]["answer"],
                seed=held["seed"],
                cluster=held["cluster"],
                facets=held["facets"],
                link=sealed["links"][identity]["link"],
            )
        except (KeyError, TypeError, ValidationError) as error:
            message = (
                f"the sealed part of release {self.version} does not hold task {identity} whole ({error})."
            )
            raise ReleaseError(message, "Unpack the release again and run `almanac verify`.") from error

    def links(self) -> dict[str, dict[str, Any]]:
        """Return what every task was made from, by task id, from the sealed part.

        Raises:
            ReleaseError: when it is not at hand.
        """
        rows = read_part(self.folder / "sealed" / "links.jsonl")
        return {row["id"]: row["link"] for row in rows}

    def cards(self) -> list[Card]:
        """Return the cards that the release was built from, from its sealed part.

        Raises:
            ReleaseError: when they are not at hand or a row is no card.
        """
        try:
            rows = read_part(self.folder / "sealed" / "cards.jsonl")
            return [Card.model_validate(row["card"]) for row in rows]
        except (KeyError, ValidationError) as error:
            raise ReleaseError(
                f"sealed/cards.jsonl of release {self.version} holds a row that is no card."
            ) from error

    @cached_property
    def _rows(self) -> dict[str, TaskRow]:
        try:
            rows = [TaskRow.model_validate(row) for row in read_part(self.folder / "public" / "tasks.jsonl")]
        except ValidationError as error:
            raise ReleaseError(
                f"public/tasks.jsonl of release {self.version} holds a row that is no task."
            ) from error
        return {row.id: row for row in sorted(rows, key=lambda row: row.id)}

    @cached_property
    def _sealed(self) -> dict[str, dict[str, dict[str, Any]]]:
        if not self.has_sealed:
            message = f"the sealed part of release {self.version} is not here ({self.folder})."
            raise ReleaseError(
                message, "Work where the sealed remote is readable, or play through the doors."
            )
        keys = {"definitions": "id", "eval_inputs": "digest", "briefs": "id", "answers": "id", "links": "id"}
        return {
            name: {row[key]: row for row in read_part(self.folder / "sealed" / f"{name}.jsonl")}
            for name, key in keys.items()
        }


def read_manifest(path: Path) -> tuple[Manifest, str]:
    """Return a manifest and the SHA-256 of its bytes.

    Raises:
        ReleaseError: when the file is missing, too long or not a manifest.
    """
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ReleaseError(f"{path} is longer than {MAX_MANIFEST_BYTES} bytes; it is no manifest.")
        data = path.read_bytes()
    except OSError as error:
        remedy = "Give the folder of a release; `almanac get` fetches one."
        raise ReleaseError(f"{path} cannot be read ({error.strerror}).", remedy) from error
    return parse_manifest(data, str(path)), sha256_hex(data)


def parse_manifest(data: bytes, place: str = MANIFEST) -> Manifest:
    """Return the manifest that ``data`` holds.

    Raises:
        ReleaseError: when it is not one; ``place`` names it in the message.
    """
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        first = str(error).splitlines()[0]
        raise ReleaseError(f"{place} is not a manifest ({first}).", "Fetch the release again.") from error


def read_part(path: Path) -> list[dict[str, Any]]:
    """Return the rows of one file of a release, without its salt line.

    Raises:
        ReleaseError: when it is missing or a line is not a JSON object.
    """
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line]
    except (OSError, ValueError, RecursionError) as error:
        raise ReleaseError(f"{path} cannot be read ({error}).", "Fetch the release again.") from error
    if not all(isinstance(row, dict) for row in rows):
        raise ReleaseError(f"{path} holds a line that is not an object.", "Fetch the release again.")
    return rows[1:] if rows and set(rows[0]) == {"salt"} else rows
