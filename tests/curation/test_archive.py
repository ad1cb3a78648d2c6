"""Archives: what is dangerous is passed over with a finding, and nothing is written."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from curation.archive import MAX_FILE_BYTES, unpack


def tar(*members: tuple[str, bytes], kind: bytes = tarfile.REGTYPE, compress: bool = True) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in members:
            entry = tarfile.TarInfo(name)
            entry.type = kind
            entry.size = len(data) if kind == tarfile.REGTYPE else 0
            entry.linkname = "/etc/passwd" if kind != tarfile.REGTYPE else ""
            archive.addfile(entry, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    return gzip.compress(stream.getvalue(), mtime=0) if compress else stream.getvalue()


def checks(data: bytes, name: str = "x") -> list[str]:
    return [finding.check for finding in unpack(data, name).findings]


def test_a_source_archive_gives_its_text_files() -> None:
    """TeX and text are taken, figures are not."""
    unpacked = unpack(tar(("main.tex", b"a"), ("fig/a.png", b"b"), ("sections/two.tex", b"c")), "x")
    assert unpacked.files == {"main.tex": b"a", "sections/two.tex": b"c"}
    assert unpacked.findings == []


def test_single_files_come_gzipped_or_plain() -> None:
    """arXiv keeps a single TeX file gzipped without an archive."""
    assert unpack(gzip.compress(b"\\documentclass{x}"), "2606.1v1").files == {
        "2606.1v1": b"\\documentclass{x}"
    }
    assert unpack(b"plain words", "a.txt").files == {"a.txt": b"plain words"}


@pytest.mark.parametrize("name", ["/etc/cron.d/x.tex", "../../x.tex", "a/../../x.tex", "a\\..\\x.tex"])
def test_paths_that_leave_the_archive_are_not_taken(name: str) -> None:
    """Absolute and climbing paths are findings; the good file beside them is read."""
    unpacked = unpack(tar(("good.tex", b"a"), (name, b"b")), "x")
    assert list(unpacked.files) == ["good.tex"]
    assert [finding.check for finding in unpacked.findings] == ["unsafe_archive"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_not_taken(kind: bytes) -> None:
    """A link could lead anywhere."""
    assert "unsafe_archive" in checks(tar(("a.tex", b""), kind=kind))


def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    """A gigabyte of zeros in a megabyte of gzip is refused, as is one large member."""
    bomb = gzip.compress(bytes(200_000_000), compresslevel=9, mtime=0)
    assert len(bomb) < 300_000
    assert checks(bomb) == ["too_large"]
    assert "too_large" in checks(tar(("a.tex", bytes(MAX_FILE_BYTES + 1))))
    assert list(tmp_path.iterdir()) == []


def test_broken_archives_are_findings() -> None:
    """Half an archive, a flipped byte and a lying header are findings, not failures."""
    whole = tar(("a.tex", b"x" * 4000))
    assert checks(whole[: len(whole) // 2]) == ["broken_archive"]
    assert checks(whole[:20] + b"\xff\xff" + whole[22:]) == ["broken_archive"]
    raw = bytearray(tar(("a.tex", b"x" * 4000), compress=False))
    raw[124:136] = b"77777777777\0"
    assert checks(bytes(raw)) != []


def test_pdf_and_withdrawn_sources_say_so() -> None:
    """What cannot be read as text has its own reason."""
    assert checks(b"%PDF-1.7 ...") == ["pdf_only"]
    assert checks(b"%auto-ignore\nwithdrawn") == ["withdrawn"]
    assert checks(b"") == ["withdrawn"]
    assert checks(tar(("fig.png", b"x"))) == ["no_text"]
