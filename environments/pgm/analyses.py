"""What a pgm record shows beside its score: effort and the whole evidence ledger."""

from __future__ import annotations

from collections.abc import Mapping

from environments.pgm.definition import PgmDefinition
from environments.pgm.judge import effort
from environments.pgm.ledger import entry_document, ledger
from environments.task import JSON, Record


def analyses(definition: PgmDefinition, record: Record) -> Mapping[str, JSON]:
    """Return named values of one record.

    ``effort``: queries, failed queries, arms, rows, giving up. ``ledger``: for each turn the three
    booleans and their conjunction. What the diagnostics need of it stands in the score's parts.
    """
    entries = [entry_document(entry) for entry in ledger(definition, record)]
    return {"effort": effort(record), "ledger": entries}
