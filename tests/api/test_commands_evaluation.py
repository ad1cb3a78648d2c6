"""evaluate, leaderboard and score, through the real program on a real workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.serve import DoorProcess
from api.store import Store
from api.workspace import Workspace
from evaluation.score import read_rows
from tests.evaluated_workspace import almanac, make_workspace
from tests.evaluation.scientist import scientist
from tests.fakes.model_server import Fault, ModelServer
from tests.mini_release import VERSION


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace with a release of three laws; its keys lie beside it."""
    folder = tmp_path_factory.mktemp("evaluated")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALMANAC_CONFIG_HOME", str(folder / "config"))
        yield make_workspace(folder / "workspace")


def evaluated(workspace: Path, *words: str, environment: dict[str, str] | None = None) -> tuple[Any, Path]:
    """Run ``evaluate --json`` to its end and return what it printed and the run's folder."""
    done = almanac(
        "evaluate", "--release", VERSION, "--json", *words, workspace=workspace, environment=environment
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    return printed, Path(printed["folder"])


@pytest.fixture(scope="module")
def checked(workspace: Path) -> tuple[Any, Path]:
    """A finished run of the candidate-checker."""
    return evaluated(workspace, "--player", "candidate-checker")


def test_a_run_leaves_its_directory(checked: tuple[Any, Path]) -> None:
    """Manifest, plan, rows, journals, status and summary stand in runs/<utc>-<slug>-<6 hex>."""
    printed, folder = checked
    assert printed["status"]["by_status"] == {"scored": 18}
    assert folder.name.split("-", 1)[1].startswith("candidate-checker-")
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        "plan.jsonl",
        "episodes.jsonl",
        "journal",
        "status.json",
        "summary.json",
    }
    assert len(list((folder / "journal").iterdir())) == 18
    assert printed["summary"] == json.loads((folder / "summary.json").read_text())


def test_a_run_is_scored_again_offline(checked: tuple[Any, Path], workspace: Path) -> None:
    """``almanac score`` gives the same rows from the records, and ends with 1 when a row was changed."""
    _, folder = checked
    same = almanac("score", folder.name, workspace=workspace)
    assert (same.returncode, same.stdout) == (0, "18 episodes scored again, 0 differ\n")
    path = folder / "episodes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"weak":true', b'"weak":false', 1))
    try:
        changed = almanac("score", folder.name, "--json", workspace=workspace)
        assert changed.returncode == 1
        assert len(json.loads(changed.stdout)["differing"]) == 1
    finally:
        path.write_bytes(whole)


def test_a_finished_run_has_nothing_left_to_do(checked: tuple[Any, Path], workspace: Path) -> None:
    """Resuming a complete run plays nothing and ends with 0; a unique beginning of the name is enough."""
    _, folder = checked
    before = (folder / "episodes.jsonl").read_bytes()
    done = almanac("evaluate", "--resume", folder.name[:-3], workspace=workspace)
    assert done.returncode == 0, done.stderr
    assert (folder / "episodes.jsonl").read_bytes() == before


def test_the_board_is_shown_and_written(checked: tuple[Any, Path], workspace: Path, tmp_path: Path) -> None:
    """``leaderboard`` prints tables and writes one static page; --json is for programs."""
    page = tmp_path / "board.html"
    done = almanac("leaderboard", "--html", str(page), workspace=workspace)
    assert done.returncode == 0, done.stderr
    assert "candidate-checker" in done.stdout
    assert "100% [" in done.stdout
    assert "<svg" in page.read_text()
    boards = json.loads(almanac("leaderboard", "--json", workspace=workspace).stdout)
    assert boards[0]["release"]["version"] == VERSION


def test_a_dry_run_plays_nothing(workspace: Path) -> None:
    """``--dry-run`` prints the plan and makes no run directory."""
    before = set((workspace / "runs").glob("*"))
    done = almanac(
        "evaluate", "--release", VERSION, "--player", "null", "--protocol", "prior,fixed:8", "--dry-run",
        "--json", workspace=workspace,
    )  # fmt: skip
    cells = json.loads(done.stdout)["cells"]
    assert {(cell["setting"], cell["protocol"]): cell["episodes"] for cell in cells} == {
        (setting, protocol): 6
        for setting in ("discovery", "identification")
        for protocol in ("prior", "fixed:8")
    }
    assert set((workspace / "runs").glob("*")) == before


