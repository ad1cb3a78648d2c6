"""Extract: a document becomes draft cards, by a model or by pattern, each with all its findings.

The one retry rule: where a check finds something that a second look could mend, the model is shown the
findings once; what is still wrong after that is rejected.

Source: arXiv 2610.37919, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cards.acceptance import accept
from cards.errors import GatewayError, OwedCallError
from cards.finding import Finding
from cards.store import historical
from curation.assemble import assemble
from curation.checks import duplicate_of, paper_findings
from curation.document import Document
from curation.draft import Draft
from curation.paper import Paper
from curation.wire import ExtractReply, RelationWire
from gateway.client import Gateway
from gateway.prompt import Prompt
from gateway.reply import StructuredReply
from gateway.request import Message, Sampling, StructuredRequest, T

MAX_RELATIONS = 4
"""Relations taken from one paper at most."""
MAX_SHOWN = 120_000
"""Characters of a paper that a model is shown at most."""
FINAL = frozenset({"interval_value", "duplicate"})
"""Checks that no second look can mend."""
UNUSABLE = frozenset({"malformed", "refused"})
"""Ends of a call that are answers of a kind: asking again by the next run would change nothing."""


class Ask(Protocol):
    """How a reply is had: bought, or read from the call store."""

    def __call__(self, request: StructuredRequest[T]) -> StructuredReply[T]:
        """Return the reply to ``request``."""


def replaying(gateway: Gateway) -> Ask:
    """Return an Ask that reads the call store and never calls.

    Raises (when asked):
        OwedCallError: the reply was never bought.
    """

    def ask(request: StructuredRequest[T]) -> StructuredReply[T]:
        reply = gateway.replay(request)
        if reply is None:
            raise OwedCallError(
                f"the {request.purpose} reply of {gateway.name} for {request.subject} was never bought "
                f"(key {gateway.key(request)[:16]}).",
                "Run almanac cut again: it buys what is missing, and nothing twice.",
            )
        return reply

    return ask


@dataclass(frozen=True)
class ModelExtractor:
    """Extraction by a language model through ``ask``."""

    name: str
    prompt: Prompt
    ask: Ask

    def drafts(self, paper: Paper, document: Document) -> list[Draft]:
        """Return the drafts of one paper, revised once where that could help.

        Raises:
            OwedCallError: in replay, when a reply was never bought.
            GatewayError: when buying, for anything but an answer that cannot be used.
        """
        try:
            reply = self.ask(self._request(paper, self._opening(paper, document)))
        except GatewayError as error:
            return [_unusable(paper, self.name, error)]
        relations = reply.value.relations[:MAX_RELATIONS]
        if not relations:
            reason = reply.value.none_reason or "the model found none"
            return [_without(paper, self.name, "no_relation", reason, (reply.key,))]
        drafts = []
        for index, relation in enumerate(relations):
            first = judge(relation, paper, document, _made(self.name, paper, index, reply.key))
            drafts.append(self._mended(first, paper, document))
        return drafts

    def revise(self, draft: Draft, findings: Sequence[Finding], paper: Paper, document: Document) -> Draft:
        """Ask once more, with the findings, and return the draft that comes of it.

        Raises:
            OwedCallError, GatewayError: as ``drafts``.
        """
        assert draft.relation is not None, "only a relation can be revised"
        messages = (
            *self._opening(paper, document),
            Message(
                "assistant", ExtractReply(relations=[draft.relation], none_reason=None).model_dump_json()
            ),
            Message("user", _objections(findings)),
        )
        try:
            reply = self.ask(self._request(paper, messages))
        except GatewayError as error:
            return _unusable(paper, self.name, error).model_copy(update={"key": draft.key, "revised": True})
        made = draft.model_copy(update={"calls": (*draft.calls, reply.key), "revised": True})
        if not reply.value.relations:
            gone = _without(paper, self.name, "no_relation", "withdrawn in the revision", made.calls)
            return gone.model_copy(update={"key": draft.key, "revised": True})
        return judge(reply.value.relations[0], paper, document, made)

    def _mended(self, draft: Draft, paper: Paper, document: Document) -> Draft:
        faults = draft.faults
        if not faults or any(fault.check in FINAL for fault in faults):
            return draft
        return self.revise(draft, faults, paper, document)

    def _opening(self, paper: Paper, document: Document) -> tuple[Message, ...]:
        return Message("system", self.prompt.text), Message("user", shown(paper, document))

    def _request(self, paper: Paper, messages: tuple[Message, ...]) -> StructuredRequest[ExtractReply]:
        return StructuredRequest(
            purpose="extract",
            subject=paper.key,
            prompt=self.prompt,
            messages=messages,
            schema=ExtractReply,
            sampling=Sampling(temperature=0.0, max_tokens=8_000),
        )


@dataclass(frozen=True)
class PatternExtractor:
    """Extraction without a model: explicit equations with a where-list, nothing else."""

    relations: Callable[[Paper, Document], list[RelationWire]]
    name: str = "pattern"

    def drafts(self, paper: Paper, document: Document) -> list[Draft]:
        """Return the drafts of one paper; nothing is revised."""
        relations = self.relations(paper, document)[:MAX_RELATIONS]
        if not relations:
            return [_without(paper, self.name, "no_relation", "no equation with a full where-list", ())]
        return [
            judge(relation, paper, document, _made(self.name, paper, index))
            for index, relation in enumerate(relations)
        ]


Extractor = ModelExtractor | PatternExtractor


def judge(relation: RelationWire, paper: Paper, document: Document, made: Draft) -> Draft:
    """Return ``made`` filled with the relation, the card that it makes, and every finding on both."""
    findings = paper_findings(relation, document)
    card, troubles = assemble(relation, paper, document, made)
    findings += troubles
    if card is not None:
        findings += accept(card)
        if not any(finding.severity == "error" for finding in findings):
            twin = duplicate_of(card, historical())
            if twin is not None:
                message = f"the relation is that of {twin.title!r} ({twin.id})."
                findings.append(Finding(check="duplicate", message=message))
    return made.model_copy(update={"relation": relation, "card": card, "findings": tuple(findings)})


def shown(paper: Paper, document: Document) -> str:
    """Return the message that shows a paper to a model: data between two marks, nothing else."""
    text = document.text[:MAX_SHOWN].replace("</paper>", "</ paper>")
    title = paper.title.replace("</paper>", "</ paper>")
    return f"<paper>\ntitle: {title}\n\n{text}\n</paper>"


def _made(extractor: str, paper: Paper, index: int, *calls: str) -> Draft:
    return Draft(key=f"{paper.key}#{index}", paper=paper.key, extractor=extractor, calls=calls)


def _without(paper: Paper, extractor: str, check: str, reason: str, calls: tuple[str, ...]) -> Draft:
    finding = Finding(check=check, message=reason[:300])
    return _made(extractor, paper, 0, *calls).model_copy(update={"findings": (finding,)})


def _unusable(paper: Paper, extractor: str, error: GatewayError) -> Draft:
    if error.reason not in UNUSABLE:
        raise error
    return _without(paper, extractor, "no_usable_reply", error.message, ())


def _objections(findings: Sequence[Finding]) -> str:
    lines = [f"- {finding.path or 'relation'}: {finding.check}: {finding.message}" for finding in findings]
    return (
        "These points of your answer were found wrong:\n"
        + "\n".join(lines)
        + "\nGo back to the paper and answer again with the whole relation, corrected, in the same form. "
        "Keep what was right. If the paper does not bear the relation out, answer with no relations."
    )
