"""Publish: the order of the steps, what is seen after each, and that a second run does no harm."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cards.canonical import sha256_hex
from cards.errors import ReleaseError
from curation.publish import LATEST, finish, state_path, unfinished
from tests.mini_hub import MiniHub, mini_hub


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A founded workspace, to be copied: founding starts DVC, which takes a second."""
    folder = tmp_path_factory.mktemp("founded")
    mini_hub(folder)
    return folder


@pytest.fixture
def hub(founded: Path, tmp_path: Path) -> MiniHub:
    import shutil

    from api.settings import Settings
    from api.workspace import Workspace

    shutil.copytree(founded, tmp_path / "copy", symlinks=True)
    settings = Settings(config_home=tmp_path / "copy" / "config")
    return MiniHub(Workspace.find(tmp_path / "copy" / "workspace", settings))


def test_nothing_is_seen_until_the_tag_stands(hub: MiniHub, tmp_path: Path) -> None:
    """Data, commit and verification come before the tag, commit and tag come together, then latest."""
    publication = hub.publication()
    before = hub.hub.head("main")
    folder = publication.freeze(hub.signature(publication))
    publication.add_data()
    for part in ("public", "sealed"):
        pointer = yaml.safe_load((folder / f"{part}.dvc").read_text())
        assert pointer["outs"][0]["remote"] == part
    publication.push_data()
    assert len(list((hub.store / "public" / "files").rglob("*"))) > 7
    publication.commit()
    assert publication.verify(tmp_path / "verify", hub.workspace.public_key()) == []
    assert (hub.hub.head("main"), hub.hub.tags()) == (before, [])
    publication.push_tag()
    assert hub.hub.tags() == ["v2026.11.0"]
    assert hub.hub.head("v2026.11.0") == hub.hub.head("main") != before
    assert unfinished(hub.hub) == ["2026.11.0"]
    assert hub.hub.show("main", LATEST) is None
    finish(hub.clone(), "2026.11.0")
    assert unfinished(hub.hub) == []
    states = (hub.hub.show("main", state_path("2026.11.0")) or b"").splitlines()
    assert [json.loads(line)["state"] for line in states] == ["draft", "candidate", "published"]


def test_no_sealed_byte_reaches_the_public_remote(hub: MiniHub) -> None:
    """Each part lies on its own remote only."""
    hub.publish()
    public = {path.read_bytes() for path in (hub.store / "public").rglob("*") if path.is_file()}
    sealed = {path.read_bytes() for path in (hub.store / "sealed" / "files").rglob("*") if path.is_file()}
    assert not any(b'"salt"' in data for data in public)
    assert public.isdisjoint(sealed)


def test_the_same_release_twice_is_the_same_commit(hub: MiniHub) -> None:
    """A run that comes after a killed one makes the same commit, and its push changes nothing."""
    first, second = hub.publication(), hub.publication()
    commits = []
    for publication in (first, second):
        publication.freeze(hub.signature(publication))
        publication.add_data()
        publication.push_data()
        commits.append(publication.commit())
    assert commits[0] == commits[1]
    first.push_tag()
    tagged = hub.hub.run("rev-parse", "v2026.11.0")
    second.push_tag()
    assert hub.hub.run("rev-parse", "v2026.11.0") == tagged


def test_a_hub_that_moved_on_refuses_the_release(hub: MiniHub) -> None:
    """A release built from an old head is not pushed over somebody's new settings."""
    publication = hub.publication()
    publication.freeze(hub.signature(publication))
    publication.add_data()
    publication.commit()
    tree = hub.clone()
    (tree.folder / "params.yaml").write_text("changed: true\n")
    tree.run("add", "params.yaml")
    tree.commit("Change settings", "2026-11-02T00:00:00Z")
    tree.run("push", "--quiet", "origin", "main")
    with pytest.raises(ReleaseError, match="refused"):
        publication.push_tag()
    assert hub.hub.tags() == []


def test_latest_never_goes_back(hub: MiniHub) -> None:
    """Finishing an older release late leaves the pointer at the newer one."""
    hub.publish("2026.11.0")
    hub.publish("2026.10.0")
    assert json.loads(hub.hub.show("main", LATEST) or b"")["version"] == "2026.11.0"


def test_dvc_itself_gets_the_release(hub: MiniHub, tmp_path: Path) -> None:
    """``dvc get`` with the tag and the public remote's path delivers the public part from the bare hub."""
    hub.publish()
    target = tmp_path / "got"
    command = [
        sys.executable,
        "-P",
        "-m",
        "dvc",
        "get",
        str(hub.workspace.hub),
        "data/releases/2026.11.0/public",
    ]
    command += ["--rev", "v2026.11.0", "--remote", "public"]
    command += ["--remote-config", f"url={hub.store / 'public'}", "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    release = hub.workspace.release("latest")
    digests = {entry.path: entry.sha256 for entry in release.manifest.files if entry.role == "public"}
    assert {f"public/{path.name}": sha256_hex(path.read_bytes()) for path in target.iterdir()} == digests