def test_a_models_dry_run_says_costs_contamination_and_the_first_prompt(workspace: Path) -> None:
    """``--dry-run`` prints episodes per cell, a cost range, the contamination split and the first prompt."""
    priced = next(name for name in _priced() if "/" in name)
    words = ("evaluate", "--release", VERSION, "--base-url", "http://127.0.0.1:9/v1", "--dry-run", "--model")
    done = almanac(*words, priced, "--json", workspace=workspace)
    document = json.loads(done.stdout)
    low, high = document["cost"]["usd"]
    assert 0 < low < high
    assert document["contamination"]["episodes"] == {"law": {"clean": 0, "exposed": 108, "unknown": 0}}
    roles = [message["role"] for message in document["first_prompt"]]
    assert roles == ["system", "user"]
    assert "The brief:" in document["first_prompt"][1]["content"]
    shown = almanac(
        "evaluate", "--release", VERSION, "--dry-run", "--model", "fake/m", workspace=workspace
    ).stdout  # without an address
    assert "cost unpriced" in shown
    assert "contamination (cutoff not known, see --cutoff):\n  law: 0 clean, 108 exposed" in shown
    assert "--- user\nThe brief:" in shown
    assert "nothing is played" in shown


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--player", "oracle"], 2, "no player 'oracle'"),
        ([], 2, "needs one player"),
        (["--player", "null", "--model", "openai/x"], 2, "needs one player"),
        (["--model", "openai/x"], 2, "no model server is configured"),
        (["--model", "justaname", "--base-url", "http://127.0.0.1:9/v1"], 2, "names no model"),
        (["--model", "x/y", "--base-url", "http://127.0.0.1:9/v1", "--max-cost", "1"], 2, "price of x/y"),
        (["--model", "x/y", "--base-url", "banana"], 2, "Give --base-url as http://"),
        (["--player", "null", "--release", "2099.1.0"], 2, "there is no release 2099.1.0"),
        (["--player", "null", "--setting", "guessing"], 2, "no setting 'guessing'"),
        (["--player", "null", "--families", "lore"], 2, "no family 'lore'"),
        (["--player", "null", "--protocol", "later"], 2, "no protocol 'later'"),
        (["--player", "null", "--protocol", "fixed:999"], 2, "prior, fixed:1, fixed:2, fixed:4"),
        (["--player", "candidate-checker", "--setting", "discovery"], 2, "It plays: identification."),
        (["--player", "closer", "--families", "law"], 2, "It plays: organism."),
        (["--player", "null", "--at", "http://127.0.0.1:9"], 2, "--at needs a key"),
        (["--resume", "2020"], 2, "no run '2020'"),
        (
            ["--model", "x/y", "--base-url", "http://127.0.0.1:9/v1", "--dry-run", "--cutoff", "soon"],
            2,
            "'soon' is not a date",
        ),
    ],
)
def test_a_wrong_wish_is_one_clear_error(workspace: Path, words: list[str], code: int, message: str) -> None:
    """Each mistake gets two lines at most that say what to do, and makes no run; it ends with 2 where the
    command asks for what does not exist or cannot be, else with 1."""
    before = set((workspace / "runs").glob("*"))
    done = almanac("evaluate", "--release", VERSION, *words, workspace=workspace)
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert set((workspace / "runs").glob("*")) == before


def test_without_a_workspace_or_a_service_it_says_so(tmp_path: Path) -> None:
    """With neither a readable sealed part nor --at there is nothing to play."""
    done = almanac("evaluate", "--player", "null", workspace=tmp_path / "nowhere")
    assert done.returncode == 2
    assert "no workspace" in done.stderr


@contextmanager
def doors(workspace: Path) -> Iterator[tuple[str, str]]:
    """Serve both doors as processes; yield the curator's address and a key."""
    with (
        DoorProcess("agent", workspace) as agent,
        DoorProcess("curator", workspace, extra=("--agent-url", agent.url)) as curator,
    ):
        store = Store(Workspace.find(workspace).database)
        try:
            key = store.create_key("evaluate", datetime.now(UTC))
        finally:
            store.close()
        yield curator.url, key


def test_the_doors_give_the_same_rows_as_this_process(checked: tuple[Any, Path], workspace: Path) -> None:
    """``evaluate --at`` leaves the rows that an evaluation in process leaves, for a rule and an insider."""
    with doors(workspace) as (url, key):
        environment = {"ALMANAC_KEY": key}
        words = ("--at", url, "--player")
        _, far = evaluated(workspace, *words, "candidate-checker", environment=environment)
        _, reference = evaluated(workspace, *words, "reference", "--limit", "9", environment=environment)
    assert read_rows(far) == read_rows(checked[1])
    _, near = evaluated(workspace, "--player", "reference", "--limit", "9")
    assert read_rows(reference) == read_rows(near)
    assert key.encode() not in b"".join(path.read_bytes() for path in far.glob("*.json*"))


