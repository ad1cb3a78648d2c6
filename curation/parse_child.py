"""The child process that parses one paper: bytes on standard input, a Document as JSON on standard output.

It limits its own memory and time before it reads a byte. Run as ``python -P -m curation.parse_child``.
"""

from __future__ import annotations

import resource
import sys

from cards.finding import Finding
from curation.archive import unpack
from curation.document import Document
from curation.glossary import glossary
from curation.tex import MAX_TEXT, parse_tex

MEMORY_BYTES = 1_000_000_000
CPU_SECONDS = 30


def main() -> None:
    """Parse standard input; the arguments are the paper's key and the content's file name."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    document = parse_bytes(sys.argv[1], sys.argv[2], sys.stdin.buffer.read())
    sys.stdout.write(document.model_dump_json())


def parse_bytes(paper: str, name: str, data: bytes) -> Document:
    """Return the document that a source's bytes make; trouble stands in its findings."""
    unpacked = unpack(data, name)
    findings = tuple(unpacked.findings)
    files = {path: _decoded(content) for path, content in unpacked.files.items()}
    if not files:
        return Document(paper=paper, route="none", text="", findings=findings)
    marked = any("\\begin{document}" in text or "\\documentclass" in text for text in files.values())
    if marked or any(path.endswith((".tex", ".ltx")) for path in files):
        document = parse_tex(paper, files)
    else:
        document = _plain(paper, max(files.values(), key=len))
    return document.model_copy(update={"findings": findings + document.findings})


def _plain(paper: str, text: str) -> Document:
    printable = "".join(c for c in text[:MAX_TEXT] if c.isprintable() or c in "\n\t")
    if len(printable) < 0.9 * len(text[:MAX_TEXT]):
        trouble = Finding(check="no_text", message="the file is not text")
        return Document(paper=paper, route="none", text="", findings=(trouble,))
    return Document(paper=paper, route="text", text=printable, glossary=glossary(printable))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return content.decode("latin-1").replace("\r\n", "\n")


if __name__ == "__main__":
    main()
