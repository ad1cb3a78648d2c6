"""The drone games through the agent door: who wins, restarts, and what the bytes say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from api.agent_app import agent_app
from api.agent_client import AgentSeat
from api.store import Opening, Store
from environments.drone.family import DRONE
from environments.family import Policy
from environments.seeding import session_seed
from environments.task import Options, Reply, Score, Task
from tests.api.doors import Shelf, now, served
from tests.environments.drone.games import REPORT, games

REPETITIONS = 5
NAMES = sorted(games())


class Hall:
    """An agent door over the fourteen games, and the store behind it."""

    def __init__(self, store: Store, url: str, shelf: Shelf) -> None:
        self.store, self.url, self.shelf = store, url, shelf

    def open(self, task: Task, options: Options) -> tuple[str, str]:
        """Create an episode; return (episode, token)."""
        seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
        opening = Opening(self.shelf.version, self.shelf.manifest_sha256, task.row.id, options, seed)
        return self.store.create_episode(opening, now())

    def play(self, task: Task, options: Options, policy: Policy) -> Score:
        """Play one episode over HTTP and judge what is stored of it."""
        identity, token = self.open(task, options)
        seat = AgentSeat(self.url, token)
        try:
            policy.start(seat.brief, seat.tools)
            last: Reply | None = None
            for number in range(100):
                action = None if last is not None and last.done else policy.act(last)
                if action is None:
                    break
                last = seat.call(*action, key=f"d{number}")
        finally:
            seat.close()
        return DRONE.judge(task.definition, self.record(task, options, identity))

    def record(self, task: Task, options: Options, identity: str):  # type: ignore[no-untyped-def]
        """Return the record of a stored episode."""
        from environments.session import Session

        seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
        world = DRONE.open(task.definition, options, seed)
        return Session(world, options, self.store.events(identity)).record()


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    store = Store(tmp_path_factory.mktemp("drone") / "service.db")
    shelf = Shelf(sorted(games().values(), key=lambda task: task.row.id))
    with served(agent_app(store, lambda _: shelf, now)) as url:  # type: ignore[arg-type, return-value]
        yield Hall(store, url, shelf)
    store.close()


@pytest.mark.parametrize("name", NAMES)
def test_reference_and_null_through_the_door(hall: Hall, name: str) -> None:
    """Over 5 repetitions the reference always wins; the default design never, but in the one game made so.

    Both follow from the exact expectations: the optimum lies at least 4 standard deviations of a fleet
    above the target, the default as far below it. In antenna_trap_local_optima the default's 78.3 % wins
    a single fleet with probability .995, and these five are fixed by their seeds.
    """
    task = games()[name]
    for repetition in range(REPETITIONS):
        options = Options(setting="survival", protocol="agentic", repetition=repetition)
        assert hall.play(task, options, DRONE.reference(task.definition, options)).passed == {"weak": True}
        lost = hall.play(task, options, DRONE.null(options))
        assert lost.status == "scored"
        assert lost.passed == {"weak": name == "antenna_trap_local_optima"}


def test_a_restart_of_the_door_changes_nothing(hall: Hall, tmp_path: Path) -> None:
    """An episode that goes on at another door over the same store is the episode that it was."""
    task = games()["weather_noise"]
    options = Options(setting="survival", protocol="agentic", repetition=7)
    calls = [
        ("deploy_drone", {"design": {"antenna_def": 8}, "count": 30}),
        ("query_environment", {"text": "weather"}),
        ("deploy_drone", {"design": {"antenna_def": 40}, "count": 30}),
        ("get_history", {}),
        ("submit_final_design", {"design": {"antenna_def": 8, "engine_def": 50}, "report": REPORT}),
    ]
    whole, _ = records = hall.open(task, options), hall.open(task, options)
    seat = AgentSeat(hall.url, whole[1])
    for number, (tool, args) in enumerate(calls):
        assert seat.call(tool, args, key=f"r{number}").ok
    seat.close()
    for number, (tool, args) in enumerate(calls):
        door = agent_app(hall.store, lambda _: hall.shelf, now)  # type: ignore[arg-type, return-value]
        with served(door) as url:
            seat = AgentSeat(url, records[1][1])
            assert seat.call(tool, args, key=f"r{number}").ok
            seat.close()
    found = [hall.record(task, options, identity) for identity, _ in records]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_door_does_not_name_the_game(hall: Hall, name: str) -> None:
    """No byte of any answer holds the scenario's name or its trap."""
    task = games()[name]
    _, token = hall.open(task, Options(setting="survival", protocol="prompting"))
    calls = [
        ("get_status", {}), ("get_history", {}), ("get_action_space", {}), ("get_all_environments", {}),
        ("query_environment", {"text": "weather zone forecast"}),
        ("deploy_drone", {"design": {}, "count": 40}),
        ("deploy_drone", {"design": {"nothing": 1}}), ("run_analysis", {"statistic": "mean"}),
        ("submit_final_design", {"design": {}, "report": REPORT}),
    ]  # fmt: skip
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(trust_env=False, headers=headers) as client:
        texts = [client.get(f"{hall.url}/v1/episode").text]
        for number, (tool, args) in enumerate(calls):
            texts.append(
                client.post(
                    f"{hall.url}/v1/actions",
                    json={"tool": tool, "args": args},
                    headers={"Idempotency-Key": f"n{number}"},
                ).text
            )
    text = "".join(texts).casefold()
    assert '"accepted"' in text
    assert not [
        word for word in (name, "trap", "paradox", "weather_noise", "survival_chance") if word in text
    ]
