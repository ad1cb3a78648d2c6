"""A prompt: a versioned text file whose id, version and digest travel with every reply."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from cards.errors import InputError


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. ``id`` is the name of its file; a changed text needs a new ``version``."""

    id: str
    version: int
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of id, version and text as hexadecimal digits."""
        return hashlib.sha256(f"{self.id}\n{self.version}\n{self.text}".encode()).hexdigest()

    @classmethod
    def read(cls, path: Path) -> Prompt:
        """Read a prompt file: a first line "version: N", an empty line, the text.

        Raises:
            InputError: when the file has no such first line.
        """
        head, _, text = path.read_text(encoding="utf-8").partition("\n\n")
        label, _, number = head.partition(":")
        if label.strip() != "version" or not number.strip().isdigit():
            raise InputError(
                f"the prompt file {path.name} begins with {head[:40]!r}.",
                "Let its first line be 'version: N', followed by an empty line.",
            )
        return cls(id=path.stem, version=int(number), text=text.strip() + "\n")
