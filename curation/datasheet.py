"""The datasheet and the licence that travel with every release."""

from __future__ import annotations

from collections.abc import Mapping

from curation.cut_record import CutRecord
from environments.manifest import FamilyCounts
from environments.seeding import canary

LICENCE_NAME = "CC-BY-4.0"
REVEAL = "sealed until the next release but one is published"

LICENCE = """Almanac release data

The public files of this release are licensed under the Creative Commons Attribution 4.0 International
Licence (CC BY 4.0): https://creativecommons.org/licenses/by/4.0/legalcode

You may share and adapt them for any purpose, with attribution to the Almanac maintainers and the
release's version, and with a note of your changes. They come without warranty of any kind.

Titles, identifiers and dates of papers in sources.jsonl and rejected.jsonl are facts about the works of
their authors. No text of any paper is part of a release; each paper stays under its own licence.
"""

_TEMPLATE = """# Almanac {version}

A release of Almanac, a live benchmark of scientific discovery: a player investigates an environment by
experiment and states the relation that governs it, and a program judges the statement.

Canary: almanac-canary {canary}. Benchmark data must never stand in a training corpus; the canary is there
so that it can be found and filtered out.

## What it holds

{table}

| file | what |
| --- | --- |
| tasks.jsonl | one row a task: opaque id, family, setting, protocols, tools, limits |
| commitments.jsonl | sha256(nonce followed by the canonical answer) of each task |
| sources.jsonl | the {sources} papers that entered: DOI, title, dates, licence; not linked to tasks |
| rejected.jsonl | the {rejected} candidates that did not, each with the stage and the reason |
| LICENSE-DATA, checksums.txt | the licence; SHA-256 of every file, for `sha256sum --check` |

Briefs, definitions, answers, cards, links, evaluation inputs and nonces are {reveal}. A brief is told to a
player inside an episode only.

## How it was made

- Papers enter when every known public date lies inside the window; the extraction, a second model's review
  and deterministic checks are replayed from recorded replies. Canonical laws from textbooks complete the
  collection. Each law is told in an original and in a changed, dimensionally consistent form.
- Clock of the cut: {due}. Papers listed: {window}.
- The same arrivals, root secret and clock give the same bytes. Published bytes never change.
- Before publication a program that knows the truth won every task through the players' own door, and one
  that knows nothing stayed inside the bound that its family declares.

## Uses and limits

Made to measure how well a player finds relations by experiment. A score on the collection of canonical laws
measures memory too; compare original and changed forms. Not made for training.

## Licence

{licence}, see LICENSE-DATA.

## Reading it

Python:

    import json
    rows = [json.loads(line) for line in open("public/tasks.jsonl")]

pandas, polars, datasets:

    pandas.read_json("public/tasks.jsonl", lines=True)
    polars.read_ndjson("public/tasks.jsonl")
    datasets.load_dataset("json", data_files="public/tasks.jsonl")

Check it with `almanac verify {version}`.
"""


def datasheet(
    record: CutRecord, counts: Mapping[str, FamilyCounts], papers: tuple[int, int], key: bytes
) -> str:
    """Return the text of ``DATASHEET.md``.

    Args:
        record: the cut.
        counts: tasks by family.
        papers: how many papers were accepted, and how many were not.
        key: the release key, for the canary.
    """
    rows = [
        f"| {name} | {count.tasks} | {count.clusters} | {_settings(count)} |"
        for name, count in counts.items()
    ]
    head = "| family | tasks | independent units | tasks by setting |\n| --- | --- | --- | --- |"
    window = f"{record.first} to {record.last}" if record.first and record.last else "none"
    return _TEMPLATE.format(
        version=record.version,
        canary=canary(key),
        table="\n".join([head, *rows]),
        sources=papers[0],
        rejected=papers[1],
        reveal=REVEAL,
        due=record.due,
        window=window,
        licence=LICENCE_NAME,
    )


def _settings(count: FamilyCounts) -> str:
    return ", ".join(f"{name} {number}" for name, number in count.settings.items())
