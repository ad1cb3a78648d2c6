"""Fetching trusts neither the remote nor the list of files that a tag leads to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from cards.errors import ReleaseError
from curation.fetch import fetch_part


def _put(remote: Path, data: bytes, suffix: str = "") -> str:
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest() + suffix
    path = remote / "files" / "md5" / md5[:2] / md5[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return md5


@pytest.mark.parametrize(
    "listing",
    [
        b"", b"5", b"{}x", b'{"a": 1}', b"[1]", b"[null]", b'[{"relpath": "a"}]', b'["relpath"]', b"\xff",
        b"[" * 100_000, b'[{"relpath": "../up", "md5": "@"}]', b'[{"relpath": "/etc/x", "md5": "@"}]',
        b'[{"relpath": "a/b", "md5": "@"}]', b'[{"relpath": "..", "md5": "@"}]',
        b'[{"relpath": "", "md5": "@"}]', b'[{"relpath": "a", "md5": "../../../etc/passwd"}]',
    ],
)  # fmt: skip
def test_a_list_of_files_that_is_none_is_refused(listing: bytes, tmp_path: Path) -> None:
    """Whatever a publisher signs for, a release holds plain names with digests or is refused."""
    remote, target = tmp_path / "remote", tmp_path / "deep" / "down" / "got"
    target.parent.mkdir(parents=True)
    digest = _put(remote, b"content")
    md5 = _put(remote, listing.replace(b"@", digest.encode()), ".dir")
    with pytest.raises(ReleaseError):
        fetch_part(f"outs:\n- md5: {md5}\n".encode(), str(remote), target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "remote"]
    assert not any(path.is_file() for path in (tmp_path / "deep").rglob("*"))


def test_a_plain_list_is_fetched(tmp_path: Path) -> None:
    """The counterpart: a sound list gives its files."""
    digest = _put(tmp_path, b"content")
    md5 = _put(tmp_path, f'[{{"relpath": "a.txt", "md5": "{digest}"}}]'.encode(), ".dir")
    assert fetch_part(f"outs:\n- md5: {md5}\n".encode(), str(tmp_path), tmp_path / "got") == ["a.txt"]
    assert (tmp_path / "got" / "a.txt").read_bytes() == b"content"
