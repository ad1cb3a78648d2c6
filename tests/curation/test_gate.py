"""The first gate: what it lets through, and each fault that it stops."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from cards.canonical import canonical_json
from cards.store import historical
from curation.build import build_tasks
from curation.gate import Gate, make_manifest, run_gate
from curation.provenance import Provenance
from curation.rows import write_bytes, write_rows
from curation.seal import Contents, seal_tasks
from environments.seeding import nonce, salt
from environments.task import Task
from tests.mini_release import record

KEY, ROOT = bytes(range(32)), bytes(range(100, 132))
PARAMS: dict[str, Any] = {
    "window": {"after": "2026-01-01", "guard_days": 30},
    "release": {"families": ["law"]},
    "law": {"tier": "medium"},
}
CARDS = historical()[:2]


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return build_tasks(CARDS, PARAMS, KEY)


def _gate(folder: Path, tasks: list[Task]) -> Gate:
    """Seal ``tasks`` in ``folder`` and return the gate before them, its manifest written."""
    for path, data in seal_tasks(Contents(record(), KEY, tasks, CARDS)).items():
        write_bytes(folder / path, data)
    write_rows(folder / "private" / "tasks.jsonl", [], salt(KEY, "build"))
    gate = Gate(
        build=folder,
        record=record(),
        params=PARAMS,
        keys={"release key": KEY, "root secret": ROOT},
        tasks=tasks,
        cards=CARDS,
        provenance=Provenance(),
    )
    make_manifest(gate)
    return gate


def _checks(gate: Gate) -> set[str]:
    return {finding.check for finding in run_gate(gate)}


def test_a_sound_release_passes(tmp_path: Path, tasks: list[Task]) -> None:
    """The gate opens for tasks as they are built, and twice gives the same manifest."""
    gate = _gate(tmp_path, tasks)
    assert run_gate(gate) == []
    before = (tmp_path / "manifest.json").read_bytes()
    make_manifest(gate)
    assert (tmp_path / "manifest.json").read_bytes() == before


def _leaks(tasks: list[Task]) -> dict[str, bytes]:
    """Texts of which each gives something away."""
    return {
        "card id": f"built from {CARDS[0].id.replace('_', '-')}.".encode(),
        "card title": CARDS[1].title.upper().encode(),
        "item seed": tasks[0].seed.encode(),
        "cluster": tasks[0].cluster.encode(),
        "nonce": nonce(KEY, tasks[0].row.id).encode(),
        "release key": KEY.hex().encode(),
        "root secret": ROOT,
        "definition": canonical_json(tasks[0].definition),
        "brief": canonical_json(tasks[3].brief),
    }


def test_a_secret_in_a_public_file_or_in_git_is_found(tmp_path: Path, tasks: list[Task]) -> None:
    """Card ids, titles, seeds, keys, nonces, definitions and briefs are found in files and in history."""
    gate = _gate(tmp_path, tasks)
    datasheet = tmp_path / "public" / "DATASHEET.md"
    clean = datasheet.read_bytes()
    for name, text in _leaks(tasks).items():
        spread = dataclasses.replace(gate, history=[("0123", b"blob " + text + b" end")])
        assert _checks(spread) == {"leak"}, name
        datasheet.write_bytes(clean + b"\n" + text + b"\n")
        make_manifest(gate)
        assert "leak" in _checks(gate), name
        datasheet.write_bytes(clean)
        make_manifest(gate)


def test_a_private_file_without_salt_is_refused(tmp_path: Path, tasks: list[Task]) -> None:
    """Intermediate outputs need a salt too: dvc.lock publishes their digests."""
    gate = _gate(tmp_path, tasks)
    write_rows(tmp_path / "private" / "cards.jsonl", [])
    assert _checks(gate) == {"salt"}


def test_a_task_that_its_reference_loses_is_refused(tmp_path: Path, tasks: list[Task]) -> None:
    """A task whose truth cannot win, here because its answer is its twin's, stops the cut."""
    bad = tasks[0].model_copy(update={"answer": {"s": 2}, "brief": {"background": "something else"}})
    assert "same_brief" in _checks(_gate(tmp_path, [bad, *tasks[1:]]))


def test_a_release_without_tasks_is_refused(tmp_path: Path) -> None:
    """An empty release is not published."""
    assert "no_tasks" in _checks(_gate(tmp_path, []))


def test_a_sealed_part_that_was_touched_is_refused(tmp_path: Path, tasks: list[Task]) -> None:
    """Commitments are recomputed from what lies in the sealed files."""
    gate = _gate(tmp_path, tasks)
    path = tmp_path / "sealed" / "answers.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"s":0', b'"s":1'))
    assert {"files", "commitments"} <= _checks(gate)
