"""kill -9 in the middle of a world, a game and an organism: no journalled reply is bought again."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from environments.task import Task
from evaluation.score import read_rows
from tests.evaluated_workspace import almanac, command, make_workspace
from tests.evaluation.stand_in import StandIn, one_of_each_setting
from tests.fakes.model_server import Ask, Fault, ModelServer
from tests.mini_release import VERSION
from tests.scenarios.test_kills_evaluation import PACE_SECONDS, journalled, kill_at, rows_of, settle

pytestmark = pytest.mark.slow

PLAYED = {"pgm": "core_decision", "drone": "survival", "organism": "diseased-medium"}
MOMENTS = (1, 3, 6, 9, 12)
"""Replies on disk when the process is killed; with two episodes at a time each lies inside one."""


@dataclass(frozen=True)
class Scene:
    """A workspace, the model, and what an undisturbed evaluation comes to."""

    workspace: Path
    model: StandIn
    rows: dict[str, str]
    purchases: Counter[str]


def chosen() -> list[Task]:
    """Return one task of each family, each of which takes several replies."""
    return [task for name in PLAYED for task in one_of_each_setting(name) if task.row.setting == PLAYED[name]]


def words(server: ModelServer) -> list[str]:
    model = ["--model", "fake/m", "--base-url", server.base_url, "--reps", "1", "--concurrency", "2"]
    return ["evaluate", "--release", VERSION, *model]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Three tasks under all their protocols, played to the end once."""
    folder = tmp_path_factory.mktemp("kills")
    model = StandIn.of(chosen())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALMANAC_CONFIG_HOME", str(folder / "config"))
        workspace = make_workspace(folder / "workspace", (), chosen())
        with ModelServer(model) as server:
            done = almanac(*words(server), "--json", workspace=workspace)
            assert done.returncode == 0, done.stderr
            run = Path(json.loads(done.stdout)["folder"])
            assert {row.passed["weak"] for row in read_rows(run)} == {True}
            yield Scene(workspace, model, rows_of(run), Counter(server.purchases))


@pytest.mark.parametrize("moment", MOMENTS)
def test_after_a_kill_every_family_goes_on_where_it_stood(scene: Scene, moment: int) -> None:
    """What the killed process had written down is not asked again; the rows are those of the whole run."""

    def slowly(ask: Ask) -> str | Fault:
        time.sleep(PACE_SECONDS)
        return scene.model(ask)

    before = set(scene.workspace.glob("runs/*"))
    with ModelServer(slowly) as server:
        line = command(*words(server), workspace=scene.workspace)
        run = kill_at(subprocess.Popen(line, stdout=subprocess.DEVNULL), scene.workspace, before, moment)
        settle(server)
        kept, sent = journalled(run), len(server.purchases)
        done = almanac("evaluate", "--resume", run.name, workspace=scene.workspace)
        assert done.returncode == 0, done.stderr
        assert rows_of(run) == scene.rows
        finally_kept = journalled(run)
        assert sorted(finally_kept) == sorted(set(finally_kept)), "a journalled reply was bought again"
        assert set(kept) <= set(finally_kept)
        lost = sent - len(kept)
        assert 0 <= lost <= 2
        assert len(server.purchases) == scene.purchases.total() + lost
