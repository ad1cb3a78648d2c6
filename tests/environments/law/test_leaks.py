"""Nothing that a player sees tells the twins apart: on every Historical card, setting and protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from cards.canonical import canonical_json
from cards.document import tree_document
from cards.domain import points
from cards.infix import print_infix
from cards.store import historical
from environments.law.brief import SETTINGS
from environments.law.definition import VARIANTS, LawDefinition
from environments.law.family import LAW
from environments.law.oracle import quantise
from environments.law.protocol import PROTOCOLS
from environments.seeding import opaque_id
from environments.task import JSON, Options, Reply, Task
from tests.environments.conformance import FamilyConformance
from tests.environments.examples import completion, open_session, options

KEY = bytes(range(64, 96))
CARDS = {card.id: card for card in historical()}
PROPOSALS = 12
ORDERS = 40


class _Law(FamilyConformance):
    """Lends its ways of looking at a session."""

    family = LAW


@cache
def tasks() -> tuple[Task, ...]:
    """Every Historical task, in the order of the release."""
    return tuple(LAW.build(historical(), {}, KEY))


def twins(card: str, setting: str) -> list[Task]:
    """Return the original and the counterfactual."""
    found = {t.facets["variant"]: t for t in tasks() if t.link["card"] == card and t.row.setting == setting}
    return [found[variant] for variant in VARIANTS]


def known(task: Task) -> LawDefinition:
    """Return the definition of a task."""
    return LawDefinition.model_validate(task.definition)


def everywhere(card: str) -> Iterator[tuple[list[Task], Options]]:
    """Yield the twins under every setting and every protocol, all budgets included."""
    for setting in SETTINGS:
        for protocol in PROTOCOLS:
            yield twins(card, setting), Options(setting=setting, protocol=protocol)


def blank(value: JSON) -> JSON:
    """Return a document with its readings blanked: what is left must not depend on the twin."""
    if isinstance(value, dict):
        return {
            key: dict.fromkeys(item) if key == "observations" else blank(item) for key, item in value.items()
        }
    return [blank(item) for item in value] if isinstance(value, list) else value


def without_readings(reply: Reply) -> bytes:
    """Return the bytes of a reply but for its readings."""
    return canonical_json(blank(reply.model_dump(mode="json")))


@pytest.mark.parametrize("card", CARDS)
def test_briefs_tools_and_errors_are_the_same_bytes(card: str) -> None:
    """Twins tell the same, offer the same tools, and answer a battery of bad calls alike."""
    for both, opened in everywhere(card):
        one, other = (_Law().shown(task, opened) for task in both)
        assert one == other


@pytest.mark.parametrize("card", CARDS)
def test_nothing_hidden_is_shown(card: str) -> None:
    """No id, seed, link, cluster, title, variant or certificate stands in anything that is shown."""
    for both, opened in everywhere(card):
        text = _Law().shown(both[0], opened).decode("utf-8").lower()
        words = ["counterfactual", "mutation", "certificate", "eval_inputs", CARDS[card].title.lower()]
        for task in both:
            words += [task.seed, task.cluster, task.row.id, f'"{card}"']
        assert not [word for word in words if word in text]


@pytest.mark.parametrize("card", CARDS)
def test_a_discovery_brief_has_no_candidate(card: str) -> None:
    """Neither relation, nor the name of a constant that a mutation brought, nor a hidden one's value."""
    one = twins(card, "discovery")[0]
    definition, text = known(one), canonical_json(one.brief).decode("utf-8")
    for variant in VARIANTS:
        for tree in definition.truth(variant).values():
            assert canonical_json(tree_document(tree)).decode("utf-8") not in text
            assert print_infix(tree) not in text
    assert not [c.name for c in definition.constants if c.role != "hidden" and f'"{c.name}"' in text]
    assert "candidates" not in one.brief


