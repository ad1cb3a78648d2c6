"""kill -9 over an evaluation: the next run completes, and no journalled reply is bought again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evaluation.journal import read_log
from evaluation.score import read_rows
from tests.evaluated_workspace import almanac, command, make_workspace
from tests.evaluation.scientist import scientist
from tests.fakes.model_server import Ask, ModelServer
from tests.mini_release import VERSION

pytestmark = pytest.mark.slow

MOMENTS = 8
PACE_SECONDS = 0.05
"""The server's time for a reply: long enough for a kill to fall between two of them."""


@dataclass(frozen=True)
class Scene:
    """A workspace, and what an undisturbed evaluation in it comes to."""

    workspace: Path
    rows: dict[str, str]
    purchases: Counter[str]


def slowly(ask: Ask) -> str:
    time.sleep(PACE_SECONDS)
    return scientist(ask)


def words(server: ModelServer) -> list[str]:
    model = ["--model", "fake/m", "--base-url", server.base_url, "--reps", "1", "--concurrency", "2"]
    return ["evaluate", "--release", VERSION, *model]


def rows_of(run: Path) -> dict[str, str]:
    """Return the settled rows as bytes by slot; they hold no time."""
    return {row.slot: row.model_dump_json() for row in read_rows(run)}


def journalled(run: Path) -> list[str]:
    """Return the identity of every reply that is on disk, one entry for each."""
    entries = [(path.stem, row) for path in sorted(run.glob("journal/*.jsonl")) for row in read_log(path)]
    return [f"{slot} {row['request']}" for slot, row in entries if row["kind"] == "reply"]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One law, twelve slots, played to the end once."""
    folder = tmp_path_factory.mktemp("kills")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALMANAC_CONFIG_HOME", str(folder / "config"))
        workspace = make_workspace(folder / "workspace", ("arrhenius",))
        with ModelServer(slowly) as server:
            done = almanac(*words(server), "--json", workspace=workspace)
            assert done.returncode == 0, done.stderr
            run = Path(json.loads(done.stdout)["folder"])
            yield Scene(workspace, rows_of(run), Counter(server.purchases))


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_after_a_kill_the_next_run_completes_and_buys_nothing_twice(scene: Scene, moment: int) -> None:
    """Eight moments over the replies of an evaluation, the first and the last among them.

    Replies that the server sent but the killed process had not written down are lost, at most one for
    each episode in flight; every other purchase is made exactly once, and the rows are those of the
    undisturbed run.
    """
    total = scene.purchases.total()
    at = 1 + round(moment * (total - 1) / (MOMENTS - 1))
    before = set(scene.workspace.glob("runs/*"))
    with ModelServer(slowly) as server:
        killed = subprocess.Popen(
            command(*words(server), workspace=scene.workspace), stdout=subprocess.DEVNULL
        )
        run = kill_at(killed, scene.workspace, before, at)
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
        assert len(server.purchases) == total + lost
        assert sum((Counter(server.purchases) - scene.purchases).values()) == lost


def test_a_signal_flushes_and_marks_the_run_interrupted(scene: Scene) -> None:
    """SIGTERM ends with 3, the status says interrupted, and the next run completes it."""
    before = set(scene.workspace.glob("runs/*"))
    with ModelServer(slowly) as server:
        told = _started(server, scene)
        run = kill_at(told, scene.workspace, before, 5, signal.SIGTERM)
        assert told.returncode == 3
        assert json.loads((run / "status.json").read_text())["state"] == "interrupted"
        assert {row.ending for row in read_rows(run) if row.status == "error"} <= {"interrupted"}
        done = almanac("evaluate", "--resume", run.name, workspace=scene.workspace)
        assert done.returncode == 0, done.stderr
        assert rows_of(run) == scene.rows
        assert Counter(server.purchases) == scene.purchases, "a reply was bought twice or not at all"


def _started(server: ModelServer, scene: Scene) -> subprocess.Popen[bytes]:
    line = command(*words(server), workspace=scene.workspace)
    return subprocess.Popen(line, stdout=subprocess.DEVNULL)


def kill_at(
    process: subprocess.Popen[bytes],
    workspace: Path,
    before: set[Path],
    replies: int,
    how: signal.Signals = signal.SIGKILL,
) -> Path:
    """Send a signal as soon as so many replies are journalled; return the run's folder."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        run = next(iter(set(workspace.glob("runs/*")) - before), None)
        if run is not None and _replies(run) >= replies:
            os.kill(process.pid, how)
            process.wait(timeout=60)
            return run
        assert process.poll() is None, "the evaluation ended before its moment"
        time.sleep(0.005)
    raise AssertionError(f"{replies} replies were not journalled within two minutes")


def _replies(run: Path) -> int:
    return sum(path.read_bytes().count(b'"kind":"reply"') for path in run.glob("journal/*.jsonl"))


def settle(server: ModelServer) -> None:
    """Wait until the server has done with the requests of the dead process."""
    while True:
        before = len(server.purchases)
        time.sleep(4 * PACE_SECONDS)
        if len(server.purchases) == before:
            return
