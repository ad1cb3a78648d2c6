"""Rows on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from cards.errors import InputError
from curation.rows import append_row, read_rows, write_rows


def test_private_rows_begin_with_their_salt_and_read_back_without_it(tmp_path: Path) -> None:
    """An output that is not public begins with a salt line, which no reader mistakes for a row."""
    path = tmp_path / "private" / "cards.jsonl"
    write_rows(path, [{"b": 1, "a": 2.5}], salt="ab")
    assert path.read_bytes() == b'{"salt":"ab"}\n{"a":2.5,"b":1}\n'
    assert read_rows(path) == [{"a": 2.5, "b": 1}]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """A stage that fails while writing loses nothing and leaves no temporary file behind."""
    path = tmp_path / "rows.jsonl"
    write_rows(path, [{"a": 1}])
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_rows(path, [{"a": float("nan")}])
    assert read_rows(path) == [{"a": 1}]
    assert [item.name for item in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    """An error about rows says which file and which line."""
    with pytest.raises(InputError, match=r"none\.jsonl does not exist"):
        read_rows(tmp_path / "none.jsonl")
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"a": 1}\n[2]\n')
    with pytest.raises(InputError, match="line 2"):
        read_rows(broken)


def test_an_append_after_a_torn_line_does_not_join_it(tmp_path: Path) -> None:
    """A line cut off by a crash costs that line only."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":')
    append_row(path, {"c": 3})
    assert path.read_bytes() == b'{"a":1}\n{"b":\n{"c":3}\n'
