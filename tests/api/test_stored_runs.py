"""Commands that read runs: a workspace that does not exist is an error, as it is for evaluate."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli import app
from api.stored_runs import runs_on_offer
from cards.errors import RunError, WorkspaceError

COMMANDS = ("leaderboard", "games", "worlds", "organisms", "report")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_workspace_is_an_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is named is missing even beside runs, the default one where nothing lies below the folder."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    for words in ([name], [name, "--workspace", "nowhere"]):
        found = runner.invoke(app, words)
        assert isinstance(found.exception, WorkspaceError)
        assert f"there is no workspace at {words[-1] if len(words) > 1 else 'workspace'}." in str(
            found.exception
        )
    (tmp_path / "runs").mkdir()
    assert isinstance(runner.invoke(app, [name, "--workspace", "nowhere"]).exception, WorkspaceError)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_folder_without_runs_is_named(name: str, tmp_path: Path) -> None:
    """It is that of the workspace."""
    found = CliRunner().invoke(app, [name, "--workspace", str(tmp_path)])
    said = str(found.exception) if name == "report" else found.stdout
    assert f"no run in {tmp_path / 'runs'}" in said


def test_without_a_workspace_runs_lie_below_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that who plays at a distant server needs none; a run can be given by its path."""
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    (run / "manifest.json").touch()
    monkeypatch.chdir(tmp_path)
    assert runs_on_offer(Path("workspace")) == (tmp_path / "runs", [run])
    monkeypatch.chdir(run)
    assert runs_on_offer(Path("workspace"), [str(run)])[1] == [run]
    with pytest.raises(RunError, match="there is no run 'two'"):
        runs_on_offer(Path("workspace"), ["two"])
