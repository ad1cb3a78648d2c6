"""A finding: one named check that did not pass, or something worth knowing."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Finding(BaseModel):
    """The outcome of one named check, as data.

    ``check`` is the stable name of the check (snake_case), ``path`` leads to the place in the card,
    row or file, ``message`` says what was found, with values, and what to change.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: str
    severity: Literal["error", "warning", "info"] = "error"
    path: str = ""
    message: str


def errors(findings: list[Finding]) -> list[Finding]:
    """Return only the findings that forbid acceptance."""
    return [finding for finding in findings if finding.severity == "error"]
