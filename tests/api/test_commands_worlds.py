"""The worlds command, over a workspace without runs and over one with a run of each kind of task."""

from __future__ import annotations

import json
from datetime import timedelta
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
    assert json.loads(found.stdout) == {
        "release": None,
        "runs": [],
        "left_out": [],
        "players": [],
    }


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


def test_worlds_are_of_one_release(tmp_path: Path) -> None:
    """That of the latest run, or the one that is asked for; runs of another one are named."""
    atlas = Atlas()
    player = scripted_player("null", lambda _: PGM, lambda task: atlas.tasks[task].definition)
    rows = [task.row for task in atlas.tasks.values()]
    (tmp_path / "runs").mkdir()
    for day, version in ((1, "2026.11.0"), (2, "2026.10.0")):
        release = RELEASE | {"version": version, "sha256": version * 8}
        folder, when = tmp_path / "runs" / f"run{day}", NOW + timedelta(days=day)
        create_run(folder, make_plan(release, rows, player, Selection(limit=4)), when)
        assert Run(folder, player, atlas, lambda when=when: when).play() == "complete"  # type: ignore[misc]
    runner, words = CliRunner(), ["worlds", "--workspace", str(tmp_path)]
    shown = runner.invoke(app, words).stdout
    assert "release 2026.10.0" in shown
    assert "left out run1: release 2026.11.0" in shown
    asked = json.loads(runner.invoke(app, [*words, "--release", "2026.11.0", "--json"]).stdout)
    assert (asked["release"], asked["runs"]) == ("2026.11.0", ["run1"])
    assert asked["left_out"] == [{"run": "run2", "reason": "release 2026.10.0"}]
    never = runner.invoke(app, [*words, "--release", "2019.1.0"])
    assert "2026.10.0, 2026.11.0" in str(never.exception) + never.output
