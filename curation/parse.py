"""Parse: one child process per paper, with limits; what it cannot read is a finding, not a failure."""

from __future__ import annotations

import subprocess
import sys

from pydantic import ValidationError

from cards.finding import Finding
from curation.arrivals import Arrivals
from curation.document import Document
from curation.paper import Paper

WALL_SECONDS = 60.0


def parse_paper(paper: Paper, arrivals: Arrivals, wall_seconds: float = WALL_SECONDS) -> Document:
    """Return the document of one paper that has content.

    The child gets an empty environment: nothing of ours can leak into what a paper makes it do.
    """
    assert paper.content is not None, "only papers with content are parsed"
    command = [sys.executable, "-P", "-m", "curation.parse_child", paper.key, paper.content_name]
    try:
        done = subprocess.run(
            command,
            input=arrivals.get(paper.content),
            capture_output=True,
            timeout=wall_seconds,
            env={"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _failed(paper, "parse_limit", f"parsing took longer than {wall_seconds:g} s")
    if done.returncode < 0:
        return _failed(paper, "parse_limit", "parsing was stopped at its limit of time or memory")
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        check = "parse_limit" if "MemoryError" in last else "parse_failed"
        return _failed(paper, check, f"parsing ended with {last!r}")
    try:
        return Document.model_validate_json(done.stdout)
    except ValidationError:
        return _failed(paper, "parse_failed", "parsing gave no document")


def _failed(paper: Paper, check: str, message: str) -> Document:
    finding = Finding(check=check, severity="error", message=message)
    return Document(paper=paper.key, route="none", text="", findings=(finding,))
