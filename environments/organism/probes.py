"""Probe items: one question, one reply, scored by the exact token.

Source: "Treating the Symptom, Missing the Cause", section 5 and appendix 8.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from environments.organism.arguments import Answer, read_arguments
from environments.organism.script import Brief, Moves, Script
from environments.organism.tools import ANSWER, answer_tool
from environments.task import JSON, ActionError, Record, Score, Step, Tool

ProbeName = Literal["probe-1", "probe-2", "probe-3a", "probe-3b", "probe-3c"]
PROBES: tuple[ProbeName, ...] = ("probe-1", "probe-2", "probe-3a", "probe-3b", "probe-3c")
SHORT_LIMIT, LONG_LIMIT = 512, 1024
"""Tokens that a reply may have, with one clue and with a whole log."""
TOKENS: Mapping[str, tuple[str, ...]] = {
    "probe-1": ("A", "B", "UNDETERMINED"),
    "probe-2": ("RETAIN", "REVISE", "UNINFORMATIVE"),
    "probe-3a": ("A", "B", "UNDETERMINED"),
    "probe-3b": ("A", "B", "UNDETERMINED"),
}
_FAULT = re.compile(r"\S+ (?:LOCK_HI|LOCK_LO|PERSIST)")


class ProbeDefinition(BaseModel):
    """Everything that one item needs: what is asked, and the one right reply."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["probe"] = "probe"
    probe: ProbeName
    item: str
    """What kind of item it is: revise, retain, decisive, filler, or the source of its log."""
    prompt: str
    token_limit: int = Field(ge=1)
    answer: str


class ProbeWorld:
    """One open item."""

    def __init__(self, definition: ProbeDefinition) -> None:
        self._definition = definition

    @property
    def brief(self) -> dict[str, JSON]:
        """The question."""
        return probe_brief(self._definition)

    @property
    def tools(self) -> Sequence[Tool]:
        """One reply."""
        return (answer_tool(),)

    @property
    def meters(self) -> Mapping[str, int]:
        """Nothing is limited."""
        return {}

    def step(self, tool: str, args: JSON) -> Step:
        """Take the reply; whatever it says, it stands."""
        answer = read_arguments(Answer, args)
        if isinstance(answer, ActionError):
            return Step(outcome="unreadable", error=answer)
        return Step(outcome="succeeded", data={"accepted": True}, ended="completed")


def probe_brief(definition: ProbeDefinition) -> dict[str, JSON]:
    """Return what a player is told of an item."""
    return {"prompt": definition.prompt, "token_limit": definition.token_limit}


def judge_probe(definition: ProbeDefinition, record: Record) -> Score:
    """Score a reply: right or wrong; ``invalid`` where it does not have the form that was asked for."""
    replies = [event for event in record.events if event.tool == ANSWER and event.outcome == "succeeded"]
    if not replies:
        return Score(status="missing", passed={"weak": False}, parts={"correct": 0.0})
    said = read_token(definition.probe, replies[-1].args["text"])
    if said is None:
        finding = "the reply is not one token of those asked for"
        if definition.probe in ("probe-3a", "probe-3b", "probe-3c"):
            finding = "the reply has no single ANSWER line of the form asked for"
        return Score(status="invalid", passed={"weak": False}, parts={"correct": 0.0}, findings=(finding,))
    right = said == definition.answer
    parts = {
        "correct": float(right),
        "withheld": float(said in ("UNDETERMINED", "UNINFORMATIVE")),
        "revised": float(said == "REVISE"),
    }
    return Score(status="scored", headline=float(right), passed={"weak": right}, parts=parts)


def read_token(probe: ProbeName, text: str) -> str | None:
    """Return the answer that a reply gives, or None where it is not of the form asked for."""
    said = text.strip()
    if probe in ("probe-1", "probe-2"):
        return said if said in TOKENS[probe] else None
    lines = [line.strip() for line in said.splitlines() if line.strip().startswith("ANSWER:")]
    if len(lines) != 1:
        return None
    token = lines[0].removeprefix("ANSWER:").strip()
    if probe == "probe-3c":
        return token if _FAULT.fullmatch(token) else None
    return token if token in TOKENS[probe] else None


def knowing(definition: ProbeDefinition) -> Script:
    """The player that has the key."""

    def moves(brief: Brief) -> Moves:
        bare = definition.probe in ("probe-1", "probe-2")
        yield ANSWER, {"text": definition.answer if bare else f"ANSWER: {definition.answer}"}

    return Script(moves)
