"""The set of a release: sizes, balance, uniqueness, words, traps, and two ways to every truth."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from cards.canonical import canonical_json
from cards.errors import InputError
from environments.pgm.build import Sizes, build, places, true_of
from environments.pgm.confirm import confirm
from environments.pgm.derive import derive
from environments.pgm.family import PGM
from environments.pgm.oracle import EliminationOracle
from environments.pgm.question import CHOICES, Truth
from environments.pgm.rules import accepted_share
from environments.pgm.unique import fingerprint
from environments.pgm.validate import misleads
from environments.seeding import derive as derive_seed
from environments.task import Task
from tests.environments.pgm.sets import KEY, SMALL, definition, full_set, one, small_set


def worlds(tasks: tuple[Task, ...]) -> dict[str, list[Task]]:
    """Tasks by world."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.cluster, []).append(task)
    return found


def marks(tasks: tuple[Task, ...]) -> list[str]:
    """One fingerprint for each world of a set."""
    found = []
    for group in worlds(tasks).values():
        known = [definition(task) for task in group]
        found.append(fingerprint(known[0].world, [d.question for d in known], [d.truth for d in known]))
    return found


def test_the_set_has_the_papers_sizes() -> None:
    """CORE: 60 lists and 24 decisions of each archetype; QUAL: 50 yes/no of each type; 330 in all."""
    count = Counter((task.row.setting, task.facets["variant"]) for task in full_set())
    decisions = {("core_decision", name): 24 for name in (*CHOICES, "mediator")}
    lists = {("core_list", name): 30 for name in ("all_causes_of", "all_effects_of")}
    qual = {("qual", name): 50 for name in ("causal_effect", "marginal", "conditional")}
    assert count == decisions | lists | qual
    kinds = Counter(task.facets["kind"] for task in full_set() if task.facets["variant"] == "mediator")
    assert set(kinds.values()) == {6}
    sizes = Counter(len(group) for group in worlds(full_set()).values())
    assert sizes == {1: 120, 2: 30, 5: 30}


def test_yes_and_no_are_balanced() -> None:
    """Within each type half of the gold answers are yes."""
    count = Counter((t.facets["variant"], t.answer) for t in full_set() if t.row.setting == "qual")
    assert set(count.values()) == {25}


def test_no_two_worlds_are_alike_within_a_set_and_between_five_seeds() -> None:
    """No fingerprint (graph, cards, gold answer, effects to 0.01) repeats: a whole set, a third of four more.

    The benchmark does the same with five whole sets.
    """
    keys = [derive_seed(KEY, "another", str(number)) for number in range(4)]
    sizes = {"decisions": 8, "list_worlds": 10, "qual_worlds": 10}
    others = [tuple(build(sizes, key)) for key in keys]
    everything = [mark for tasks in (full_set(), *others) for mark in marks(tasks)]
    assert len(everything) == 180 + 4 * 60
    assert len(set(everything)) == len(everything)


def test_words_repeat_as_little_as_they_must() -> None:
    """No variable name in more than two worlds, no (setting, target) twice, topics and settings evenly."""
    known = [definition(group[0]) for group in worlds(full_set()).values()]
    names = Counter(name for d in known for name in d.names)
    assert max(names.values()) <= 2
    places_of = [(d.scenario.split(".")[0], d.variables[d.question.outcome].name) for d in known]
    assert len(set(places_of)) == len(places_of)
    topics = Counter(d.topic for d in known)
    assert len(topics) == 8
    assert max(topics.values()) - min(topics.values()) <= 1


def test_a_random_legal_answer_is_rarely_right() -> None:
    """By exact count: below 0.10 in every world of a choice, and above nothing."""
    for task in full_set():
        if task.facets["variant"] in CHOICES:
            known = definition(task)
            assert 0 < accepted_share(known.question, known.truth.effects) < 0.10


