"""What a page of analyses is made of: chapters of sections with pictures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.law_figures import Row


@dataclass
class Table:
    """A small table: its title, its head and its rows."""

    title: str
    head: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)


@dataclass
class Section:
    """One analysis: what it says, its pictures and its tables."""

    title: str
    note: str
    pictures: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


@dataclass(frozen=True)
class Chapter:
    """All analyses of one setting and collection: the numbers, and how they are shown."""

    setting: str
    collection: str
    figures: Mapping[str, list[Row]]
    sections: Sequence[Section]
    absent: Sequence[str] = ()
    """What the episodes do not allow, in words."""

    @property
    def name(self) -> str:
        """Setting and collection as a title."""
        return f"{self.setting} · {self.collection}"

    def document(self) -> dict[str, Any]:
        """Return the numbers as plain JSON."""
        return {"setting": self.setting, "collection": self.collection, **self.figures}
