"""What a pgm record shows beside its score: effort and the evidence ledger."""

from __future__ import annotations

from collections.abc import Mapping

from environments.pgm.definition import PgmDefinition
from environments.pgm.diagnostics import trajectory
from environments.pgm.judge import effort, judge
from environments.pgm.ledger import entry_document, ledger
from environments.task import JSON, Record


def analyses(definition: PgmDefinition, record: Record) -> Mapping[str, JSON]:
    """Return named values of one record.

    ``effort``: queries, failed queries, arms, rows, giving up. ``ledger``: three booleans and their
    conjunction for each turn. ``acquired``, ``correct``, ``extra_turns``: what the diagnostics over many
    records are made of.
    """
    correct = judge(definition, record).passed["weak"] is True
    path = trajectory(definition, record, correct=correct)
    return {
        "effort": effort(record),
        "ledger": [entry_document(entry) for entry in ledger(definition, record)],
        "acquired": path.acquired,
        "correct": path.correct,
        "extra_turns": path.extra,
    }
