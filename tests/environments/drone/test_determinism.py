"""Equal seeds and actions give equal bytes; sessions do not know of one another."""

from __future__ import annotations

import itertools

import pytest

from cards.canonical import canonical_json
from environments.drone.judge import stage_two
from environments.session import Session
from environments.task import JSON, Record
from tests.environments.drone.games import REPORT, definition, open_game, options

ACTIONS: list[tuple[str, JSON]] = [
    ("get_history", {}),
    ("deploy_drone", {"design": {"antenna_def": 3}, "count": 40}),
    ("query_environment", {"text": "weather"}),
    ("deploy_drone", {"design": {"engine_def": 77}}),
    ("deploy_drone", {"design": {"gun_def": 36}, "count": 25}),
    ("get_history", {}),
    ("run_analysis", {"statistic": "mean", "by": "wind_kmh"}),
    ("submit_final_design", {"design": {"antenna_def": 0}, "report": REPORT}),
]
NAMES = ("antenna_trap", "antenna_trap_local_optima", "weather_noise")


def play_all(session: Session) -> Record:
    for number, (tool, args) in enumerate(ACTIONS):
        session.call(tool, args, f"a{number}")
    return session.record()


def raw(record: Record) -> bytes:
    return canonical_json(record.model_dump())


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_and_actions_are_bit_identical(name: str) -> None:
    """Two sessions of one slot with the same actions leave the same bytes."""
    assert raw(play_all(open_game(name))) == raw(play_all(open_game(name)))


def test_repetitions_and_protocols_differ() -> None:
    """Other repetitions and protocols have fleets of their own."""
    seen = {
        raw(play_all(open_game("antenna_trap", options(protocol, repetition))))
        for protocol in ("agentic", "prompting")
        for repetition in range(3)
    }
    assert len(seen) == 6


def test_interleaved_sessions_do_not_influence_each_other() -> None:
    """Sessions of several games, played in turns, go as each would alone."""
    alone = [raw(play_all(open_game(name))) for name in NAMES]
    together = [open_game(name) for name in NAMES]
    for number, (tool, args) in enumerate(ACTIONS):
        for session in together:
            session.call(tool, args, f"a{number}")
    assert [raw(session.record()) for session in together] == alone


@pytest.mark.parametrize("cut", range(len(ACTIONS) + 1))
def test_a_restart_in_the_middle_changes_nothing(cut: int) -> None:
    """A session rebuilt from its stored events goes on as if it had never been away."""
    whole = play_all(open_game("weather_noise"))
    session = open_game("weather_noise")
    for number, (tool, args) in enumerate(ACTIONS[:cut]):
        session.call(tool, args, f"a{number}")
    stored = Record.model_validate_json(raw(session.record()))
    again = open_game("weather_noise", events=stored.events)
    for number, (tool, args) in list(enumerate(ACTIONS))[cut:]:
        again.call(tool, args, f"a{number}")
    assert raw(again.record()) == raw(whole)


def test_a_deployment_depends_on_its_number_alone() -> None:
    """Reading, asking and being refused between deployments do not move the dice."""
    plain, busy = open_game("antenna_trap"), open_game("antenna_trap")
    numbers = itertools.count()
    for design in ({"antenna_def": 5}, {"antenna_def": 0}):
        args = {"design": design, "count": 50}
        for tool, more in ACTIONS[:1] + ACTIONS[2:4] + ACTIONS[6:7]:
            busy.call(tool, more, f"n{next(numbers)}")
        one = plain.call("deploy_drone", args, f"d{next(numbers)}").data
        other = busy.call("deploy_drone", args, f"d{next(numbers)}").data
        assert [r["survived"] for r in one["records"]] == [r["survived"] for r in other["records"]]
        assert [r.get("hp") for r in one["records"]] == [r.get("hp") for r in other["records"]]


def test_stage_two_does_not_depend_on_stage_one() -> None:
    """The final fleet is fixed by the slot and the design; nothing done before changes it."""
    known = definition("antenna_trap")
    from environments.drone.family import DRONE
    from tests.environments.drone.games import games

    scores = []
    for deployments in (1, 4):
        session = open_game("antenna_trap")
        for number in range(deployments):
            session.call("deploy_drone", {"design": {}, "count": 10}, f"d{number}")
        session.call("submit_final_design", {"design": {"antenna_def": 2}, "report": REPORT}, "s")
        scores.append(DRONE.judge(games()["antenna_trap"].definition, session.record()).headline)
    build = known.default().model_copy(update={"parts": known.default().parts | {"antenna": 2.0}})
    assert scores == [stage_two(known, options(), build)] * 2
