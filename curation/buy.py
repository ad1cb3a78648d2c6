"""Buy: the replies that a stage will replay, asked for one paper at a time. Only a cut does this."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

from cards.errors import GatewayError, OwedCallError
from curation.arrivals import Arrivals
from curation.desk import Desk
from curation.draft import Draft
from curation.extract import Ask, Extractor, replaying
from curation.paper import Paper
from curation.parse import parse_paper
from curation.review import review_draft
from curation.workbench import Workbench
from gateway.client import Gateway

W = TypeVar("W")


def buy(stage: Literal["extract", "review"], bench: Workbench) -> list[str]:
    """Make sure that every reply of a stage is in the call store; its inputs must be written.

    A reply that is there is not bought again. A paper that cannot be served does not stop the others.

    Returns:
        One line for each paper that is still owed a reply; empty when the stage can replay.
    """
    desk = Desk(bench, _buying)
    extractor, reviewer = desk.extractor, desk.reviewer
    if stage == "extract":
        if extractor is None:
            return []
        return _each(desk.unread(), lambda work: extractor.drafts(*work), lambda work: work[0].key)
    if reviewer is None:
        return []
    reviser = desk.reviser
    return _each(
        desk.unreviewed(),
        lambda work: review_draft(*work, reviewer, reviser),
        lambda work: work[0].key,
    )


def left_out(bench: Workbench, arrivals: Arrivals) -> list[str]:
    """Return the papers that a cut without a model must leave out: those whose replies were never bought.

    Works in memory on arrivals that are not pinned yet, before any stage has run.
    """
    desk = Desk(bench, replaying)
    extractor = desk.extractor
    if extractor is None:
        return []
    papers = desk.shelve(arrivals)
    readable = [paper for paper in papers if paper.verdict.outcome == "eligible" and paper.content]
    return [paper.key for paper in readable if _owes(paper, arrivals, desk, extractor)]


def _owes(paper: Paper, arrivals: Arrivals, desk: Desk, extractor: Extractor) -> bool:
    document = parse_paper(paper, arrivals)
    if any(finding.severity == "error" for finding in document.findings):
        return False
    try:
        drafts: list[Draft] = extractor.drafts(paper, document)
        for draft in drafts:
            if desk.reviewer is not None and draft.card is not None and not draft.faults:
                review_draft(draft, paper, document, desk.reviewer, desk.reviser)
    except OwedCallError:
        return True
    return False


def _buying(gateway: Gateway) -> Ask:
    return gateway.structured


def _each(work: Iterable[W], ask: Callable[[W], object], name: Callable[[W], str]) -> list[str]:
    owed = []
    for item in work:
        try:
            ask(item)
        except GatewayError as error:
            owed.append(f"{name(item)}: {error}")
    return owed
