"""Score a finished pgm session by program: the answer, the effort, and the evidence that was held.

Source: arXiv 2610.14381, section 4 (scoring, behavioural metrics) and 4.1 (evidence ledger).
"""

from __future__ import annotations

from environments.pgm.definition import PgmDefinition
from environments.pgm.ledger import ledger, strong_turn
from environments.pgm.mark import FAILED, mark
from environments.pgm.tools import ANSWER, GIVE_UP, QUERY
from environments.task import Event, Record, Score


def judge(definition: PgmDefinition, record: Record) -> Score:
    """Score a record; ``missing`` where there is no answer.

    The parts count queries, refusals, arms, rows and giving up, and say whether the session ever held
    strong evidence (``acquired``) and how many turns came between it and the answer (``extra_turns``).
    """
    parts = effort(record) | evidence(definition, record)
    answered = next((event for event in reversed(record.events) if _done(event, ANSWER)), None)
    if answered is None:
        return Score(status="missing", passed=FAILED, parts=parts)
    return mark(definition, answered.args["answer"], parts)


def effort(record: Record) -> dict[str, float]:
    """Return what a session used up: queries, failed queries, arms, rows, and whether it was given up."""
    asked = [event for event in record.events if event.tool == QUERY]
    arms = [arm for event in asked if event.outcome == "succeeded" for arm in event.reply.data["arms"]]
    return {
        "queries": float(sum(event.outcome == "succeeded" for event in asked)),
        "failed_queries": float(sum(event.outcome != "succeeded" for event in asked)),
        "arms": float(len(arms)),
        "rows": float(sum(arm["drawn"] for arm in arms)),
        "gave_up": float(any(_done(event, GIVE_UP) for event in record.events)),
    }


def evidence(definition: PgmDefinition, record: Record) -> dict[str, float]:
    """Return what the ledger says in a word: acquired or not, and the turns after the first strong one."""
    entries = ledger(definition, record)
    first = strong_turn(entries)
    if first is None:
        return {"acquired": 0.0}
    return {"acquired": 1.0, "extra_turns": float(max(0, len(entries) - 2 - first))}


def _done(event: Event, tool: str) -> bool:
    return event.tool == tool and event.outcome == "succeeded"
