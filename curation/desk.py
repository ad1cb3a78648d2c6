"""Desk: a workbench as the paper stages see it: papers, documents, drafts, and who reads and reviews."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import as_file, files
from typing import Any

from cards.dates import parse_interval
from cards.errors import InputError
from curation.arrivals import Arrivals
from curation.document import Document
from curation.draft import Draft
from curation.extract import Ask, Extractor, ModelExtractor, PatternExtractor
from curation.paper import Paper
from curation.pattern import pattern_relations
from curation.review import Reviewed, Reviewer
from curation.rows import read_rows
from curation.shelf import Shelf
from curation.workbench import Workbench
from gateway.client import Gateway
from gateway.prompt import Prompt

HowToAsk = Callable[[Gateway], Ask]
"""``extract.replaying`` in a stage, ``extract.buying`` in a cut."""


def prompt(name: str) -> Prompt:
    """Return a prompt of this package by name.

    Raises:
        InputError: when there is none of that name.
    """
    found = files("curation").joinpath("prompts").joinpath(f"{name}.md")
    if not name.isidentifier() or not found.is_file():
        raise InputError(f"there is no prompt {name!r}.", "params.yaml names a file of curation/prompts.")
    with as_file(found) as path:
        return Prompt.read(path)


@dataclass(frozen=True)
class Desk:
    """What the stages from harvest to decide work on.

    Args:
        bench: the clone and its settings.
        how: how a reply is had; stages replay, a cut buys.
    """

    bench: Workbench
    how: HowToAsk

    def shelve(self, arrivals: Arrivals) -> list[Paper]:
        """State arrivals as papers.

        Raises:
            InputError: when ``window.after`` is not a date.
        """
        after = parse_interval(str(self.bench.params["window"]["after"]))
        journals = self.bench.params["sources"].get("journals") or []
        return Shelf(arrivals, after, journals).papers()

    @cached_property
    def papers(self) -> dict[str, Paper]:
        """The papers by key, as the harvest stage wrote them."""
        rows = read_rows(self.bench.private("papers.jsonl"))
        return {row["key"]: Paper.model_validate(row) for row in rows}

    @cached_property
    def documents(self) -> dict[str, Document]:
        """The documents by paper, as the parse stage wrote them."""
        rows = read_rows(self.bench.private("documents.jsonl"))
        return {row["paper"]: Document.model_validate(row) for row in rows}

    @cached_property
    def drafts(self) -> list[Draft]:
        """The drafts, as the extract stage wrote them."""
        return [Draft.model_validate(row) for row in read_rows(self.bench.private("drafts.jsonl"))]

    @cached_property
    def reviewed(self) -> dict[str, Reviewed]:
        """The reviews by draft, as the review stage wrote them."""
        rows = read_rows(self.bench.private("reviews.jsonl"))
        return {row["key"]: Reviewed.model_validate(row) for row in rows}

    @cached_property
    def extractor(self) -> Extractor | None:
        """Who extracts; None where params.yaml names no model.

        Raises:
            InputError: when ``extract.extractor`` is neither model nor pattern.
        """
        chosen = self.bench.params["extract"]["extractor"]
        if chosen == "pattern":
            return PatternExtractor(pattern_relations)
        if chosen != "model":
            raise InputError(f"extract.extractor is {chosen!r}.", "Write model or pattern in params.yaml.")
        gateway = self._gateway("extract")
        if gateway is None:
            return None
        return ModelExtractor(gateway.name, self._prompt("extract"), self.how(gateway))

    @cached_property
    def reviewer(self) -> Reviewer | None:
        """Who reviews; None where params.yaml names no model."""
        gateway = self._gateway("review")
        return None if gateway is None else Reviewer(gateway.name, self._prompt("review"), self.how(gateway))

    def unread(self) -> Iterator[tuple[Paper, Document]]:
        """Yield the papers that passed the date gate, were read, and are not left out of this cut."""
        left_out = Arrivals(self.bench.arrivals).left_out()
        for key, paper in self.papers.items():
            document = self.documents.get(key)
            if paper.verdict.outcome != "eligible" or key in left_out or document is None:
                continue
            if not any(finding.severity == "error" for finding in document.findings):
                yield paper, document

    def unreviewed(self) -> Iterator[tuple[Draft, Paper, Document]]:
        """Yield the drafts without faults, with their papers."""
        for draft in self.drafts:
            if draft.card is not None and not draft.faults:
                yield draft, self.papers[draft.paper], self.documents[draft.paper]

    @property
    def reviser(self) -> ModelExtractor | None:
        """Who revises after a review: only a model can look again."""
        return self.extractor if isinstance(self.extractor, ModelExtractor) else None

    def _gateway(self, stage: str) -> Gateway | None:
        named = (self.bench.params.get(stage) or {}).get("model")
        return self.bench.models.get(stage) if named else None

    def _prompt(self, stage: str) -> Prompt:
        settings: dict[str, Any] = self.bench.params[stage]
        return prompt(str(settings.get("prompt") or stage))
