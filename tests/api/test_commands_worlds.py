"""The worlds command, over a workspace without runs and over one with a run of each kind of task."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from api.cli import app
from environments.pgm.family import PGM
from evaluation.plan import Selection, make_plan
from evaluation.players import scripted_player
from evaluation.run import Run, create_run
from tests.evaluation.test_report import NOW
from tests.evaluation.test_worlds import Atlas
from tests.evaluation.toy import RELEASE


def test_without_runs_there_is_nothing_to_show(tmp_path: Path) -> None:
    """An empty workspace has no worlds; the command says how to make one."""
    runner = CliRunner()
    shown = runner.invoke(app, ["worlds", "--workspace", str(tmp_path)])
    assert shown.exit_code == 0
    assert "almanac evaluate --families pgm" in shown.stdout
    found = runner.invoke(app, ["worlds", "--workspace", str(tmp_path), "--json"])
    assert json.loads(found.stdout) == {"release": "none", "players": []}


def test_a_run_is_shown(tmp_path: Path) -> None:
    """CORE and QUAL under both budgets, evidence, the gain; the same as JSON."""
    atlas = Atlas()
    player = scripted_player("reference", lambda _: PGM, lambda task: atlas.tasks[task].definition)
    folder = tmp_path / "runs" / "20261130T000000Z-reference-abcdef"
    folder.parent.mkdir()
    create_run(folder, make_plan(RELEASE, [t.row for t in atlas.tasks.values()], player, Selection()), NOW)
    assert Run(folder, player, atlas, lambda: NOW).play() == "complete"
    runner = CliRunner()
    shown = runner.invoke(app, ["worlds", "--workspace", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    for words in ("four_turn", "samp5k", "core", "qual", "mediator", "100%", "acquired 0.00", "+0.0 points"):
        assert words in shown.stdout
    found = json.loads(runner.invoke(app, ["worlds", "--workspace", str(tmp_path), "--json"]).stdout)
    budgets = found["players"][0]["budgets"]
    assert [budget["protocol"] for budget in budgets] == ["four_turn", "samp5k"]
    assert next(iter(budgets[0]["accepted"])) == "core"
    assert budgets[0]["accepted"]["core"]["value"] == 1.0
    assert found["players"][0]["gain"]["points"] == 0
