"""Paper: what is known of one publication before it is read."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from cards.card import Dates
from cards.dates import DatedFact, journal_date


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Listing(_Frozen):
    """One arXiv entry as a listing gave it. Ids are text always: ``2610.10`` keeps its zero."""

    id: str
    version: int
    title: str
    authors: tuple[str, ...]
    published: str
    updated: str
    comment: str = ""
    journal_ref: str = ""
    doi: str | None = None
    primary: str = ""
    categories: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name of this version in every row: ``arxiv:2605.26965v1``."""
        return f"arxiv:{self.id}v{self.version}"


class DateVerdict(_Frozen):
    """What the date gate says: only an ``eligible`` paper is ever shown to a model."""

    outcome: Literal["eligible", "rejected", "awaiting_journal"]
    stage: Literal["harvest", "date_gate"] = "date_gate"
    reason: str
    detail: str = ""


class Paper(_Frozen):
    """One publication with its dates, its bytes' digest and the date gate's verdict.

    ``content`` is the SHA-256 of the bytes in the arrivals' content folder, ``content_name`` the file
    name that they came under. ``track`` is ``journal`` for journals of the allow-list.
    """

    key: str
    origin: Literal["arxiv", "folder"]
    title: str
    authors: tuple[str, ...]
    journal: str = ""
    doi: str | None = None
    arxiv: str | None = None
    licence: str | None = None
    address: str | None = None
    discipline: str = ""
    facts: tuple[DatedFact, ...] = ()
    content: str | None = None
    content_name: str = ""
    track: Literal["journal", "other"] = "other"
    verdict: DateVerdict

    def dates(self) -> Dates:
        """Return the first preprint's date and the journal's, as a card stores them."""
        preprints = [fact.interval for fact in self.facts if fact.record_type != "journal-article"]
        journal = journal_date(self.facts)
        return Dates(
            first_preprint=str(min(preprints, key=lambda interval: interval.high)) if preprints else None,
            journal_online=str(journal) if journal else None,
        )
