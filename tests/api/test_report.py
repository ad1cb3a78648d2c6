"""The report of a run through the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.evaluated_workspace import almanac, make_workspace
from tests.mini_release import VERSION


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one run of the reference and one of sparse regression."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALMANAC_CONFIG_HOME", str(folder / "config"))
        root = make_workspace(folder / "workspace", ("kepler",))
    environment = {"ALMANAC_CONFIG_HOME": str(folder / "config")}
    for player in ("reference", "sparse-regression"):
        words = ("evaluate", "--player", player, "--release", VERSION, "--protocol", "prior,fixed:8,adaptive")
        done = almanac(*words, "--json", workspace=root, environment=environment)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["status"]["state"] == "complete"
    return root


def test_a_report_is_one_static_page(workspace: Path, tmp_path: Path) -> None:
    """It names the runs, has every analysis for both settings, and needs nothing from outside."""
    page = tmp_path / "report.html"
    done = almanac("report", "--html", str(page), workspace=workspace)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    for run in (workspace / "runs").iterdir():
        assert run.name in text
    for title in ("Fixed budgets", "Adaptive: cumulative success", "Failure categories", "Fairness"):
        assert f"{title} · discovery" in text
        assert f"{title} · identification" in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_run_that_does_not_exist_is_an_error(workspace: Path, tmp_path: Path) -> None:
    """The message names the run, nothing is written."""
    done = almanac("report", "nobody", "--html", str(tmp_path / "x.html"), workspace=workspace)
    assert done.returncode == 1
    assert "nobody" in done.stderr
    assert not (tmp_path / "x.html").exists()