def test_elsewhere_a_run_needs_no_workspace(workspace: Path, tmp_path: Path) -> None:
    """At a service a player without secrets plays from any folder; an insider is refused there."""
    with doors(workspace) as (url, key):
        words = ("evaluate", "--release", VERSION, "--at", url, "--key", key, "--limit", "3", "--player")
        done = almanac(*words, "candidate-checker", "--json", workspace=tmp_path / "none")
        assert done.returncode == 0, done.stderr
        folder = Path(json.loads(done.stdout)["folder"])
        assert folder.parent == tmp_path / "runs"
        assert {row.facets["variant"] for row in read_rows(folder)} <= {"original", "counterfactual"}
        refused = almanac(*words, "reference", workspace=tmp_path / "none")
        assert (refused.returncode, "sealed part" in refused.stderr) == (1, True)
        wrong = almanac(
            *words[:-3], "--limit", "3", "--player", "null", "--key", "no", workspace=tmp_path / "none"
        )
        assert (wrong.returncode, "401" in wrong.stderr) == (1, True)


def test_at_a_service_a_models_dry_run_makes_no_episode(workspace: Path, tmp_path: Path) -> None:
    """Without the sealed part a dry run shows what it knows: the prompt before the brief, laws unknown."""
    with doors(workspace) as (url, key):
        words = ("evaluate", "--release", VERSION, "--at", url, "--key", key, "--dry-run", "--json")
        model = ("--model", "fake/m", "--base-url", "http://127.0.0.1:9/v1")
        done = almanac(*words, *model, workspace=tmp_path / "none")
        assert done.returncode == 0, done.stderr
        store = Store(Workspace.find(workspace).database)
        try:
            asked = [
                line["action"] for line in store.audit_lines() if line["key"] == store.key_id(key, "evaluate")
            ]
        finally:
            store.close()
    document = json.loads(done.stdout)
    assert [message["role"] for message in document["first_prompt"]] == ["system"]
    assert document["contamination"]["episodes"]["law"]["unknown"] == 108
    assert [action for action in asked if "episode" in action] == []


def test_a_model_plays_and_its_ledger_adds_up(workspace: Path) -> None:
    """A model behind an OpenAI-compatible address is played, journalled, metered and scored."""
    with ModelServer(scientist) as server:
        words = ("--model", "fake/m", "--base-url", server.base_url, "--reps", "1", "--limit", "12")
        printed, folder = evaluated(workspace, *words)
    rows = read_rows(folder)
    assert {row.status for row in rows} == {"scored"}
    assert printed["status"]["calls"] == len(server.purchases) == sum(row.usage.calls for row in rows)
    assert (folder / "ledger.jsonl").read_text().count('"settled"') == len(server.purchases)


def test_a_model_is_played_three_times_by_default(workspace: Path) -> None:
    """Three repetitions are three replies (arXiv 2610.37919); they are planned without asking anyone."""
    words = ("--model", "fake/m", "--base-url", "http://127.0.0.1:9/v1", "--dry-run", "--json")
    done = almanac("evaluate", "--release", VERSION, *words, workspace=workspace)
    assert sum(cell["episodes"] for cell in json.loads(done.stdout)["cells"]) == 36 * 3


def test_a_dead_server_leaves_a_run_that_can_be_resumed(workspace: Path) -> None:
    """When the provider fails the run stops with 3 and says how to go on; later it completes with 0."""
    with ModelServer(scientist) as server:
        server.inject([Fault.status(401)] * 5)
        words = ("--model", "fake/m", "--base-url", server.base_url, "--reps", "1", "--limit", "6")
        done = almanac("evaluate", "--release", VERSION, *words, "--concurrency", "1", workspace=workspace)
        assert done.returncode == 3, done.stderr
        name = done.stdout.split("--resume ")[1].split()[0]
        again = almanac("evaluate", "--resume", name, workspace=workspace)
        assert again.returncode == 0, again.stderr
    assert {row.status for row in read_rows(workspace / "runs" / name)} == {"scored"}


def test_a_cap_ends_with_its_own_code(workspace: Path) -> None:
    """A run that could pass --max-cost stops with 4; a larger cap completes it."""
    with ModelServer(scientist) as server:
        model = next(name for name in _priced() if "/" in name)
        words = ("--model", model, "--base-url", server.base_url, "--reps", "1", "--limit", "3")
        done = almanac(
            "evaluate", "--release", VERSION, *words, "--max-cost", "0.000001", "--json", workspace=workspace
        )
        assert done.returncode == 4, done.stderr
        assert server.requests == 0
        name = json.loads(done.stdout)["run"]
        again = almanac("evaluate", "--resume", name, "--max-cost", "100", workspace=workspace)
        assert again.returncode == 0, again.stderr


def _priced() -> list[str]:
    import gateway.prices

    table = Path(gateway.prices.__file__).with_name("prices.json")
    return list(json.loads(table.read_text())["models"])
