"""kill -9 at twelve moments of one cut: the run after it finishes, buys nothing twice, changes no byte.

The cut reads a paper from a folder and asks a model server about it. The first test kills runs of the same
cut, one after the other and each a step further (four in the suite, all twelve nightly), and lets the next
one finish; this is harder than separate kills, because every run finds the remains of all before it. The
other nightly test kills once at each moment and lets the next run finish.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.fakes.crossref_server import CrossrefServer
from tests.fakes.model_server import ModelServer
from tests.scenarios.rule_model import answer
from tests.small_project import ROOT, Project, copy_project, git

VERSION, DUE = "2026.11.0", "2026-11-30"
PAPERS = ROOT / "tests" / "scenarios" / "papers" / "records"
READ = ("r2",)
pytestmark = pytest.mark.timeout(1800)

MOMENTS = (
    "collect",
    "parse",
    "buy extract",
    "extract",
    "buy review",
    "build",
    "gate",
    "play",
    "push data",
    "commit",
    "verify",
    "latest",
)
"""Steps of the journal; ``commit`` comes after the push of the data, ``latest`` after the tag."""
FEW = ("buy extract", "build", "commit", "latest")
"""The moments of the suite's own chain: in extract, in a stage, after the push, after the tag."""
LONGEST_WAIT = 0.4
"""Seconds after the beginning of a step at which the kill may fall."""


@dataclass(frozen=True)
class Place:
    """A workspace and the servers that its cut talks to."""

    project: Project
    root: Path
    model: ModelServer

    @property
    def store(self) -> Path:
        return self.root.with_name(f"{self.root.name}.store")

    @property
    def journal(self) -> Path:
        return self.store / "cuts" / VERSION / "journal.jsonl"

    def command(self) -> list[str]:
        return self.project.command(
            "cut", "--at", DUE, "--source", str(self.root.with_name("papers")), "--workspace", str(self.root)
        )

    def finish(self) -> str:
        return self.project.run(*self.command()[4:])

    def lines(self) -> list[str]:
        if not self.journal.exists():
            return []
        return [
            json.loads(line)["step"] for line in self.journal.read_text().splitlines() if line.endswith("}")
        ]

    def published(self) -> dict[str, bytes]:
        """Everything that a stranger can see, and the unpacked release with its sealed part."""
        folder = self.store / "releases" / VERSION
        seen = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        seen["refs"] = git(
            self.store / "hub.git", "for-each-ref", "--format=%(refname) %(objectname)"
        ).encode()
        return seen


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path]:
    """A workspace whose settings name two models, before its first cut."""
    folder = tmp_path_factory.mktemp("kills")
    project = copy_project(folder)
    root = folder / "workspace"
    project.run("init", str(root))
    params = root / "params.yaml"
    text = params.read_text().replace("model: null", "model: test/rules", 1)
    params.write_text(text.replace("model: null", "model: test/other", 1))
    git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-am", "Name the models")
    git(root, "push", "--quiet")
    return project, root


@contextmanager
def _place(template: tuple[Project, Path], folder: Path) -> Iterator[Place]:
    """Copy the workspace and start its servers."""
    project, root = template
    shutil.copytree(root, folder / root.name, symlinks=True)
    store = root.with_name(f"{root.name}.store")
    shutil.copytree(store, folder / store.name, symlinks=True)
    (folder / "papers").mkdir()
    for path in PAPERS.iterdir():
        if path.stem in READ:
            shutil.copyfile(path, folder / "papers" / path.name)
    with ModelServer(answer) as model, CrossrefServer({}) as crossref:
        variables = {
            "ALMANAC_BASE_URL": model.base_url,
            "ALMANAC_API_KEY": "test",
            "ALMANAC_CROSSREF_URL": crossref.base_url,
        }
        yield Place(replace(project, variables=variables), folder / root.name, model)


@pytest.fixture(scope="module")
def undisturbed(
    template: tuple[Project, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, bytes], int]:
    """What a cut publishes that nobody disturbs, and how many requests it sends."""
    with _place(template, tmp_path_factory.mktemp("undisturbed")) as place:
        place.finish()
        assert set(MOMENTS) <= set(place.lines())
        return place.published(), place.model.requests


def _kill_at(place: Place, step: str, wait: float, *, children_too: bool) -> None:
    """Start a cut, and kill it ``wait`` seconds after it has noted ``step``."""
    before = len(place.lines())
    process = subprocess.Popen(
        place.command(),
        env=place.project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while step not in place.lines()[before:]:
        assert process.poll() is None, f"the cut ended before it came to {step}"
        time.sleep(0.002)
    time.sleep(wait)
    if children_too:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _wait(step: str, rng: random.Random) -> float:
    # The steps around the tag take a few hundredths of a second; a longer wait would miss them.
    return 0.0 if step in ("commit", "latest") else rng.random() * LONGEST_WAIT


@pytest.mark.parametrize(
    "moments", [pytest.param(FEW, id="four"), pytest.param(MOMENTS, id="twelve", marks=pytest.mark.nightly)]
)
def test_kills_in_a_row(
    template: tuple[Project, Path],
    undisturbed: tuple[dict[str, bytes], int],
    tmp_path: Path,
    moments: tuple[str, ...],
) -> None:
    """Runs are killed, each a step later, half of them with orphans left behind; then one finishes."""
    published, requests = undisturbed
    rng = random.Random(20261130)
    with _place(template, tmp_path) as place:
        for number, step in enumerate(moments):
            _kill_at(place, step, _wait(step, rng), children_too=number % 2 == 0)
        tagged = git(place.store / "hub.git", "tag", "--list")
        assert tagged == f"v{VERSION}", "the last kill falls between the tag and latest"
        place.finish()
        assert json.loads(place.project.run("verify", "latest", "--json", "--workspace", str(place.root)))[
            "passed"
        ]
        assert place.published() == published
        assert place.model.bought_twice == []
        assert place.model.requests <= requests + len(moments), "only a request under way is sent again"


@pytest.mark.nightly
@pytest.mark.parametrize("step", MOMENTS)
def test_one_kill(
    template: tuple[Project, Path], undisturbed: tuple[dict[str, bytes], int], tmp_path: Path, step: str
) -> None:
    """After one kill at any moment the next run finishes with the bytes of an undisturbed one."""
    published, _ = undisturbed
    with _place(template, tmp_path) as place:
        _kill_at(place, step, _wait(step, random.Random(step)), children_too=False)
        place.finish()
        assert place.published() == published
        assert place.model.bought_twice == []
