"""Seal: split the built tasks into what everyone may see and what stays closed until the reveal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cards.canonical import JSON, digest, jsonl, sha256_hex
from cards.card import Card
from curation.cut_record import CutRecord
from curation.datasheet import LICENCE, datasheet
from environments.check_release import checksum_lines
from environments.manifest import FamilyCounts
from environments.release import commitment
from environments.seeding import nonce, salt
from environments.task import Task


@dataclass(frozen=True)
class Contents:
    """What one release is sealed from.

    ``sources`` are public rows of the accepted papers, ``rejected`` of the others; neither names a task.
    """

    record: CutRecord
    key: bytes
    tasks: Sequence[Task]
    cards: Sequence[Card]
    sources: Sequence[Mapping[str, JSON]] = field(default=())
    rejected: Sequence[Mapping[str, JSON]] = field(default=())


def seal_tasks(contents: Contents) -> dict[str, bytes]:
    """Return every file of the release but the manifest, by path (``public/…``, ``sealed/…``).

    The same contents give the same bytes, on every machine and at any time.
    """
    tasks = sorted(contents.tasks, key=lambda task: task.row.id)
    nonces = {task.row.id: nonce(contents.key, task.row.id) for task in tasks}
    files = {f"sealed/{name}.jsonl": data for name, data in _sealed(contents, tasks, nonces).items()}
    commitments = [
        {"id": task.row.id, "sha256": commitment(nonces[task.row.id], task.answer)} for task in tasks
    ]
    files |= {
        "public/tasks.jsonl": jsonl(task.row.model_dump(mode="json") for task in tasks),
        "public/commitments.jsonl": jsonl(commitments),
        "public/sources.jsonl": jsonl(_ordered(contents.sources)),
        "public/rejected.jsonl": jsonl(_ordered(contents.rejected)),
        "public/LICENSE-DATA": LICENCE.encode(),
    }
    files["public/DATASHEET.md"] = datasheet(
        contents.record, counts(tasks), (len(contents.sources), len(contents.rejected)), contents.key
    ).encode()
    digests = {path: sha256_hex(data) for path, data in files.items() if path.startswith("public/")}
    files["public/checksums.txt"] = checksum_lines(digests).encode()
    return dict(sorted(files.items()))


def counts(tasks: Iterable[Task]) -> dict[str, FamilyCounts]:
    """Return how many tasks, clusters and settings each family has."""
    by_family: dict[str, list[Task]] = {}
    for task in tasks:
        by_family.setdefault(task.row.family, []).append(task)
    return {
        name: FamilyCounts(
            tasks=len(group),
            clusters=len({task.cluster for task in group}),
            settings=dict(sorted(Counter(task.row.setting for task in group).items())),
        )
        for name, group in sorted(by_family.items())
    }


def _ordered(rows: Iterable[Mapping[str, JSON]]) -> list[Mapping[str, JSON]]:
    """Sort by content, so that the order says nothing about tasks."""
    return sorted(rows, key=digest)


def _sealed(contents: Contents, tasks: Sequence[Task], nonces: Mapping[str, str]) -> dict[str, bytes]:
    inputs: dict[str, JSON] = {}
    definitions = []
    for task in tasks:
        definition = dict(task.definition)
        held = definition.pop("eval_inputs", None)
        name = None if held is None else digest(held)
        if name is not None:
            inputs[name] = held
        row = {"id": task.row.id, "definition": definition, "eval_inputs": name, "seed": task.seed}
        definitions.append({**row, "cluster": task.cluster, "facets": task.facets})
    parts: dict[str, list[JSON]] = {
        "briefs": [{"id": task.row.id, "brief": task.brief} for task in tasks],
        "definitions": definitions,
        "answers": [{"id": task.row.id, "answer": task.answer} for task in tasks],
        "links": [{"id": task.row.id, "link": task.link} for task in tasks],
        "nonces": [{"id": task.row.id, "nonce": nonces[task.row.id]} for task in tasks],
        "eval_inputs": [{"digest": name, "inputs": inputs[name]} for name in sorted(inputs)],
        "cards": [
            {"id": card.id, "card": card.model_dump(mode="json")}
            for card in sorted(contents.cards, key=lambda card: card.id)
        ],
    }
    return {
        name: jsonl([{"salt": salt(contents.key, f"seal/{name}")}, *rows]) for name, rows in parts.items()
    }
