"""Faults of the game as it was first released, each with a test that it is not here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cards.errors import InputError
from environments.checks import play
from environments.drone.build import build, define
from environments.drone.definition import Budgets, DroneDefinition
from environments.drone.family import DRONE
from environments.drone.scenario import Scenario
from environments.drone.scenarios import SCENARIOS, scenario
from environments.drone.template import TEMPLATES
from environments.seeding import generator
from tests.environments.drone.games import KEY, REPORT, definition, games, open_game, options, playing


def test_1_unknown_names_are_errors() -> None:
    """A scenario, part, module or parameter that is not known is refused; nothing falls back to a default."""
    with pytest.raises(InputError, match="no game 'antenna_trap_hard'"):
        scenario("antenna_trap_hard")
    base = SCENARIOS["deployment_zone_trap_categorical"]
    with pytest.raises(InputError, match="no parameter 'sheild_effect'"):
        define(base.model_copy(update={"parameters": {"sheild_effect": 1.0}}), Budgets(), KEY)
    with pytest.raises(InputError, match="no part 'sheild'"):
        define(base.model_copy(update={"defaults": {"sheild": 1.0}}), Budgets(), KEY)
    with pytest.raises(InputError, match=r"drone\.dronse"):
        build({"dronse": 3}, KEY)


def test_1_every_game_can_be_won_and_the_default_wins_one() -> None:
    """The reference wins all fourteen; the default design loses all but antenna_trap_local_optima."""
    for name, task in games().items():
        for policy, wins in (
            (DRONE.reference(task.definition, options()), True),
            (DRONE.null(options()), name == "antenna_trap_local_optima"),
        ):
            score = DRONE.judge(task.definition, play(DRONE, task, options(), policy))
            assert score.passed == {"weak": wins}, name


def test_1_a_game_that_cannot_be_won_is_not_built() -> None:
    """A scenario whose best design misses the target, or whose default reaches it unasked, is refused."""
    base = SCENARIOS["deployment_zone_trap_categorical_no_history"]
    with pytest.raises(InputError, match="cannot be won"):
        define(base.model_copy(update={"parameters": {"reliability": 0.7}}), Budgets(), KEY)
    with pytest.raises(InputError, match="default design wins"):
        define(base.model_copy(update={"defaults": {"shield": 50.0}}), Budgets(), KEY)


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_2_the_declared_optimum_is_the_optimum(name: str) -> None:
    """Of 20,000 designs all over the design space none has a higher expectation than the stored one."""
    known = definition(name)
    template, parameters = known.template, known.parameters(2)
    rng = generator(b"all over the design space" + name.encode())
    best = 0.0
    for _ in range(20):
        columns = {part.name: rng.uniform(0, 50, 1000) for part in template.parts}
        # Half of the values lie at an end, where optima like to be.
        columns = {
            n: np.where(rng.random(1000) < 0.5, 50 * rng.integers(0, 2, 1000), v) for n, v in columns.items()
        }
        if template.modules:
            columns["module"] = rng.integers(0, 6, 1000).astype(float)
        best = max(best, float(template.model.expectation(columns, parameters).max()))
    assert best <= known.expected.optimum + 1e-6
    assert best > known.expected.optimum - 0.1


def test_3_the_mode_belongs_to_the_session() -> None:
    """A guarded and a free session of one game, opened together, keep their own rule to the end."""
    free, guarded = open_game("antenna_trap", options("prompting")), open_game("antenna_trap")
    submission = ("submit_final_design", {"design": {}, "report": REPORT}, "s")
    assert not guarded.call(*submission).ok
    assert free.call(*submission).ok
    later = open_game("antenna_trap")
    assert not later.call(*submission).ok


def test_4_everything_comes_from_a_seed() -> None:
    """A finished game is played again from its seed and actions, and its score comes out again."""
    task = games()["weather_noise"]
    policy = [DRONE.reference(task.definition, options()) for _ in range(2)]
    records = [play(DRONE, task, options(), one) for one in policy]
    assert records[0] == records[1]
    assert DRONE.judge(task.definition, records[0]) == DRONE.judge(task.definition, records[1])


def test_5_limits_are_enforced() -> None:
    """Neither drones, deployments, questions nor submissions go beyond what is declared."""
    play_game = playing("deployment_zone_trap_categorical")
    for _ in range(10):
        play_game("deploy_drone", {"design": {}, "count": 20})
    for args in ({"design": {}, "count": 1}, {"design": {}, "count": 200}):
        assert not play_game.session.call("deploy_drone", args, f"more {args['count']}").ok
    play_game("submit_final_design", {"design": {}, "report": REPORT})
    assert not play_game.session.call("submit_final_design", {"design": {}, "report": REPORT}, "again").ok


def test_6_the_archive_of_the_noise_game_is_noisy() -> None:
    """In the weather game no reading of an archive record is the true value."""
    play_game = playing("weather_noise")
    play_game("query_environment", {"text": "weather"})
    for record in play_game("get_history")["archive"]:
        clear = record["environment"]["weather_state"] == "clear"
        wind = record["environment"]["wind_kmh"]
        # True wind lies in [5, 25] or [50, 75]; with 20 % noise one storm flight in four leaves the range.
        assert wind < 60 if clear else wind > 0
    winds = [
        record["environment"]["wind_kmh"]
        for record in play_game("get_history")["archive"]
        if record["environment"]["weather_state"] == "storm"
    ]
    outside = np.mean([not 50 <= wind <= 75 for wind in winds])
    assert outside > 0.15


def test_7_a_restart_brings_back_the_same_game() -> None:
    """Events of one game are not taken for those of another: rebuilding notices it."""
    session = open_game("deployment_zone_trap_categorical")
    session.call("deploy_drone", {"design": {}, "count": 50}, "d")
    assert open_game("deployment_zone_trap_categorical", events=session.events).record() == session.record()
    with pytest.raises(ValueError, match="does not reproduce"):
        open_game("deployment_zone_trap_env_shift", events=session.events)


def test_8_rows_and_briefs_do_not_name_the_scenario() -> None:
    """What is public or told of a game holds no word of its name; ids are opaque and change with the key."""
    other = {task.link["scenario"]: task.row.id for task in build({}, b"o" * 32)}
    for name, task in games().items():
        text = json.dumps([task.row.model_dump(), task.brief]).casefold()
        assert name not in text
        assert "trap" not in text
        assert other[name] != task.row.id


def test_9_questions_are_answered_by_rule() -> None:
    """The same question gets the same answer, whatever was asked before and whoever asks."""
    one, other = playing("antenna_trap"), playing("antenna_trap", "prompting", 2)
    other("query_environment", {"text": "hello"})
    question = {"text": "Is there a RADAR?"}
    assert one("query_environment", question) == other("query_environment", question)


def test_definitions_are_whole() -> None:
    """A definition carries its scenario, so that nothing is looked up in a table when a game is opened."""
    task = games()["antenna_trap"]
    changed = json.loads(json.dumps(task.definition))
    changed["scenario"]["name"] = "a_name_that_no_table_knows"
    known = DroneDefinition.model_validate(changed)
    assert isinstance(known.scenario, Scenario)
    assert known.template is TEMPLATES["antenna"]
