"""The stages, one function each, named like its command and its entry in dvc.yaml.

Each reads and writes files of one clone only, and the same files in give the same files out.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import Any

from cards.canonical import canonical_json
from cards.card import Card
from cards.finding import Finding
from cards.store import historical
from curation.build import build_tasks
from curation.cut_record import CUT_RECORD, CutRecord
from curation.gate import Gate, Provenance, make_manifest, run_gate
from curation.rows import read_rows, write_bytes, write_rows
from curation.seal import Contents, seal_tasks
from curation.workbench import Workbench
from environments.task import Task


def build(bench: Workbench) -> None:
    """Make tasks of all accepted cards, the Historical collection among them."""
    tasks = build_tasks(_cards(bench), bench.params, bench.key)
    write_rows(
        bench.private("tasks.jsonl"), (task.model_dump(mode="json") for task in tasks), bench.salt("build")
    )


def seal(bench: Workbench) -> None:
    """Split the tasks into the public and the sealed part."""
    contents = Contents(
        record=_record(bench),
        key=bench.key,
        tasks=_tasks(bench),
        cards=_cards(bench),
        sources=_sources(bench),
        rejected=read_rows(bench.private("rejects.jsonl")),
    )
    build_folder = bench.root / "data" / "build"
    for part in ("public", "sealed"):
        shutil.rmtree(build_folder / part, ignore_errors=True)
    for path, data in seal_tasks(contents).items():
        write_bytes(build_folder / path, data)


def gate(bench: Workbench, root_secret: bytes, history: Iterable[tuple[str, bytes]]) -> list[Finding]:
    """Check the sealed release, write ``gate.json`` and ``manifest.json``, and return the findings.

    Args:
        bench: the clone.
        root_secret: looked for in every public byte.
        history: (object, bytes) of everything that the clone's git knows.
    """
    gathered = Gate(
        build=bench.root / "data" / "build",
        record=_record(bench),
        params=bench.params,
        keys={"release key": bench.key, "root secret": root_secret},
        tasks=_tasks(bench),
        cards=_cards(bench),
        provenance=Provenance(),
        history=history,
    )
    make_manifest(gathered)
    findings = run_gate(gathered)
    report = {"passed": not findings, "findings": [finding.model_dump(mode="json") for finding in findings]}
    write_bytes(gathered.build / "gate.json", canonical_json(report) + b"\n")
    return findings


def _record(bench: Workbench) -> CutRecord:
    return CutRecord.read(bench.root / CUT_RECORD)


def _tasks(bench: Workbench) -> list[Task]:
    return [Task.model_validate(row) for row in read_rows(bench.private("tasks.jsonl"))]


def _cards(bench: Workbench) -> list[Card]:
    rows = read_rows(bench.private("cards.jsonl"))
    return historical() + [Card.model_validate(row["card"]) for row in rows]


def _sources(bench: Workbench) -> list[dict[str, Any]]:
    return []
