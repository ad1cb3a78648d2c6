"""A tiny sealed release, made by the real seal and described by a real manifest, for tests that need one."""

from __future__ import annotations

from pathlib import Path

from cards.canonical import canonical_json, digest, sha256_hex
from curation.cut_record import CutRecord
from curation.rows import write_bytes
from curation.seal import Contents, counts, seal_tasks
from environments.manifest import FileEntry, Manifest, Window
from environments.release import read_part
from environments.seeding import canary, key_commitment, opaque_id
from environments.task import Task, TaskRow

KEY = bytes(range(32))
VERSION = "2026.11.0"


def record(version: str = VERSION) -> CutRecord:
    """Return the record of a cut."""
    return CutRecord(
        version=version,
        due="2026-11-30T00:00:00Z",
        commit="a" * 40,
        parent=None,
        tools={"python": "3.11.0"},
        lock_digest="b" * 64,
    )


def task(number: int, s: int = 0) -> Task:
    """Return a task; numbers 2k and 2k + 1 are twins of one cluster."""
    return Task(
        row=TaskRow(
            id=opaque_id(KEY, "mini", str(number)),
            family="law",
            setting="discovery",
            protocols=("prior", "adaptive"),
            tools={"prior": ("complete",), "adaptive": ("propose_experiment", "complete")},
            limits={"calls": 512.0},
        ),
        brief={"background": f"A trolley on a track, number {number // 2}."},
        definition={
            "s": s,
            "relation": f"x * {number // 2}",
            "eval_inputs": {"x": [1.0, 2.0, float(number // 2)]},
        },
        answer={"s": s},
        seed=f"{number // 2:064x}".replace("0", "e"),
        cluster=opaque_id(KEY, "cluster", str(number // 2)),
        facets={"variant": "counterfactual" if s else "original"},
        link={"card": f"mini-card-{number // 2}"},
    )


def tasks(count: int = 6) -> list[Task]:
    """Return ``count`` tasks, ordered by id as a build orders them."""
    made = [task(number, number % 2) for number in range(count)]
    return sorted(made, key=lambda one: one.row.id)


def contents(count: int = 6) -> Contents:
    """Return what a mini release is sealed from."""
    return Contents(record=record(), key=KEY, tasks=tasks(count), cards=())


def write_release(folder: Path, count: int = 6, held: Contents | None = None) -> Manifest:
    """Write a release to ``folder``, of ``held`` or of ``count`` mini tasks, and return its manifest."""
    held = held or contents(count)
    files = seal_tasks(held)
    for path, data in files.items():
        write_bytes(folder / path, data)
    manifest = _manifest(folder, files, held)
    write_bytes(folder / "manifest.json", canonical_json(manifest.model_dump(mode="json")))
    return manifest


def _manifest(folder: Path, files: dict[str, bytes], held: Contents) -> Manifest:
    cut = held.record
    entries = [
        FileEntry(
            path=path,
            role="public" if path.startswith("public") else "sealed",
            bytes=len(data),
            rows=len(read_part(folder / path)) if path.endswith(".jsonl") else None,
            sha256=sha256_hex(data),
        )
        for path, data in files.items()
    ]
    return Manifest(
        version=cut.version,
        parent=cut.parent,
        commit=cut.commit,
        window=Window(after="2026-01-01", clock=cut.due, guard_days=30),
        files=tuple(entries),
        items_root=digest(read_part(folder / "public" / "commitments.jsonl")),
        counts=counts(held.tasks),
        rejects={},
        sources=0,
        source_licences={},
        models=(),
        prompts=(),
        decision_rule="code",
        sign_offs=0,
        generators={"law": "1"},
        seed_commitment=key_commitment(held.key),
        tolerances={"equality_relative": 1e-6},
        tools=cut.tools,
        lock_digest=cut.lock_digest,
        canary=canary(held.key),
        licence="CC-BY-4.0",
        reveal="later",
    )
