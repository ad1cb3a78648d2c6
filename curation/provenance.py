"""Provenance: which models and prompts made the cards of a release, and what became of the candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from cards.canonical import digest
from curation.desk import Desk
from curation.extract import ModelExtractor
from curation.review import Reviewer, ReviewReply
from curation.wire import ExtractReply
from environments.manifest import ModelUse, PromptUse

DECISION_RULE = "every claim supported by the reviewer's own quote, and no check fails"


@dataclass(frozen=True)
class Provenance:
    """What a manifest says of how its cards came to be; ``rejects`` counts by outcome/stage/reason."""

    models: tuple[ModelUse, ...] = ()
    prompts: tuple[PromptUse, ...] = ()
    decision_rule: str = DECISION_RULE
    sign_offs: int = 0
    rejects: Mapping[str, int] = field(default_factory=dict)


def provenance(
    desk: Desk, rejects: Iterable[Mapping[str, Any]], returned: Callable[[str], str]
) -> Provenance:
    """Gather the provenance from what the stages have written.

    Args:
        desk: the clone's papers, drafts and reviews, and who read them.
        rejects: rows of the candidates that were not accepted.
        returned: the name by which the model behind a stored reply called itself, by the reply's key.
    """
    models, prompts = [], []
    for role, reader, schema, keys in _readers(desk):
        names = sorted({name for key in keys if (name := returned(key))})
        models.append(ModelUse(role=role, requested=reader.name, returned=tuple(names)))
        prompts.append(
            PromptUse(
                role=role,
                id=reader.prompt.id,
                version=str(reader.prompt.version),
                digest=reader.prompt.digest,
                schema_digest=digest(schema.model_json_schema()),
            )
        )
    counts = Counter(f"{row['outcome']}/{row['stage']}/{row['reason']}" for row in rejects)
    return Provenance(models=tuple(models), prompts=tuple(prompts), rejects=counts)


def _readers(desk: Desk) -> Iterator[tuple[str, ModelExtractor | Reviewer, type[BaseModel], set[str]]]:
    reviewed = desk.reviewed.values()
    if desk.reviser is not None:
        drafts = [*desk.drafts, *(item.draft for item in reviewed)]
        yield "extract", desk.reviser, ExtractReply, {key for draft in drafts for key in draft.calls}
    if desk.reviewer is not None:
        keys = {review.call for item in reviewed for review in item.reviews}
        yield "review", desk.reviewer, ReviewReply, keys
