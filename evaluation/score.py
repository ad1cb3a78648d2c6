"""Rows from records: how a finished episode becomes a line, now or at any later time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from cards.errors import RunError
from environments.task import Ending, Record
from evaluation.episode import EpisodeRow, Slot, Usage, Verdict
from evaluation.journal import read_log, read_record

Judge = Callable[[Slot, Record], Verdict]


def scored_row(slot: Slot, player: str, record: Record, verdict: Verdict, usage: Usage) -> EpisodeRow:
    """Return the row of a finished episode."""
    score = verdict.score
    return EpisodeRow(
        slot=slot.key,
        task=slot.task,
        family=slot.family,
        setting=slot.setting,
        protocol=slot.protocol,
        repetition=slot.repetition,
        player=player,
        status=score.status,
        ending=record.ending,
        protocol_ok=score.protocol_ok,
        headline=score.headline,
        passed=score.passed,
        parts=score.parts,
        findings=score.findings,
        cluster=verdict.cluster,
        facets=verdict.facets,
        usage=usage,
        events=len(record.events),
    )


def error_row(slot: Slot, player: str, ending: Ending, finding: str, usage: Usage) -> EpisodeRow:
    """Return the row of an episode that did not come to its end and is owed again."""
    return EpisodeRow(
        slot=slot.key,
        task=slot.task,
        family=slot.family,
        setting=slot.setting,
        protocol=slot.protocol,
        repetition=slot.repetition,
        player=player,
        status="error",
        ending=ending,
        findings=(finding,),
        usage=usage,
    )


def read_rows(run: Path) -> list[EpisodeRow]:
    """Return a run's rows, the last one of each slot, in the order of the slots' first rows.

    A line that is no row does not count; its slot is owed.
    """
    latest: dict[str, EpisodeRow] = {}
    for document in read_log(run / "episodes.jsonl"):
        with suppress(ValidationError):
            row = EpisodeRow.model_validate(document)
            latest[row.slot] = row
    return list(latest.values())


def read_slots(run: Path) -> list[Slot]:
    """Return a run's planned slots.

    Raises:
        RunError: when the plan holds a line that is no slot.
    """
    try:
        return [Slot.model_validate(document) for document in read_log(run / "plan.jsonl")]
    except ValidationError as error:
        raise RunError(f"the plan of {run.name} cannot be read ({error.error_count()} faults).") from error


def journal_path(run: Path, slot: Slot) -> Path:
    """Return where a slot's journal stands."""
    return run / "journal" / f"{slot.key[:32]}.jsonl"


def rescore(run: Path, judge: Judge) -> list[tuple[EpisodeRow, EpisodeRow]]:
    """Score every settled row of a run again, from the stored records alone.

    Returns:
        pairs (stored row, row scored now), which must be equal.
    """
    slots = {slot.key: slot for slot in read_slots(run)}
    pairs = []
    for row in read_rows(run):
        slot = slots.get(row.slot)
        record = read_record(journal_path(run, slot)) if slot is not None and row.settled else None
        if slot is not None and record is not None:
            pairs.append((row, scored_row(slot, row.player, record, judge(slot, record), row.usage)))
    return pairs
