"""Draft: one candidate relation of one paper on its way to a card."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from cards.card import Card
from cards.finding import Finding
from curation.wire import RelationWire


class Draft(BaseModel):
    """What extraction made of one relation, with everything that the checks found.

    ``relation`` is null where the paper gave none; ``card`` where the relation could not be made into
    one. ``revised`` says that the one revision has been used. ``calls`` are keys of the call store.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    paper: str
    extractor: str
    relation: RelationWire | None = None
    card: Card | None = None
    findings: tuple[Finding, ...] = ()
    revised: bool = False
    calls: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that forbid acceptance."""
        return tuple(finding for finding in self.findings if finding.severity == "error")
