"""Every Historical task, under every protocol, through the HTTP agent door: who passes and who fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import numpy as np
import pytest

from api.agent_app import agent_app
from api.agent_client import AgentSeat
from api.sessions import Sessions
from api.store import Opening, Store
from cards.document import tree_document
from cards.expression import Tree
from environments.law.definition import LawDefinition
from environments.law.family import LAW
from environments.law.judge import normalised_errors
from environments.seeding import session_seed
from environments.task import Options, Reply, Score, Task
from tests.api.doors import Shelf, now, served
from tests.environments.law.rewriting import constants, expanded, folded, reordered, scaled, shifted
from tests.environments.law.test_historical import tasks

PROTOCOLS = ("prior", "fixed:4", "adaptive")
ADAPTIVE_FIRST = [
    "adaptive",
    pytest.param("prior", marks=pytest.mark.nightly),
    pytest.param("fixed:4", marks=pytest.mark.nightly),
]
"""The judge is the same under every protocol, so the suite plays wrong answers under one only."""
Trees = dict[str, Tree]
pytestmark = pytest.mark.slow


@dataclass
class Door:
    """An agent door over all Historical tasks."""

    shelf: Shelf
    store: Store
    url: str

    def open(self, task: Task, protocol: str) -> tuple[str, str]:
        """Create an episode as the curator door does, and return its id and token."""
        options = Options(setting=task.row.setting, protocol=protocol)
        seed = session_seed(bytes.fromhex(task.seed), options.setting, protocol, 0)
        opening = Opening(self.shelf.version, self.shelf.manifest_sha256, task.row.id, options, seed)
        return self.store.create_episode(opening, now())

    def play(self, task: Task, protocol: str, trees: Trees | None = None, knows: str = "reference") -> Score:
        """Play one episode with an insider, its predictor replaced by ``trees``, and judge the record."""
        identity, token = self.open(task, protocol)
        policy = LAW.insiders[knows](task.definition, Options(setting=task.row.setting, protocol=protocol))
        seat = AgentSeat(self.url, token)
        policy.start(seat.brief, seat.tools)
        last: Reply | None = None
        number = 0
        while not seat.done and (action := policy.act(last)) is not None:
            tool, args = action
            if tool == "complete" and trees is not None:
                args = {**args, "predictor": {name: tree_document(tree) for name, tree in trees.items()}}
            last = seat.call(tool, args, f"step-{number}")
            number += 1
        seat.close()
        episode = self.store.episode(identity)
        assert episode is not None
        record = Sessions(self.store, lambda _: self.shelf).rebuild(episode).record()  # type: ignore[arg-type, return-value]
        return LAW.judge(task.definition, record)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    shelf = Shelf(list(tasks().values()))
    store = Store(tmp_path_factory.mktemp("door") / "service.db")
    with served(agent_app(store, lambda _: shelf, now)) as url:  # type: ignore[arg-type, return-value]
        yield Door(shelf, store, url)
    store.close()


def _strict(task: Task, *, right: bool) -> dict[str, bool | None]:
    return {"weak": True, "strict": right if task.facets["strict"] == "yes" else None}


def _rewritten(known: LawDefinition) -> Trees:
    told = known.told_values()
    return {name: folded(expanded(reordered(tree)), told) for name, tree in known.truth().items()}


def _off(known: LawDefinition) -> Trees | None:
    """The truth with its first constant off by three millionths; None where it has no constant."""
    truth = known.truth()
    place = next(((name, path) for name, tree in truth.items() for path in constants(tree)), None)
    return None if place is None else truth | {place[0]: shifted(truth[place[0]], place[1], 1 + 3e-6)}


def _wrong(known: LawDefinition) -> Trees:
    """The truth with everything scaled until the largest normalised error is 1.2."""
    truth, unit = known.truth(), 1e-3
    errors = normalised_errors(known, {name: scaled(tree, 1 + unit) for name, tree in truth.items()})
    factor = 1 + unit * 1.2 / float(np.max(errors))
    return {name: scaled(tree, factor) for name, tree in truth.items()}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_reference_and_its_rewriting_are_strict(door: Door, protocol: str) -> None:
    """As it is, and expanded, reordered and folded, the truth scores 1.0 and strict on every task."""
    for task in door.shelf.held:
        known = LawDefinition.model_validate(task.definition)
        plain = door.play(task, protocol)
        assert (plain.headline, plain.passed) == (1.0, _strict(task, right=True)), task.link
        again = door.play(task, protocol, _rewritten(known))
        assert again.passed == _strict(task, right=True), task.link
        assert again.headline == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("protocol", ADAPTIVE_FIRST)
@pytest.mark.parametrize("change", [_off, _wrong])
def test_a_constant_off_is_weak_and_a_large_error_fails(
    door: Door, protocol: str, change: Callable[[LawDefinition], Trees | None]
) -> None:
    """One constant off by 3e-6 is weak and not strict; a largest error of 1.2 fails."""
    for task in door.shelf.held:
        trees = change(LawDefinition.model_validate(task.definition))
        if trees is None:
            assert task.facets["variant"] == "original"
            continue
        score = door.play(task, protocol, trees)
        if change is _off:
            assert score.passed == _strict(task, right=False), task.link
        else:
            assert score.passed["weak"] is False, task.link


@pytest.mark.parametrize("protocol", ADAPTIVE_FIRST)
def test_s_flipped_fails_and_memory_knows_originals_only(door: Door, protocol: str) -> None:
    """The twin's relation fails on every task; perfect memory is strict on originals and nowhere else."""
    for task in door.shelf.held:
        known = LawDefinition.model_validate(task.definition)
        other: Any = "counterfactual" if task.facets["variant"] == "original" else "original"
        assert door.play(task, protocol, known.truth(other)).passed["weak"] is False, task.link
        remembered = door.play(task, protocol, knows="perfect-memory").passed
        if task.facets["variant"] == "original":
            assert remembered == _strict(task, right=True)
        else:
            assert remembered["weak"] is False


def test_all_twins_answer_with_equal_bytes(door: Door) -> None:
    """Brief, tools, headers and every refusal of twins are byte-equal; only the token differs."""
    pairs: dict[tuple[str, str], list[Task]] = {}
    for (card, _, setting), task in tasks().items():
        pairs.setdefault((card, setting), []).append(task)
    bodies = [
        b'{"tool": "nope", "args": {}}',
        b'{"tool": "complete", "args": {}}',
        b'{"tool": "propose_experiment", "args": {"inputs": {}}}',
        b'{"tool": "read_observations", "args": {"x": 1}}',
        b"[",
    ]
    with httpx2.Client(base_url=door.url, trust_env=False) as client:
        for twins in pairs.values():
            for protocol in PROTOCOLS:
                seen = []
                for task in twins:
                    bearer = {"Authorization": f"Bearer {door.open(task, protocol)[1]}"}
                    answers = [client.get("/v1/episode", headers=bearer)]
                    for number, body in enumerate(bodies):
                        headers = {**bearer, "Idempotency-Key": str(number)}
                        answers.append(client.post("/v1/actions", content=body, headers=headers))
                    seen.append([(a.status_code, a.content, sorted(a.headers.items())) for a in answers])
                assert len(seen) == 2
                assert seen[0] == seen[1]
