"""The stages, one function each, named like its command and its entry in dvc.yaml.

Each reads and writes files of one clone only, and the same files in give the same files out.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from cards.canonical import canonical_json
from cards.card import Card
from cards.finding import Finding
from cards.store import historical
from curation.arrivals import Arrivals
from curation.build import build_tasks
from curation.cut_record import CUT_RECORD, CutRecord
from curation.decide import decide_all
from curation.desk import Desk
from curation.extract import replaying
from curation.gate import Gate, make_manifest, run_gate
from curation.parse import parse_paper
from curation.provenance import provenance
from curation.review import review_draft
from curation.rows import read_rows, write_bytes, write_rows
from curation.seal import Contents, seal_tasks
from curation.workbench import Workbench
from environments.task import Task

SOURCE_FIELDS = ("doi", "arxiv", "title", "licence", "dates")
REJECT_FIELDS = ("paper", "doi", "arxiv", "title", "stage", "reason")


def harvest(bench: Workbench) -> None:
    """State the arrivals as papers with their date verdicts."""
    papers = Desk(bench, replaying).shelve(Arrivals(bench.arrivals))
    _write(bench, "papers.jsonl", papers, "harvest")


def parse(bench: Workbench) -> None:
    """Read every paper that passed the date gate, each in a child process with limits."""
    arrivals = Arrivals(bench.arrivals)
    papers = Desk(bench, replaying).papers.values()
    readable = [paper for paper in papers if paper.verdict.outcome == "eligible" and paper.content]
    _write(bench, "documents.jsonl", [parse_paper(paper, arrivals) for paper in readable], "parse")


def extract(bench: Workbench) -> None:
    """Make draft cards of the documents; replies come from the call store.

    Raises:
        OwedCallError: when a reply was never bought.
    """
    desk = Desk(bench, replaying)
    extractor = desk.extractor
    drafts = []
    if extractor is not None:
        drafts = [draft for work in desk.unread() for draft in extractor.drafts(*work)]
    _write(bench, "drafts.jsonl", drafts, "extract")


def review(bench: Workbench) -> None:
    """Review the drafts that passed the checks; replies come from the call store.

    Raises:
        OwedCallError: when a reply was never bought.
    """
    desk = Desk(bench, replaying)
    reviewer = desk.reviewer
    reviewed = []
    if reviewer is not None:
        reviewed = [review_draft(*work, reviewer, desk.reviser) for work in desk.unreviewed()]
    _write(bench, "reviews.jsonl", reviewed, "review")


def decide(bench: Workbench) -> None:
    """Decide on every candidate: cards on one side, everything else with its reason on the other."""
    desk = Desk(bench, replaying)
    papers = list(desk.papers.values())
    outcomes = decide_all(papers, desk.documents, desk.drafts, desk.reviewed, historical())
    write_rows(bench.private("cards.jsonl"), outcomes.cards, bench.salt("decide/cards"))
    write_rows(bench.private("rejects.jsonl"), outcomes.rejects, bench.salt("decide/rejects"))


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
        rejected=_rejected(bench),
    )
    build_folder = bench.root / "data" / "build"
    for part in ("public", "sealed"):
        shutil.rmtree(build_folder / part, ignore_errors=True)
    for path, data in seal_tasks(contents).items():
        write_bytes(build_folder / path, data)


def gate(
    bench: Workbench,
    root_secret: bytes,
    history: Iterable[tuple[str, bytes]],
    returned: Callable[[str], str] = lambda key: "",
) -> list[Finding]:
    """Check the sealed release, write ``gate.json`` and ``manifest.json``, and return the findings.

    Args:
        bench: the clone.
        root_secret: looked for in every public byte.
        history: (object, bytes) of everything that the clone's git knows.
        returned: what the model behind a stored reply called itself, by the reply's key.
    """
    gathered = Gate(
        build=bench.root / "data" / "build",
        record=_record(bench),
        params=bench.params,
        keys={"release key": bench.key, "root secret": root_secret},
        tasks=_tasks(bench),
        cards=_cards(bench),
        provenance=provenance(Desk(bench, replaying), read_rows(bench.private("rejects.jsonl")), returned),
        history=history,
    )
    make_manifest(gathered)
    findings = run_gate(gathered)
    report = {"passed": not findings, "findings": [finding.model_dump(mode="json") for finding in findings]}
    write_bytes(gathered.build / "gate.json", canonical_json(report) + b"\n")
    return findings


def _write(bench: Workbench, name: str, rows: Sequence[BaseModel], stage: str) -> None:
    write_rows(bench.private(name), (row.model_dump(mode="json") for row in rows), bench.salt(stage))


def _record(bench: Workbench) -> CutRecord:
    return CutRecord.read(bench.root / CUT_RECORD)


def _tasks(bench: Workbench) -> list[Task]:
    return [Task.model_validate(row) for row in read_rows(bench.private("tasks.jsonl"))]


def _cards(bench: Workbench) -> list[Card]:
    rows = read_rows(bench.private("cards.jsonl"))
    return historical() + [Card.model_validate(row["card"]) for row in rows]


def _sources(bench: Workbench) -> list[dict[str, Any]]:
    """Return the papers of the accepted cards, each once, with what the release may say of them."""
    papers = [row["paper"] for row in read_rows(bench.private("cards.jsonl"))]
    named = {paper["key"]: {name: paper[name] for name in SOURCE_FIELDS} for paper in papers}
    return list(named.values())


def _rejected(bench: Workbench) -> list[dict[str, Any]]:
    """Return the rejected candidates; those that wait for a journal or a person are not decided yet."""
    rows = read_rows(bench.private("rejects.jsonl"))
    return [{name: row[name] for name in REJECT_FIELDS} for row in rows if row["outcome"] == "rejected"]
