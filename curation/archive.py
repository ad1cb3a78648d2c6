"""Archives: the files of a paper's source, taken apart without trusting a byte of it.

Nothing is executed or written to disk. Links, devices, absolute paths and paths that climb are passed
over with a finding; what is too large is not unpacked.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cards.finding import Finding

MAX_UNPACKED_BYTES = 50_000_000
MAX_FILE_BYTES = 10_000_000
MAX_MEMBERS = 5_000
TEXT_SUFFIXES = (".tex", ".ltx", ".txt", ".md", "")


@dataclass
class Unpacked:
    """The readable files by name, in the archive's order, and what was wrong with the rest."""

    files: dict[str, bytes] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def refuse(self, check: str, message: str, *, path: str = "", fatal: bool = False) -> None:
        """Note something that was not taken; ``fatal`` when nothing else is worth taking either."""
        finding = Finding(check=check, path=path[:200], message=message)
        self.findings.append(finding if fatal else finding.model_copy(update={"severity": "warning"}))


def unpack(data: bytes, name: str) -> Unpacked:
    """Take apart a source: gzip or plain, tar or a single file."""
    unpacked = Unpacked()
    if data[:2] == b"\x1f\x8b":
        plain = _gunzip(data, unpacked)
        if plain is None:
            return unpacked
        data, name = plain, name.removesuffix(".gz").removesuffix(".tgz")
    if data[:5] == b"%PDF-":
        unpacked.refuse("pdf_only", "the source is a PDF; only TeX and text are read", fatal=True)
    elif not data.strip() or data.lstrip()[:12] == b"%auto-ignore":
        unpacked.refuse("withdrawn", "the source is empty, as that of a withdrawn paper is", fatal=True)
    elif data[257:262] == b"ustar" or name.endswith(".tar"):
        _untar(data, unpacked)
    elif len(data) > MAX_FILE_BYTES:
        unpacked.refuse(
            "too_large", f"the file has {len(data)} bytes; at most {MAX_FILE_BYTES} are read", fatal=True
        )
    else:
        unpacked.files[name] = data
    return unpacked


def _gunzip(data: bytes, unpacked: Unpacked) -> bytes | None:
    machine = zlib.decompressobj(wbits=31)
    try:
        plain = machine.decompress(data, MAX_UNPACKED_BYTES)
    except zlib.error as error:
        unpacked.refuse("broken_archive", f"the gzip stream is broken ({error})", fatal=True)
        return None
    if machine.unconsumed_tail:
        unpacked.refuse(
            "too_large", f"the source unpacks to more than {MAX_UNPACKED_BYTES} bytes", fatal=True
        )
        return None
    if not machine.eof:
        unpacked.refuse("broken_archive", "the gzip stream ends too early", fatal=True)
        return None
    return plain


def _untar(data: bytes, unpacked: Unpacked) -> None:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for number, member in enumerate(archive):
                if number >= MAX_MEMBERS:
                    unpacked.refuse("too_large", f"the archive has more than {MAX_MEMBERS} members")
                    break
                _take(archive, member, unpacked)
    except (tarfile.TarError, EOFError, ValueError, OverflowError, OSError) as error:
        unpacked.refuse("broken_archive", f"the archive is broken ({error})", fatal=not unpacked.files)
    if not unpacked.files and not any(finding.severity == "error" for finding in unpacked.findings):
        unpacked.refuse("no_text", "the archive holds no TeX or text file", fatal=True)


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, unpacked: Unpacked) -> None:
    path = PurePosixPath(member.name)
    total = member.size + sum(map(len, unpacked.files.values()))
    if member.isdir():
        return
    if not member.isreg():
        unpacked.refuse("unsafe_archive", "a link or a device is not unpacked", path=member.name)
    elif path.is_absolute() or ".." in path.parts or "\\" in member.name or "\0" in member.name:
        unpacked.refuse("unsafe_archive", "a path that leaves the archive is not unpacked", path=member.name)
    elif path.suffix.lower() not in TEXT_SUFFIXES:
        return
    elif member.size > MAX_FILE_BYTES or total > MAX_UNPACKED_BYTES:
        unpacked.refuse("too_large", f"a file of {member.size} bytes is not unpacked", path=member.name)
    else:
        stream = archive.extractfile(member)
        if stream is not None:
            unpacked.files[path.as_posix()] = stream.read()