@pytest.mark.parametrize("card", CARDS)
def test_readings_differ_in_their_values_alone(card: str) -> None:
    """Preset readings come at the same inputs, in the same shape, and with the digits of the instrument."""
    for both, opened in everywhere(card):
        if not opened.protocol.startswith("fixed"):
            continue
        replies = [open_session(task, opened).call("read_observations", {}, "a") for task in both]
        assert without_readings(replies[0]) == without_readings(replies[1])
        for task, reply in zip(both, replies, strict=True):
            measured = {item.name: item for item in known(task).observables}
            for row in reply.data["experiments"]:
                for name, value in row["observations"].items():
                    assert value == quantise(value, measured[name])


@pytest.mark.parametrize("card", CARDS)
def test_proposals_are_answered_alike(card: str) -> None:
    """An experiment that one twin carries out the other carries out too, at the same cost."""
    for setting in SETTINGS:
        both = twins(card, setting)
        names = [item.name for item in known(both[0]).observables]
        sessions = [open_session(task, options("adaptive", setting)) for task in both]
        for number, inputs in enumerate(_proposed(both[0])):
            args: JSON = {
                "hypotheses": [
                    {
                        "id": i,
                        "statement": f"it is {i}",
                        "confidence": 0.5,
                        "forecasts": dict.fromkeys(names, y),
                    }
                    for i, y in (("a", 0.0), ("b", 1e300))
                ],
                "inputs": inputs,
                "observables": names,
            }
            replies = [session.call("propose_experiment", args, f"p{number}") for session in sessions]
            assert without_readings(replies[0]) == without_readings(replies[1])
            assert replies[0].ok is (number < PROPOSALS)


def _proposed(task: Task) -> list[dict[str, float]]:
    """Return inputs of the domain, the last with one input out of it."""
    columns = points(known(task).domain(), PROPOSALS, seed=3)
    rows = [{name: float(column[i]) for name, column in columns.items()} for i in range(PROPOSALS)]
    name = next(iter(rows[0]))
    return [*rows, {**rows[0], name: 10 * known(task).inputs[0].high}]


@pytest.mark.parametrize("card", CARDS)
def test_a_completion_learns_nothing(card: str) -> None:
    """Right or wrong, textbook or not: every completion is acknowledged with the same bytes."""
    for setting in SETTINGS:
        both = twins(card, setting)
        seen = set()
        for task in both:
            for variant in VARIANTS:
                predictor = {n: tree_document(t) for n, t in known(task).truth(variant).items()}
                reply = open_session(task, options("prior", setting)).call(
                    "complete", completion(predictor), "c"
                )
                seen.add(canonical_json(reply.model_dump(mode="json")))
        assert len(seen) == 1


def test_public_rows_tell_nothing() -> None:
    """Ids are sixteen hexadecimal digits that alone differ in rows of one setting and give their order."""
    _Law().test_public_rows_tell_nothing(list(tasks()))
    assert all(re.fullmatch("[0-9a-f]{16}", task.row.id) for task in tasks())


def test_the_order_of_tasks_tells_nothing() -> None:
    """Originals come first as often as counterfactuals do, and settings are mixed, over many releases.

    Of 40 releases times 64 pairs of twins a fair order puts the original first in half, with a standard
    deviation of 0.0099; four of them are allowed. Ids hang on the key alone, so that no release is built.
    """
    first = []
    for number in range(ORDERS):
        ids = {
            (card, setting): [_id(number, card, variant, setting) for variant in VARIANTS]
            for card in CARDS
            for setting in SETTINGS
        }
        first += [one < other for one, other in ids.values()]
    assert abs(float(np.mean(first)) - 0.5) < 4 * 0.5 / np.sqrt(len(first))


def _id(number: int, card: str, variant: str, setting: str) -> str:
    return opaque_id(number.to_bytes(32, "big"), "law", card, variant, setting)


def test_ids_are_made_of_key_card_variant_and_setting() -> None:
    """The order that the test above looks at is that of the ids of a release."""
    for task in tasks():
        parts = (task.link["card"], task.facets["variant"], task.row.setting)
        assert task.row.id == opaque_id(KEY, "law", *parts)
