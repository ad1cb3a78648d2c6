"""Run the certificates of a release's pairs again: definition and card are all that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cards.card import Card
from cards.finding import Finding
from environments.law.certificates import certify
from environments.law.definition import Certificate, LawDefinition
from environments.task import Task


def recertify(tasks: Sequence[Task], materials: Sequence[Card]) -> list[Finding]:
    """Return a finding for every certificate that comes out otherwise than the definition says.

    Twins and settings of one card share a definition but for ``s``; each distinct one is checked once.
    The outcomes are compared, not the figures, whose last digits differ between machines.
    """
    cards = {card.id: card for card in materials}
    done: dict[str, list[LawDefinition]] = {}
    findings: list[Finding] = []
    for task in tasks:
        card = cards.get(str(task.link.get("card")))
        if card is None:
            findings.append(_finding(task, f"its card {task.link.get('card')!r} is not in the release"))
            continue
        definition = LawDefinition.model_validate(task.definition).model_copy(update={"s": 0})
        if definition not in done.setdefault(card.id, []):
            done[card.id].append(definition)
            again = certify(card, definition, materials)
            findings.extend(_finding(task, text) for text in _differences(definition, again))
    return findings


def _differences(definition: LawDefinition, again: Sequence[Certificate]) -> Iterator[str]:
    said = {item.name: item.passed for item in definition.certificates}
    found = {item.name: item.passed for item in again}
    for name in {**said, **found}:
        if said.get(name) != found.get(name):
            yield f"{name} is said to be {_word(said.get(name))} and comes out {_word(found.get(name))}"
    if definition.strict != found.get("recoverable", False):
        yield "its strictness is not what the checks say"
    if (definition.pair_class == "structural") != found.get("structural", False):
        yield "its class is not what the checks say"


def _word(passed: bool | None) -> str:
    return {True: "passed", False: "failed", None: "unmade"}[passed]


def _finding(task: Task, message: str) -> Finding:
    return Finding(check="certificates", path=task.row.id, message=message)
