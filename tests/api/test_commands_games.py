"""The games command and the choice of families, through the real program's functions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli import app
from api.commands_games import read_scores
from api.evaluate import Job, Wish, plan_run
from cards.errors import InputError
from evaluation.plan import Selection
from evaluation.players import families_of, scripted_player


def test_scores_of_another_test_are_read(tmp_path: Path) -> None:
    """A CSV table of player and score, with or without a heading."""
    path = tmp_path / "scores.csv"
    path.write_text("player,score\none, 3.5\ntwo,4\n")
    assert read_scores(path) == {"one": 3.5, "two": 4.0}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("one,1\ntwo\n", "line 2"),
        ("one,1\ntwo,high\n", "line 2"),
        ("one,1\ntwo,nan\n", "finite"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    """A line that is no score is an error that names it."""
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        read_scores(path)


def test_a_missing_table_is_refused(tmp_path: Path) -> None:
    """A file that is not there is an error, not an empty table."""
    with pytest.raises(InputError, match="cannot be read"):
        read_scores(tmp_path / "nothing.csv")


def test_without_runs_there_are_no_tables(tmp_path: Path) -> None:
    """An empty workspace has no games; the command says how to make one."""
    runner = CliRunner()
    shown = runner.invoke(app, ["games", "--workspace", str(tmp_path)])
    assert shown.exit_code == 0
    assert "almanac evaluate" in shown.stdout
    found = runner.invoke(app, ["games", "--workspace", str(tmp_path), "--json"])
    assert json.loads(found.stdout) == {"release": None, "runs": [], "left_out": [], "players": {}}


def test_a_player_is_sat_at_its_own_families(tmp_path: Path) -> None:
    """Asking for a family that a player cannot play is an error before anything is planned."""
    player = scripted_player("contrast", lambda _: pytest.fail("no family is needed to plan"))
    job = Job(None, lambda _: player, families_of("contrast"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="contrast does not play law"):
        plan_run(job, Wish(player="contrast"), Selection(families=("law",)), tmp_path)
