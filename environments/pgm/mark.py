"""Mark one answer against the truth.

Source: arXiv 2610.14381, section 4 (scoring) and appendix C.
"""

from __future__ import annotations

from environments.pgm.answer import read_action, read_names, read_verdict
from environments.pgm.definition import PgmDefinition
from environments.pgm.names import Names, QueryError
from environments.pgm.question import LISTS, YES_NO, Effect
from environments.pgm.rules import accepted
from environments.task import JSON, Score

FAILED: dict[str, bool | None] = {"weak": False, "strict": False}


def mark(definition: PgmDefinition, answer: JSON, parts: dict[str, float]) -> Score:
    """Score an answer of good form.

    Weak: accepted, ties included. Strict: equal to the gold answer. The headline is 1 for an accepted
    answer, and F1 for a list. ``invalid``: it names what is not there or may not be set.

    Args:
        definition: the task.
        answer: what was answered.
        parts: what else is known of the session; the score's own parts join it.
    """
    try:
        return _mark(definition, answer, parts)
    except QueryError as error:
        return Score(status="invalid", passed=FAILED, parts=parts, findings=(str(error),))


def is_accepted(definition: PgmDefinition, answer: JSON) -> bool:
    """Return whether an answer of good form would be accepted."""
    return mark(definition, answer, {}).passed["weak"] is True


def _mark(definition: PgmDefinition, answer: JSON, parts: dict[str, float]) -> Score:
    question, truth = definition.question, definition.truth
    names = Names(definition.variables)
    if question.kind in YES_NO:
        said = read_verdict(answer)
        return _exact(said == truth.verdict, parts | {"said_yes": float(said)})
    if question.kind in LISTS:
        assert truth.nodes is not None
        return _list(read_names(answer, names), frozenset(truth.nodes), parts)
    if question.kind == "mediator":
        right = answer == truth.label if truth.label else (names.node(answer),) == truth.nodes
        return _exact(bool(right), parts)
    if question.kind == "invalid":
        return _premise(definition, answer, parts)
    action = read_action(answer, names)
    return _choice(_accepted(definition, action), action in truth.best, parts)


def _premise(definition: PgmDefinition, answer: JSON, parts: dict[str, float]) -> Score:
    """A rejection with the best alternative; a rejection alone where there is none."""
    best, alternative = definition.truth.best, answer.get("alternative")
    parts = parts | {"rejected": float(answer["reject"])}
    if not answer["reject"]:
        return _choice(False, False, parts)
    if alternative is None:
        return _choice(not best, not best, parts)
    action = read_action(alternative, Names(definition.variables))
    return _choice(_accepted(definition, action), action in best, parts)


def _accepted(definition: PgmDefinition, action: tuple[int, int]) -> bool:
    table: dict[tuple[int, int], Effect] = {effect.action: effect for effect in definition.truth.effects}
    gold = [table[best] for best in definition.truth.best]
    return action in table and accepted(definition.question, table[action], gold)


def _choice(right: bool, exact: bool, parts: dict[str, float]) -> Score:
    return _score_of(float(right), right, right and exact, parts)


def _exact(right: bool, parts: dict[str, float]) -> Score:
    return _score_of(float(right), right, right, parts)


def _list(said: frozenset[int], gold: frozenset[int], parts: dict[str, float]) -> Score:
    right = said == gold
    f1 = 1.0 if right else 2 * len(said & gold) / (len(said) + len(gold))
    return _score_of(f1, right, right, parts | {"f1": f1})


def _score_of(headline: float, weak: bool, strict: bool, parts: dict[str, float]) -> Score:
    return Score(
        status="scored",
        headline=headline,
        passed={"weak": weak, "strict": strict},
        parts=parts,
        protocol_ok=True,
    )
