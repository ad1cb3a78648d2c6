"""The cut from outside: one release, published, pinned, rebuilt and refused, by the real command line."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from curation.leaks import normalise
from environments.release import Release
from tests.small_project import KEPT_CARDS, Project, copy_project, git

VERSION, DUE = "2026.11.0", "2026-11-30T12:00:00Z"


@dataclass(frozen=True)
class Cut:
    """A workspace with one release, and what cutting it printed."""

    project: Project
    root: Path
    printed: str

    @property
    def store(self) -> Path:
        return self.root.with_name(f"{self.root.name}.store")

    @property
    def hub(self) -> Path:
        return self.store / "hub.git"

    @property
    def release(self) -> Release:
        return Release.open(self.store / "releases" / VERSION)

    def run(self, *arguments: str, expect: int = 0) -> str:
        return self.project.run(*arguments, "--workspace", str(self.root), expect=expect)

    def copy(self, folder: Path) -> Cut:
        """Copy workspace and store, for a test that changes them."""
        shutil.copytree(self.root, folder / self.root.name, symlinks=True)
        shutil.copytree(self.store, folder / self.store.name, symlinks=True)
        return replace(self, root=folder / self.root.name)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Cut:
    folder = tmp_path_factory.mktemp("cut")
    project = copy_project(folder)
    root = folder / "workspace"
    project.run("init", str(root))
    printed = project.run("cut", "--offline", "--at", DUE, "--workspace", str(root))
    return Cut(project, root, printed)


def test_a_fresh_workspace_cuts_offline(cut: Cut) -> None:
    """It prints version, digest and tasks per family, and says which settings bring back what is left out."""
    assert f"published {VERSION}" in cut.printed
    assert cut.release.manifest_sha256 in cut.printed
    assert f"law {4 * KEPT_CARDS}" in cut.printed
    for setting in ("--offline", "sources.categories", "extract.model", "review.model", "ALMANAC_BASE_URL"):
        assert setting in cut.printed
    manifest = cut.release.manifest
    assert manifest.window.clock == DUE
    assert manifest.parent is None
    first = git(cut.hub, "rev-list", "--max-parents=0", "main")
    assert manifest.commit == first


def _state(cut: Cut) -> dict[str, Any]:
    remotes = [cut.store / part / "files" for part in ("public", "sealed")]
    files = {path: path.stat().st_mtime_ns for remote in remotes for path in remote.rglob("*")}
    return {"refs": git(cut.hub, "for-each-ref"), "files": files}


def test_a_second_cut_prints_the_first_and_changes_nothing(cut: Cut) -> None:
    """A published version is printed, with exit code 0, and nothing is written."""
    before = _state(cut)
    printed = cut.run("cut", "--offline", "--at", "2026-11-30T13:00:00Z")
    assert "published already" in printed
    assert cut.release.manifest_sha256 in printed
    assert _state(cut) == before


def test_the_list_and_the_checks_agree(cut: Cut) -> None:
    """``releases`` shows the one release as published and latest; ``verify`` passes it."""
    (row,) = json.loads(cut.run("releases", "--json"))
    assert (row["version"], row["state"], row["latest"], row["tasks"]) == (
        VERSION,
        "published",
        True,
        4 * KEPT_CARDS,
    )
    assert row["manifest_sha256"] == cut.release.manifest_sha256
    report = json.loads(cut.run("verify", "latest", "--json"))
    assert report["passed"]


def test_deep_verification_rebuilds_every_byte(cut: Cut) -> None:
    """``verify --deep`` judges every answer, plays every twin, and rebuilds the release byte for byte."""
    checks = {
        item["check"]: item["outcome"]
        for item in json.loads(cut.run("verify", VERSION, "--deep", "--json"))["checks"]
    }
    assert set(checks.values()) == {"passed"}
    assert {"answers", "rebuild"} <= set(checks)


def _dvc(cut: Cut, tree: Path, *arguments: str) -> str:
    bin_folder = str(Path(sys.executable).parent)
    environment = {
        **cut.project.environment,
        "ALMANAC_STORE": str(cut.store),
        "PATH": f"{bin_folder}:{cut.project.environment['PATH']}",
        "DVC_NO_ANALYTICS": "true",
        "DVC_SITE_CACHE_DIR": str(tree / ".dvc" / "tmp" / "site"),
    }
    command = [sys.executable, "-P", "-m", "dvc", *arguments]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_dvc_repro_gives_the_same_bytes_elsewhere(cut: Cut, tmp_path: Path) -> None:
    """A forced rebuild in another clone at another path, without any cache, makes the same public files.

    Afterwards ``dvc repro`` has nothing to do and git sees no change.
    """
    tree = tmp_path / "quite" / "another" / "place"
    tree.parent.mkdir(parents=True)
    git(tmp_path, "clone", "--quiet", "--branch", f"v{VERSION}", str(cut.hub), str(tree))
    shutil.rmtree(tree / "data" / "build")
    _dvc(cut, tree, "repro", "--force")
    for entry in cut.release.manifest.files:
        assert (tree / "data" / "build" / entry.path).read_bytes() == (
            cut.release.folder / entry.path
        ).read_bytes()
    built = (tree / "data" / "build" / "manifest.json").read_bytes()
    assert built == (cut.release.folder / "manifest.json").read_bytes()
    assert "up to date" in _dvc(cut, tree, "repro")
    git(tree, "checkout", "--quiet", "--", "data/build/play.json")
    assert git(tree, "status", "--porcelain") == ""


def _public(cut: Cut) -> dict[str, bytes]:
    """Every byte that a stranger can see: both files of the release and all of git."""
    seen = {path.name: path.read_bytes() for path in (cut.release.folder / "public").iterdir()}
    for path in (cut.store / "public").rglob("*"):
        if path.is_file():
            seen[str(path)] = path.read_bytes()
    listed = git(cut.hub, "rev-list", "--objects", "--all").splitlines()
    for line in listed:
        name = line.split()[0]
        done = subprocess.run(
            ["git", "-C", str(cut.hub), "cat-file", git(cut.hub, "cat-file", "-t", name), name],
            capture_output=True,
            check=True,
        )
        seen[line] = done.stdout
    return seen


def test_no_public_byte_tells_anything(cut: Cut) -> None:
    """A scan of all public bytes and of git history finds no card id, title, s, seed, nonce or secret."""
    rows = {
        name: [
            json.loads(line)
            for line in (cut.release.folder / "sealed" / f"{name}.jsonl").read_bytes().splitlines()[1:]
        ]
        for name in ("cards", "definitions", "nonces", "links", "answers")
    }
    words = {row["card"]["title"] for row in rows["cards"]} | {row["id"] for row in rows["cards"]}
    words |= {row["card"]["background"] for row in rows["cards"]}
    exact = {row["seed"] for row in rows["definitions"]} | {row["cluster"] for row in rows["definitions"]}
    exact |= {row["nonce"] for row in rows["nonces"]}
    exact.add((cut.store / "sealed" / "root.key").read_text().strip())
    assert len(words) == 3 * KEPT_CARDS
    for name, data in _public(cut).items():
        text = normalise(data.decode("utf-8", "ignore"))
        assert not [word for word in words if normalise(word) in text], name
        assert not [secret for secret in exact if secret.encode() in data], name
        assert b'"s":' not in data, name


def test_twins_have_equal_rows(cut: Cut) -> None:
    """But for the opaque id the public rows of twins are the same bytes."""
    by_cluster: dict[tuple[str, str], set[str]] = {}
    for task in cut.release.tasks():
        row = task.row.model_dump_json(exclude={"id"})
        by_cluster.setdefault((task.cluster, task.row.setting), set()).add(row)
    assert len(by_cluster) == 2 * KEPT_CARDS
    assert all(len(rows) == 1 for rows in by_cluster.values())


def test_get_brings_it_to_a_clone_elsewhere(cut: Cut, tmp_path: Path) -> None:
    """A clone elsewhere gets and verifies the release; a wrong pin leaves nothing."""
    git(tmp_path, "clone", "--quiet", str(cut.hub), "clone")
    source, target = str(tmp_path / "clone"), tmp_path / "got"
    digest = cut.release.manifest_sha256
    cut.project.run("get", VERSION, "--from", source, "--to", str(target), "--sha256", digest)
    assert "verified" in cut.project.run("verify", VERSION, "--at", str(target))
    assert "verified" in cut.project.run("verify", VERSION, "--workspace", source)
    other = tmp_path / "other"
    cut.project.run("get", VERSION, "--from", source, "--to", str(other), "--sha256", "0" * 64, expect=1)
    assert not other.exists()
    assert "not a release version" in cut.project.run(
        "get", "../2026.11.0", "--from", source, "--to", str(other), expect=1
    )


def test_two_cuts_never_run_at_once(cut: Cut) -> None:
    """While the lock is held a second cut says so and touches nothing."""
    with (cut.store / "cut.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another cut is running" in cut.run("cut", "--offline", "--version", "2026.11.9", expect=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--version", "../x"), "not a release version"),
        (("--version", "2026.10.0"), "before a published release"),
        (("--at", "tomorrow"), "not an ISO date"),
        (("--from", "2026-13-01"), "not a day"),
        (("--version", "2026.12.0", "--from", "2026-11-02", "--to", "2026-11-01"), "is empty"),
    ],
)
def test_an_order_that_cannot_be_carried_out_is_refused(
    cut: Cut, arguments: tuple[str, ...], said: str
) -> None:
    """Each wrong option is said in a line, before anything is done."""
    before = _state(cut)
    assert said in cut.run("cut", "--offline", *arguments, expect=1)
    assert _state(cut) == before


def test_a_setting_that_is_not_at_the_hub_is_not_ignored(cut: Cut, tmp_path: Path) -> None:
    """A cut reads the hub; params.yaml changed in the working tree alone stops it with what to do."""
    copy = cut.copy(tmp_path)
    with (copy.root / "params.yaml").open("a") as stream:
        stream.write("# changed\n")
    said = copy.run("cut", "--offline", "--version", "2026.12.0", expect=1)
    assert "params.yaml" in said
    assert "push" in said


def _push_params(cut: Cut, line: str) -> None:
    with (cut.root / "params.yaml").open("a") as stream:
        stream.write(f"{line}\n")
    git(cut.root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-am", "Change")
    git(cut.root, "-c", "user.name=x", "-c", "user.email=x@x", "pull", "--quiet", "--rebase")
    git(cut.root, "push", "--quiet")


def test_a_failed_gate_publishes_nothing(cut: Cut, tmp_path: Path) -> None:
    """A card's id in the public history stops the cut with findings, and nothing is published."""
    copy = cut.copy(tmp_path)
    cards = (copy.release.folder / "sealed" / "cards.jsonl").read_bytes().splitlines()
    _push_params(copy, f"# a note about {json.loads(cards[1])['id']}")
    before = _state(copy)
    said = copy.run("cut", "--offline", "--version", "2026.12.0", expect=1)
    assert "leak" in said
    assert "nothing was published" in said
    assert _state(copy) == before


def test_the_next_release_names_its_parent(cut: Cut, tmp_path: Path) -> None:
    """A second release is drawn afresh from its own key and chained to the first by its digest."""
    copy = cut.copy(tmp_path)
    copy.run("cut", "--offline", "--at", "2026-12-31")
    child = Release.open(copy.store / "releases" / "2026.12.0")
    assert child.manifest.parent is not None
    assert child.manifest.parent.manifest_sha256 == copy.release.manifest_sha256
    assert not {row.id for row in child.rows()} & {row.id for row in copy.release.rows()}
    assert json.loads(copy.run("verify", "2026.12.0", "--json"))["passed"]
    assert json.loads(copy.run("verify", VERSION, "--json"))["passed"]