def test_half_of_the_choices_are_traps() -> None:
    """In worlds marked as traps the best passive contrast is wrong; half of each archetype are marked."""
    for archetype in CHOICES:
        group = [t for t in full_set() if t.facets["variant"] == archetype]
        trapped = [t for t in group if t.facets["trap"] == "yes"]
        assert len(trapped) == 12
        for task in trapped:
            known = definition(task)
            assert misleads(known.question, known.truth, EliminationOracle(known.world))


def test_definitions_hold_their_truth() -> None:
    """What a definition stores is what its world says when it is asked again, by either way."""
    for group in worlds(full_set()).values():
        known = [definition(task) for task in group]
        assert confirm(known[0].world, [d.question for d in known], [d.truth for d in known])
        for d in known[:1]:
            assert derive(d.question, EliminationOracle(d.world)).best == d.truth.best


def test_a_disagreement_of_the_two_ways_stops_the_build() -> None:
    """A gold answer that the joint does not confirm is an error, whatever kind it is of."""
    wrong: dict[str, Any] = {}
    for task in small_set():
        known = definition(task)
        truth = known.truth
        if truth.effects:
            first = truth.effects[0].model_copy(update={"improvement": truth.effects[0].improvement + 1e-6})
            false = truth.model_copy(update={"effects": (first, *truth.effects[1:])})
        elif truth.verdict is not None:
            false = Truth(verdict=not truth.verdict)
        elif truth.label is not None:
            false = Truth(label="nonsense")
        else:
            false = Truth(nodes=(truth.nodes or ())[1:])
        wrong[known.question.kind] = (known, false)
    assert len(wrong) == 10
    for known, false in wrong.values():
        with pytest.raises(InputError, match="two ways"):
            confirm(known.world, [known.question], [false])


def test_the_gate_asks_again() -> None:
    """A stored truth that was altered after the build is a finding that names the task."""
    assert list(PGM.recertify(small_set(), ())) == []
    task = next(t for t in small_set() if t.row.setting == "qual")
    verdict = not task.definition["truth"]["verdict"]
    altered = task.definition | {"truth": task.definition["truth"] | {"verdict": verdict}}
    found = PGM.recertify([task.model_copy(update={"definition": altered})], ())
    assert [(finding.check, finding.path) for finding in found] == [("second_way", task.row.id)]


def test_a_world_too_large_for_the_second_way_is_passed_over() -> None:
    """No world enters whose joint cannot be written out, or whose elimination exceeds its cap."""
    known = definition(one("safety"))
    assert not confirm(known.world, [known.question], [known.truth], cells=4)
    assert true_of(known.world, [known.question]) == [known.truth]
    assert true_of(known.world, [known.question], cap=2) is None


def test_the_build_depends_on_the_key_alone() -> None:
    """Equal keys give equal bytes, also in another order of building; other keys share no world."""
    again = build(SMALL, KEY)
    assert [canonical_json(t.model_dump()) for t in again] == [
        canonical_json(t.model_dump()) for t in small_set()
    ]
    other = tuple(build(SMALL, b"o" * 32))
    assert not set(marks(small_set())) & set(marks(other))


def test_unknown_settings_are_refused() -> None:
    """A misspelt setting of the section is an error, not a default."""
    with pytest.raises(TypeError, match="decision_worlds"):
        build({"decision_worlds": 3}, KEY)


def test_traps_are_spread_evenly() -> None:
    """Any share of traps is kept to within one world, for every archetype of choices."""
    for share in (0.0, 0.3, 0.5, 1.0):
        found = Counter(p.archetype for p in places(Sizes(trap_share=share)) if p.trap)
        assert all(abs(found[archetype] - 24 * share) <= 1 for archetype in CHOICES)
        assert found["mediator"] == 0


def test_public_rows_tell_nothing() -> None:
    """All rows of a setting are equal but for their id; ids and clusters are opaque."""
    rest = {canonical_json(t.row.model_dump(exclude={"id", "setting"})) for t in full_set()}
    assert len(rest) == 1
    assert {t.row.setting for t in full_set()} == {"core_list", "core_decision", "qual"}
