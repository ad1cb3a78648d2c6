"""The organisms command over runs of probes and of two releases; the census at a narrow terminal."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api import commands_organisms
from api.cli import app
from environments.organism.family import ORGANISM
from environments.organism.summary import CensusSummary
from evaluation.plan import Selection, make_plan
from evaluation.players import scripted_player
from evaluation.run import Run, create_run
from tests.evaluation.test_organism_players import Zoo
from tests.evaluation.test_report import NOW
from tests.evaluation.toy import RELEASE


def play(root: Path, name: str, setting: str, *, days: int = 0, version: str = "2026.11.0") -> None:
    """Put a run of one setting into ``root``."""
    zoo = Zoo()
    player = scripted_player("reference", lambda _: ORGANISM, lambda task: zoo.tasks[task].definition)
    release, when = RELEASE | {"version": version, "sha256": version * 8}, NOW + timedelta(days=days)
    (root / "runs").mkdir(exist_ok=True)
    rows = [task.row for task in zoo.tasks.values()]
    create_run(root / "runs" / name, make_plan(release, rows, player, Selection((), (setting,))), when)
    assert Run(root / "runs" / name, player, zoo, lambda: when).play() == "complete"


@pytest.mark.parametrize("setting", ["probe-1", "probe-2"])
def test_probes_alone_are_no_session(setting: str, tmp_path: Path) -> None:
    """The page and the terminal say that only probes were played; no table is empty."""
    play(tmp_path, "one", setting)
    page = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["organisms", "--workspace", str(tmp_path), "--html", str(page)])
    assert done.exit_code == 0, done.output
    said = "session on a diseased organism was played; the probes that were stand below"
    assert f"no {said}" in done.stdout
    assert "prediction" not in done.stdout
    assert f"reference: {setting}" in done.stdout
    text = page.read_text(encoding="utf-8")
    assert f"No {said}." in text
    assert "No run has played" not in text


def test_healthy_sessions_alone_are_no_probes(tmp_path: Path) -> None:
    """Nothing is promised that does not stand below."""
    play(tmp_path, "one", "healthy-easy")
    shown = CliRunner().invoke(app, ["organisms", "--workspace", str(tmp_path)]).stdout
    assert shown.endswith("no session on a diseased organism was played\n")


def test_organisms_are_of_one_release(tmp_path: Path) -> None:
    """That of the latest run, or the one that is asked for; runs of another one are named."""
    play(tmp_path, "run1", "diseased-easy")
    play(tmp_path, "run2", "diseased-easy", days=1, version="2026.10.0")
    runner, words, page = CliRunner(), ["organisms", "--workspace", str(tmp_path)], tmp_path / "page.html"
    shown = runner.invoke(app, [*words, "--html", str(page)]).stdout
    assert "release 2026.10.0" in shown
    assert "prediction" in shown
    assert "left out run1: release 2026.11.0" in shown
    assert "run1: release 2026.11.0" in page.read_text(encoding="utf-8")
    asked = json.loads(runner.invoke(app, [*words, "--release", "2026.11.0", "--json"]).stdout)
    assert (asked["release"], asked["runs"]) == ("2026.11.0", ["run1"])
    assert asked["left_out"] == [{"run": "run2", "reason": "release 2026.10.0"}]


def test_the_census_fits_80_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No figure is cut, and a legend says what the headings mean."""
    line = CensusSummary(1200, 1234, 1000, 1111, 1000, 1000, 12.34, 123.4, 1.0)
    monkeypatch.setattr(
        commands_organisms, "_census", lambda *_: dict.fromkeys(("medium", "null, medium"), line)
    )
    done = CliRunner().invoke(app, ["census", "--workspace", str(tmp_path)], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    for words in (
        "null, medium",
        "1200",
        "1234",
        "1111",
        "12.34",
        "123.4 (100%)",
        "1000/1000",
        "struct.  of",
    ):
        assert words in done.stdout
