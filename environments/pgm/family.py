"""The pgm family: what Session, release, seal and doors need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cards.card import Card
from cards.finding import Finding
from environments.family import NullBound, Policy, World
from environments.pgm.definition import PgmDefinition
from environments.pgm.policies import Guess, Reference
from environments.pgm.protocol import PROTOCOLS
from environments.pgm.world import PgmWorld
from environments.task import JSON, Options, Record, Score, Task

Insider = Callable[[Mapping[str, JSON], Options], Policy]

_BOUNDS: Mapping[str, NullBound] = {
    "qual": NullBound("qual", 0.38, 0.62),
    "lists": NullBound("lists"),
    "mediator labels": NullBound("mediator labels", 0.21, 0.46),
    # In each world the exact share of accepted legal answers is below 0.10; a share counted over one guess a
    # task strays beyond this bound only once in a million sets.
    "choices": NullBound("choices", 0.0, 0.22),
}


class PgmFamily:
    """Hidden categorical causal worlds; stateless."""

    name = "pgm"
    version = "1"
    settings: Sequence[str] = ("core_list", "core_decision", "qual")
    twins = False

    def protocols(self, setting: str) -> Sequence[str]:
        """Return every protocol that a setting can be played under; a task's row names the default ones."""
        return PROTOCOLS

    def build(self, materials: Sequence[Card], params: Mapping[str, Any], key: bytes) -> Sequence[Task]:
        """Build the set of a release; there are no materials, ``params`` is the ``pgm`` section."""
        from environments.pgm.build import build  # brings the vocabulary, which playing does not need

        return build(params, key)

    def recertify(self, tasks: Sequence[Task], materials: Sequence[Card]) -> Sequence[Finding]:
        """Derive every truth again by the second way; return where it comes out otherwise."""
        from environments.pgm.recertify import recertify

        return recertify(tasks)

    def open(self, definition: Mapping[str, JSON], options: Options, seed: bytes) -> World:
        """Open a world; every row follows from the session seed."""
        return PgmWorld(_read(definition), options, seed)

    def judge(self, definition: Mapping[str, JSON], record: Record) -> Score:
        """Score a finished session."""
        from environments.pgm.judge import judge  # the doors that play import no judge

        return judge(_read(definition), record)

    def reference(self, definition: Mapping[str, JSON], options: Options) -> Policy:
        """Return the player that knows the truth."""
        return Reference(_read(definition))

    def null(self, options: Options) -> Policy:
        """Return the player that knows nothing."""
        return Guess()

    def null_bound(self, task: Task) -> NullBound | None:
        """Return how often guesses may be right, by the form of the answer."""
        form = task.brief["question"]["fields"]["form"]
        group = {"yes_no": "qual", "names": "lists", "label": "mediator labels"}.get(form, "choices")
        return _BOUNDS[group]

    def analyses(self, definition: Mapping[str, JSON], record: Record) -> Mapping[str, JSON]:
        """Return effort and the evidence ledger of one record."""
        from environments.pgm.analyses import analyses

        return analyses(_read(definition), record)

    @property
    def insiders(self) -> Mapping[str, Insider]:
        """Scripted players that need the sealed definition, by name."""
        return {"reference": self.reference}


def _read(definition: Mapping[str, JSON]) -> PgmDefinition:
    return PgmDefinition.model_validate(definition)


PGM = PgmFamily()
