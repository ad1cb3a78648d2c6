"""The promises of the benchmark, on every Historical card: who passes, who fails, and how exactly."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cards.document import tree_document
from cards.domain import contains
from cards.expression import Tree, bind
from cards.store import historical
from environments.checks import check_tasks, play
from environments.law.definition import LawDefinition
from environments.law.family import LAW
from environments.law.identification import mixtures
from environments.law.judge import normalised_errors
from environments.law.protocol import BUDGETS
from environments.task import JSON, Options, Score, Task
from tests.environments.examples import options, submit
from tests.environments.law.rewriting import constants, expanded, folded, reordered, scaled, shifted

KEY = bytes(range(32, 64))
IDS = [card.id for card in historical()]
MOST_WEAK_ONLY = 3


@cache
def tasks() -> dict[tuple[str, str, str], Task]:
    """Every Historical task by card, variant and setting."""
    built = LAW.build(historical(), {}, KEY)
    return {(t.link["card"], t.facets["variant"], t.row.setting): t for t in built}


def twins(card: str, setting: str = "discovery") -> list[Task]:
    """Return the original and the counterfactual."""
    return [tasks()[card, variant, setting] for variant in ("original", "counterfactual")]


def known(task: Task) -> LawDefinition:
    """Return the definition of a task."""
    return LawDefinition.model_validate(task.definition)


def judged(task: Task, trees: dict[str, Tree]) -> Score:
    """Return the score of some trees submitted at once."""
    predictor: JSON = {name: tree_document(tree) for name, tree in trees.items()}
    return LAW.judge(task.definition, submit(task, predictor))


def marks(score: Score) -> tuple[bool | None, bool | None]:
    """Return (weak, strict)."""
    return score.passed["weak"], score.passed["strict"]


def test_every_card_yields_four_tasks() -> None:
    """Each family is two twins in two settings, and the collection makes eighty tasks or more."""
    assert len(tasks()) == 4 * len(IDS) >= 80


def test_few_families_are_weak_only() -> None:
    """Exact recovery is asked for everywhere but in at most three families."""
    weak_only = {task.link["card"] for task in tasks().values() if task.facets["strict"] != "yes"}
    assert len(weak_only) <= MOST_WEAK_ONLY, weak_only


def test_the_gate_opens() -> None:
    """Reference full marks, null fails, twins apart, briefs alike: under every protocol of every task."""
    assert check_tasks(list(tasks().values())) == []


@pytest.mark.parametrize("card", IDS)
def test_a_rewritten_reference_stays_strict(card: str) -> None:
    """The truth expanded, reordered, or with its constants folded is still the truth."""
    for task in twins(card):
        definition = known(task)
        told, truth = definition.told_values(), definition.truth()
        for rewrite in (
            reordered,
            expanded,
            lambda tree, told=told: folded(tree, told),
            lambda tree, told=told: folded(expanded(reordered(tree)), told),
        ):
            score = judged(task, {name: rewrite(tree) for name, tree in truth.items()})
            assert score.passed == {"weak": True, "strict": True if definition.strict else None}, score
            assert score.headline == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("card", IDS)
def test_one_constant_off_by_3e_6_is_weak_and_not_strict(card: str) -> None:
    """Any single constant that is off by three millionths loses strict success and nothing else."""
    for task in twins(card):
        definition = known(task)
        truth = definition.truth()
        places = [(name, path) for name, tree in truth.items() for path in constants(tree)]
        assert places or task.facets["variant"] == "original"
        for name, path in places:
            score = judged(task, truth | {name: shifted(truth[name], path, 1 + 3e-6)})
            assert marks(score) == (True, False if definition.strict else None), (name, path, score)


@pytest.mark.parametrize("card", IDS)
def test_an_error_of_1_2_fails(card: str) -> None:
    """A largest normalised error of 1.2 fails, one of 0.8 passes weakly; the score is 1/(1 + mean e)."""
    for task in twins(card):
        definition = known(task)
        truth = definition.truth()
        unit = 1e-3
        errors = normalised_errors(definition, {name: scaled(tree, 1 + unit) for name, tree in truth.items()})
        for target, passes in ((1.2, False), (0.8, True)):
            factor = 1 + unit * target / float(np.max(errors))
            score = judged(task, {name: scaled(tree, factor) for name, tree in truth.items()})
            assert score.parts["max_e"] == pytest.approx(target, rel=1e-6)
            assert marks(score) == (passes, False if definition.strict else None)
            mean = float(np.mean(errors)) * target / float(np.max(errors))
            assert score.headline == pytest.approx(1 / (1 + mean), rel=1e-6)


@pytest.mark.parametrize("card", IDS)
def test_s_flipped_fails_everywhere(card: str) -> None:
    """Each relation has no weak success on its twin, in either setting."""
    for setting in ("discovery", "identification"):
        pair = twins(card, setting)
        for task, other in (pair, pair[::-1]):
            assert marks(judged(other, known(task).truth())) in ((False, False), (False, None))


@pytest.mark.parametrize("card", IDS)
@pytest.mark.parametrize("protocol", ["prior", "fixed:4", "adaptive"])
def test_perfect_memory(card: str, protocol: str) -> None:
    """Memory alone is strict on every original and fails on every counterfactual."""
    for task in (*twins(card), *twins(card, "identification")):
        opened = options(protocol, task.row.setting)
        player = LAW.insiders["perfect-memory"](task.definition, opened)
        score = LAW.judge(task.definition, play(LAW, task, opened, player))
        remembered = task.facets["variant"] == "original"
        assert marks(score) == (remembered, remembered if task.facets["strict"] == "yes" else None)


@pytest.mark.parametrize("card", IDS)
def test_one_preset_reading_tells_the_twins_apart(card: str) -> None:
    """With the candidates known, the first preset experiment decides between them."""
    pair = twins(card, "identification")
    readings = []
    for task in pair:
        session = LAW.open(task.definition, Options(setting="identification", protocol="fixed:1"), b"")
        readings.append(session.step("read_observations", {}).data["experiments"][0])
    assert readings[0]["inputs"] == readings[1]["inputs"]
    definition = known(pair[0])
    errors = [
        abs(readings[0]["observations"][item.name] - readings[1]["observations"][item.name])
        / (
            item.absolute_tolerance
            + definition.relative_tolerance * abs(readings[0]["observations"][item.name])
        )
        for item in definition.observables
    ]
    assert max(errors) > 2


@pytest.mark.parametrize("card", IDS)
def test_the_candidates_with_the_right_s_are_the_truth(card: str) -> None:
    """G with s put in is strict in the twin that s names, and fails in the other."""
    one, other = twins(card, "identification")
    unknown = one.brief["candidates"]["unknown"]
    for task, s, right in ((one, 0.0, True), (other, 1.0, True), (one, 1.0, False), (other, 0.0, False)):
        trees = {name: bind(tree, {unknown: s}) for name, tree in mixtures(known(task)).items()}
        assert marks(judged(task, trees)) == (right, right if known(task).strict else None)


@pytest.mark.parametrize("card", IDS)
def test_twins_share_everything_but_s(card: str) -> None:
    """Definitions differ in s alone: designs, hidden inputs, constants, trees and candidates are shared."""
    for setting in ("discovery", "identification"):
        one, other = twins(card, setting)
        assert {**one.definition, "s": 9} == {**other.definition, "s": 9}
        assert one.brief == other.brief
        assert one.seed == other.seed
        assert one.cluster == other.cluster
    assert twins(card)[0].definition == twins(card, "identification")[0].definition


@pytest.mark.parametrize("card", IDS)
def test_designs_lie_in_the_domain_and_nest(card: str) -> None:
    """Every preset of every budget is inside the domain, and smaller budgets are the larger's beginning."""
    task = twins(card)[0]
    domain = known(task).domain()
    batches = []
    for budget in BUDGETS:
        world = LAW.open(task.definition, Options(setting="discovery", protocol=f"fixed:{budget}"), b"")
        batches.append(world.step("read_observations", {}).data["experiments"])
    for budget, batch in zip(BUDGETS, batches, strict=True):
        assert batch == batches[-1][:budget]
        assert all(contains(domain, row["inputs"]) is None for row in batch)
