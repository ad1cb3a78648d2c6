"""A new game is a small declaration."""

from __future__ import annotations

import inspect

from environments.checks import check_tasks
from environments.drone.build import build
from environments.drone.family import DRONE
from environments.drone.scenario import Archive, Habit, Scenario, Selection, Sign
from tests.environments.drone.games import KEY, Playing, open_game


def fifteenth() -> Scenario:
    return Scenario(
        name="antenna_trap_windy_season",
        family="antenna",
        trap="Storms are rarer here, and the archive holds few losses.",
        parameters={"clear_share": 0.1, "base_detection": 0.15},
        defaults={"antenna": 12.0},
        selection_bias=True,
        archive=Archive(
            size=120,
            habits=(Habit(part="antenna", ranges=((2, 30),)), Habit(part="wing", ranges=((5, 9), (30, 40)))),
            selection=Selection(part="antenna", low=0, high=20, survived=(0.1, 0.9), lost=(0.9, -0.85)),
            signs=(Sign(measure="correlation", column="antenna", sign=1),),
        ),
    )


def test_a_fifteenth_game_takes_25_lines() -> None:
    """A test declares a fifteenth scenario in at most 25 lines, builds it and plays it."""
    assert len(inspect.getsource(fifteenth).strip().splitlines()) <= 25
    (task,) = build({}, KEY, [fifteenth()])
    assert check_tasks([task], {"drone": DRONE}) == []
    play = Playing(open_game(task))
    history = play("get_history")["archive"]
    assert len(history) == 120
    found = play("deploy_drone", {"design": {"antenna_def": 0}, "count": 200})
    # 0.9 (1 - 0.045) + 0.1 (1 - p): about 0.87; 200 drones scatter by 0.024.
    assert 0.78 <= found["rate"] <= 0.96
    play("submit_final_design", {"design": {"antenna_def": 0}, "report": "Silence survives."})
    score = DRONE.judge(task.definition, play.session.record())
    assert score.passed == {"weak": True}
    assert task.link["scenario"] == "antenna_trap_windy_season"
