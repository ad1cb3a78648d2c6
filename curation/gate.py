"""Gate: what must hold before a release's bytes are frozen, and the manifest that describes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cards.canonical import canonical_json, digest, sha256_hex
from cards.card import Card
from cards.equality import DIFFERENCE
from cards.finding import Finding
from curation.cut_record import CutRecord
from curation.datasheet import LICENCE_NAME, REVEAL
from curation.leaks import leaks, published_titles, secrets
from curation.provenance import Provenance
from curation.rows import write_bytes
from curation.seal import counts
from environments.check_release import check_release, salted
from environments.checks import check_tasks
from environments.families import FAMILIES
from environments.manifest import FileEntry, Manifest, Window
from environments.release import MANIFEST, Release, read_part
from environments.seeding import canary, key_commitment
from environments.task import Task

# The build folder holds more than the release, and nothing in it is signed yet.
_NOT_YET = frozenset({"beside"})


@dataclass(frozen=True)
class Gate:
    """Everything that the gate reads.

    ``build`` holds ``public/``, ``sealed/`` and ``private/``; ``history`` yields (object, bytes) of git.
    """

    build: Path
    record: CutRecord
    params: Mapping[str, Any]
    keys: Mapping[str, bytes]
    tasks: Sequence[Task]
    cards: Sequence[Card]
    provenance: Provenance
    history: Iterable[tuple[str, bytes]] = ()


def make_manifest(gate: Gate) -> Manifest:
    """Describe the sealed files, and write ``manifest.json`` beside them."""
    record, key = gate.record, gate.keys["release key"]
    sources = read_part(gate.build / "public" / "sources.jsonl")
    licences = sorted(str(row.get("licence") or "unknown") for row in sources)
    window = gate.params["window"]
    families = {name: FAMILIES[name] for name in gate.params["release"]["families"]}
    manifest = Manifest(
        version=record.version,
        parent=record.parent,
        commit=record.commit,
        window=Window(
            after=str(window["after"]),
            first=record.first,
            last=record.last,
            clock=record.due,
            guard_days=int(window["guard_days"]),
        ),
        files=_entries(gate.build),
        items_root=digest(read_part(gate.build / "public" / "commitments.jsonl")),
        counts=counts(gate.tasks),
        rejects=dict(sorted(gate.provenance.rejects.items())),
        sources=len(sources),
        source_licences={name: licences.count(name) for name in dict.fromkeys(licences)},
        models=gate.provenance.models,
        prompts=gate.provenance.prompts,
        decision_rule=gate.provenance.decision_rule,
        sign_offs=gate.provenance.sign_offs,
        generators={name: family.version for name, family in families.items()},
        seed_commitment=key_commitment(key),
        tolerances={"equality_relative": DIFFERENCE, "weak_max_error": 1.0},
        tools=record.tools,
        lock_digest=record.lock_digest,
        canary=canary(key),
        licence=LICENCE_NAME,
        reveal=REVEAL,
    )
    write_bytes(gate.build / MANIFEST, canonical_json(manifest.model_dump(mode="json")))
    return manifest


def run_gate(gate: Gate) -> list[Finding]:
    """Check the sealed release as a whole and return every finding; an empty list opens the gate."""
    findings = [Finding(check="no_tasks", message="the release holds no task")] if not gate.tasks else []
    findings += check_release(gate.build, skip=_NOT_YET)
    findings += check_tasks(gate.tasks)
    findings += _whole(gate)
    findings += [
        Finding(check="salt", path=path.name, message="a private output does not begin with a salt line")
        for path in sorted((gate.build / "private").glob("*"))
        if not salted(path)
    ]
    titles = published_titles(gate.build / "public")
    hidden = secrets(gate.tasks, gate.cards, gate.keys, titles)
    findings += leaks(_public(gate.build), hidden)
    findings += leaks(((f"git object {name}", data) for name, data in gate.history), hidden)
    return findings


def _whole(gate: Gate) -> Iterable[Finding]:
    """The split can be undone: what a session will open is what was built."""
    release = Release.open(gate.build)
    for task in gate.tasks:
        if release.task(task.row.id) != task:
            yield Finding(
                check="split", path=task.row.id, message="the sealed parts do not make the task again"
            )


def _public(build: Path) -> Iterable[tuple[str, bytes]]:
    for path in [build / MANIFEST, *sorted((build / "public").iterdir())]:
        yield path.name, path.read_bytes()


def _entries(build: Path) -> tuple[FileEntry, ...]:
    entries = []
    for role in ("public", "sealed"):
        for path in sorted((build / role).iterdir()):
            data = path.read_bytes()
            rows = len(read_part(path)) if path.suffix == ".jsonl" else None
            entry = {"path": f"{role}/{path.name}", "role": role, "bytes": len(data), "rows": rows}
            entries.append(FileEntry.model_validate({**entry, "sha256": sha256_hex(data)}))
    return tuple(entries)
