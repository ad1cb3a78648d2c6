"""Journals that are closed when a test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from evaluation.journal import Journal

OpenJournal = Callable[..., Journal]


@pytest.fixture
def open_journal(tmp_path: Path) -> Iterator[OpenJournal]:
    """Open the journal of a slot by name, in a new life each time."""
    with ExitStack() as stack:
        yield lambda name="slot": stack.enter_context(closing(Journal(tmp_path / f"{name}.jsonl")))
