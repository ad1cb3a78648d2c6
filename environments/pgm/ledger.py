"""The evidence ledger, by rule: when did a session hold evidence that justifies the gold answer?

After each turn three questions are asked of everything shown so far. *Estimand*: were the arms drawn
that the question turns on? *Supports*: does the plug-in answer count as right? *Adequate*: is the
smallest margin it rests on more than two standard errors? A turn is strong when all three hold. An
annotator, such as a model, may fill the same fields.

Source: arXiv 2610.14381, section 4.1 (ledger fields); the rules are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from environments.pgm.definition import PgmDefinition
from environments.pgm.estimate import Margin, estimate, gains
from environments.pgm.evidence import Evidence
from environments.pgm.mark import is_accepted
from environments.pgm.phrase import phrase
from environments.pgm.question import CHOICES, LISTS
from environments.pgm.rules import accepted
from environments.pgm.tools import GIVE_UP, QUERY
from environments.task import JSON, Record

ERRORS = 2.0
"""Standard errors that a margin must exceed."""
ENOUGH_ROWS = 500
"""Ordinary records that a question about independence needs."""


@dataclass(frozen=True)
class Entry:
    """One turn of the ledger."""

    seq: int
    estimand: bool
    supports: bool
    adequate: bool

    @property
    def strong(self) -> bool:
        """Whether the evidence so far justifies the gold answer."""
        return self.estimand and self.supports and self.adequate


def ledger(definition: PgmDefinition, record: Record) -> list[Entry]:
    """Return one entry for each turn of a session, queries that failed included; giving up is none."""
    evidence = Evidence.of([variable.model_dump(mode="json") for variable in definition.variables])
    fields = phrase(definition)["fields"]
    entries: list[Entry] = []
    for event in record.events:
        if event.tool == GIVE_UP:
            continue
        if event.tool == QUERY and event.outcome == "succeeded":
            evidence.add(event.reply.data)
        elif entries:
            last = entries[-1]
            entries.append(Entry(event.seq, last.estimand, last.supports, last.adequate))
            continue
        entries.append(_entry(definition, fields, evidence, event.seq))
    return entries


def strong_turn(entries: Sequence[Entry]) -> int | None:
    """Return the number of the first strong turn, or None."""
    return next((number for number, entry in enumerate(entries) if entry.strong), None)


def entry_document(entry: Entry) -> dict[str, JSON]:
    """Return an entry as plain JSON."""
    return asdict(entry) | {"strong": entry.strong}


def _entry(definition: PgmDefinition, fields: Mapping[str, JSON], evidence: Evidence, seq: int) -> Entry:
    estimand = _estimand(definition, fields, evidence)
    found = estimate(fields, evidence)
    if found is None:
        return Entry(seq, estimand, False, False)
    supports = is_accepted(definition, found.answer)
    margins = [*found.margins, *_rivals(definition, fields, evidence)]
    return Entry(seq, estimand, supports, all(value > ERRORS * error for value, error in margins))


def _estimand(definition: PgmDefinition, fields: Mapping[str, JSON], evidence: Evidence) -> bool:
    kind = definition.question.kind
    if kind in CHOICES:
        return _choice_arms(definition, fields, evidence)
    if kind in LISTS:
        return _list_arms(definition, fields, evidence)
    if kind == "mediator":
        return _mediator_arms(definition, fields, evidence)
    if kind == "causal_effect":
        return _pair(evidence, fields["other"], fields["variable"])
    return evidence.rows({}) >= ENOUGH_ROWS


def _choice_arms(definition: PgmDefinition, fields: Mapping[str, JSON], evidence: Evidence) -> bool:
    """A gold arm, ordinary records or another state of its variable, and a rival, with the column needed."""
    tried = set(gains({k: v for k, v in fields.items() if k != "keep"}, evidence))
    keep = fields.get("keep")
    if keep is not None:
        tried = {action for action in tried if evidence.counts(keep, dict([action])) is not None}
    for node, state in definition.truth.best:
        variable = definition.variables[node]
        if (variable.name, variable.states[state]) not in tried:
            continue
        same = sum(name == variable.name for name, _ in tried) > 1
        reference = same or evidence.counts(fields["variable"]) is not None
        if reference and any(name != variable.name for name, _ in tried):
            return True
    return False


def _list_arms(definition: PgmDefinition, fields: Mapping[str, JSON], evidence: Evidence) -> bool:
    asked = fields["variable"]
    if fields["about"] == "downstream":
        return _pair(evidence, asked, None)
    gold = {definition.variables[node].name for node in definition.truth.nodes or ()}
    others = [name for name in definition.names if name not in gold and name != asked]
    seen = {name for name in definition.names if _pair(evidence, name, asked)}
    return gold <= seen and 2 * len(seen & set(others)) >= len(others)


def _mediator_arms(definition: PgmDefinition, fields: Mapping[str, JSON], evidence: Evidence) -> bool:
    """Both treatment arms; crossed with one held state, or two arms of the true carrier and of a rival."""
    outcome, cause = fields["variable"], fields["other"]
    if not _pair(evidence, cause, outcome):
        return False
    through = fields.get("through")
    if through is not None:
        crossed = [
            held
            for held in evidence.states(through)
            if sum(
                evidence.counts(outcome, {cause: state, through: held}) is not None
                for state in evidence.states(cause)
            )
            > 1
        ]
        return bool(crossed)
    carriers = {definition.variables[node].name for node in definition.truth.nodes or ()}
    seen = {
        name for name in definition.names if name not in (outcome, cause) and _pair(evidence, name, outcome)
    }
    return carriers <= seen and len(seen) > len(carriers)


def _pair(evidence: Evidence, cause: str, outcome: str | None) -> bool:
    """Whether two states of a variable were set, and the outcome (if one is named) was shown."""
    arms = [do for do in evidence.settings() if set(do) == {cause}]
    shown = [do for do in arms if outcome is None or evidence.counts(outcome, do) is not None]
    return len(shown) > 1


def _rivals(definition: PgmDefinition, fields: Mapping[str, JSON], evidence: Evidence) -> Iterator[Margin]:
    """Yield how far the best tried action lies ahead of the best one that would be wrong."""
    question, truth = definition.question, definition.truth
    if question.kind not in CHOICES or question.kind == "satisficing":
        return
    table = {effect.action: effect for effect in truth.effects}
    gold = [table[action] for action in truth.best]
    wrong = {
        (definition.variables[e.node].name, definition.variables[e.node].states[e.state])
        for e in truth.effects
        if not accepted(question, e, gold)
    }
    ranked = gains(fields, evidence)
    best = max((gain for action, gain in ranked.items() if action not in wrong), default=None)
    rival = max((gain for action, gain in ranked.items() if action in wrong), default=None)
    if best is not None and rival is not None:
        yield best[0] - rival[0], float((best[1] ** 2 + rival[1] ** 2) ** 0.5)
