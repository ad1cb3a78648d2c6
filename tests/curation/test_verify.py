"""Verify and get: a sound release passes, every altered object is found, nothing half-done is left."""

from __future__ import annotations

import functools
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from api.settings import Settings
from api.verify import Verification
from api.workspace import Workspace
from cards.canonical import sha256_hex
from cards.errors import AlmanacError, InputError, ReleaseError
from curation.get import Wanted, get_release
from curation.git import clone
from curation.rows import write_bytes
from curation.verify import Checked, check_folder
from environments.manifest import Parent
from environments.release import Release
from tests.mini_hub import PATH_ONLY, MiniHub, mini_hub

VERSION = "2026.11.0"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> MiniHub:
    """A hub with a genesis release and its child."""
    made = mini_hub(tmp_path_factory.mktemp("hub"))
    made.publish("2026.10.0")
    manifest = made.hub.show("v2026.10.0", "data/releases/2026.10.0/manifest.json") or b""
    made.publish(VERSION, Parent(version="2026.10.0", manifest_sha256=sha256_hex(manifest)))
    return made


def _verify(workspace: Workspace, remote: str = "") -> dict[str, Checked]:
    checked = Verification(workspace, VERSION, remote).run(deep=False)
    return {item.check: item for item in checked}


def _failed(workspace: Workspace) -> set[str]:
    return {name for name, item in _verify(workspace).items() if item.outcome == "failed"}


def test_a_sound_release_passes(hub: MiniHub) -> None:
    """Every check passes on the publisher's machine, but for the three that only --deep makes."""
    checked = _verify(hub.workspace)
    assert {name for name, item in checked.items() if item.outcome == "skipped"} == {
        "answers",
        "certificates",
        "rebuild",
        "unpacked",
    }
    assert {"tag", "parents", "signature", "files", "commitments", "states", "leaks"} <= set(checked)


def test_a_stranger_is_told_what_was_not_checked(hub: MiniHub, tmp_path: Path) -> None:
    """In a clone elsewhere the public part verifies and every check that needs the sealed part says so."""
    clone(str(hub.workspace.hub), tmp_path / "clone", PATH_ONLY)
    checked = _verify(Workspace.find(tmp_path / "clone", Settings()))
    assert not [item for item in checked.values() if item.outcome == "failed"]
    skipped = {name for name, item in checked.items() if item.outcome == "skipped"}
    assert {"sealed objects", "commitments", "answers", "certificates", "rebuild", "leaks"} <= skipped
    assert all(checked[name].message for name in skipped)


def _objects(hub: MiniHub, part: str) -> list[Path]:
    pointer = hub.hub.show(f"v{VERSION}", f"data/releases/{VERSION}/{part}.dvc") or b""
    top = pointer.decode().split("md5: ")[1].split()[0]
    home = hub.store / part / "files" / "md5"
    listing = json.loads((home / top[:2] / top[2:]).read_bytes())
    return [home / name[:2] / name[2:] for name in {top, *(entry["md5"] for entry in listing)}]


@pytest.fixture
def altered(hub: MiniHub) -> Iterator[list[Path]]:
    """All objects of both remotes; whatever a test does to them is undone."""
    objects = _objects(hub, "public") + _objects(hub, "sealed")
    whole = {path: path.read_bytes() for path in objects}
    yield objects
    for path, data in whole.items():
        path.unlink(missing_ok=True)
        path.write_bytes(data)


def _alter(path: Path, how: str) -> None:
    data = path.read_bytes()
    path.unlink()
    if how == "space":
        path.write_bytes(data + b" ")
    elif how == "bit":
        path.write_bytes(bytes([data[0] ^ 1]) + data[1:] if data else b"x")


@pytest.mark.parametrize("how", ["bit", "space", "gone"])
def test_each_altered_object_is_found(hub: MiniHub, altered: list[Path], tmp_path: Path, how: str) -> None:
    """Each object of the remotes, altered in turn, fails verify; of the public one, get as well."""
    for path in altered:
        whole = path.read_bytes()
        _alter(path, how)
        part = "public" if (hub.store / "public") in path.parents else "sealed"
        assert f"{part} objects" in _failed(hub.workspace), path
        if part == "public":
            with pytest.raises(ReleaseError):
                get_release(Wanted(VERSION, str(hub.workspace.root), tmp_path / "got"), PATH_ONLY)
            assert list(tmp_path.iterdir()) == []
        path.unlink(missing_ok=True)
        path.write_bytes(whole)
    assert _failed(hub.workspace) == set()


def test_get_pins_what_it_verified(hub: MiniHub, tmp_path: Path) -> None:
    """From the workspace, the hub and a clone elsewhere the same release comes, with its lock."""
    clone(str(hub.workspace.hub), tmp_path / "clone", PATH_ONLY)
    digest = hub.workspace.release(VERSION).manifest_sha256
    for number, source in enumerate([hub.workspace.root, hub.workspace.hub, tmp_path / "clone"]):
        target = tmp_path / f"got{number}"
        lock = get_release(Wanted("latest", str(source), target, digest), PATH_ONLY)
        assert (lock["version"], lock["manifest_sha256"]) == (VERSION, digest)
        assert json.loads((target / "almanac.lock").read_bytes()) == lock
        assert len(Release.open(target).rows()) == 6
        assert not [item for item in check_folder(target, VERSION) if item.outcome == "failed"]
    shutil.rmtree(hub.store / "releases" / VERSION)


def test_get_reads_a_remote_over_http(hub: MiniHub, tmp_path: Path) -> None:
    """Where the public remote is served read-only over http, its address is enough."""
    with _served(hub.store / "public") as address:
        wanted = Wanted(VERSION, str(hub.workspace.hub), tmp_path / "got", "", address)
        assert get_release(wanted, PATH_ONLY)["version"] == VERSION
        with pytest.raises(ReleaseError, match="cannot be fetched"):
            get_release(
                Wanted(VERSION, str(hub.workspace.hub), tmp_path / "no", "", f"{address}/x"), PATH_ONLY
            )
    assert [path.name for path in tmp_path.iterdir()] == ["got"]


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""


def test_a_folder_that_was_changed_after_get_is_found(hub: MiniHub, tmp_path: Path) -> None:
    """A fetched folder is checked against its own lock, manifest and signature."""
    target = tmp_path / "got"
    get_release(Wanted(VERSION, str(hub.workspace.root), target), PATH_ONLY)
    (target / "public" / "tasks.jsonl").write_bytes(b"")
    failed = {item.check for item in check_folder(target, "latest") if item.outcome == "failed"}
    assert "files" in failed
    with pytest.raises(ReleaseError, match=r"almanac\.lock"):
        check_folder(tmp_path, VERSION)


BAD: dict[str, tuple[str, str, str]] = {
    "another pin": (VERSION, "", "0" * 64),
    "no pin": (VERSION, "", "xyz"),
    "a path": ("../../etc", "", ""),
    "an absolute path": ("/etc", "", ""),
    "not published": ("2026.12.0", "", ""),
    "no such place": (VERSION, "/nowhere/at/all", ""),
}


@pytest.mark.parametrize("case", BAD)
def test_get_leaves_nothing_behind(hub: MiniHub, tmp_path: Path, case: str) -> None:
    """A get that cannot be done right leaves no folder and says why."""
    version, source, sha256 = BAD[case]
    with pytest.raises(AlmanacError):
        get_release(Wanted(version, source or str(hub.workspace.root), tmp_path / "got", sha256), PATH_ONLY)
    assert list(tmp_path.iterdir()) == []


def test_get_never_writes_over_a_folder(hub: MiniHub, tmp_path: Path) -> None:
    """A target that exists is refused and left as it is."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="exists"):
        get_release(Wanted(VERSION, str(hub.workspace.root), tmp_path), PATH_ONLY)
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.fixture
def copy(hub: MiniHub, tmp_path: Path) -> MiniHub:
    """A copy of the hub that a test may damage."""
    home = hub.workspace.root.parent
    shutil.copytree(home, tmp_path / "copy", symlinks=True)
    settings = Settings(config_home=tmp_path / "copy" / "config")
    return MiniHub(Workspace.find(tmp_path / "copy" / hub.workspace.root.name, settings))


def _commit(hub: MiniHub, path: str, data: bytes) -> None:
    tree = hub.clone()
    write_bytes(tree.folder / path, data)
    tree.run("add", "--", path)
    tree.commit("Meddle", "2026-12-01T00:00:00Z")
    tree.run("push", "--quiet", "origin", "main")


def test_a_moved_tag_is_found(copy: MiniHub) -> None:
    """A tag that was moved to a commit with other data no longer names its manifest."""
    path = f"data/releases/{VERSION}/manifest.json"
    data = copy.hub.show(f"v{VERSION}", path) or b""
    _commit(copy, path, data.replace(b"later", b"never"))
    copy.hub.run("tag", "--force", "--annotate", "-m", "Release", f"v{VERSION}", "main")
    assert {"tag", "signature"} <= _failed(copy.workspace)


def test_an_illegal_state_log_is_found(copy: MiniHub) -> None:
    """A release cannot be published again after it was retracted."""
    log = copy.hub.show("main", f"data/states/{VERSION}.jsonl") or b""
    line = b'{"at":"2026-12-01T00:00:00Z","by":"x","state":"%s","why":"x"}\n'
    _commit(copy, f"data/states/{VERSION}.jsonl", log + line % b"retracted" + line % b"published")
    assert _failed(copy.workspace) == {"states"}


def test_a_pointer_to_other_bytes_is_found(copy: MiniHub) -> None:
    """``latest`` must name the manifest that the tag holds."""
    _commit(
        copy, "data/latest.json", b'{"manifest_sha256":"%s","version":"%s"}\n' % (b"0" * 64, VERSION.encode())
    )
    assert _failed(copy.workspace) == {"latest"}


def test_a_broken_parent_chain_is_found(copy: MiniHub) -> None:
    """The chain of manifests leads unbroken to the first release."""
    copy.hub.run("config", "receive.denyDeletes", "false")
    copy.hub.run("tag", "--delete", "v2026.10.0")
    assert _failed(copy.workspace) == {"parents"}


def test_a_secret_in_a_later_commit_is_found(copy: MiniHub) -> None:
    """The leak scan reads all of git, not only the release's own commit."""
    task = next(copy.workspace.release(VERSION).tasks())
    _commit(copy, "notes.txt", task.seed.encode())
    assert _failed(copy.workspace) == {"leaks"}


def test_a_damaged_unpacked_copy_is_found(copy: MiniHub) -> None:
    """The copy that evaluations read is checked as well, and refused when it is opened."""
    folder = copy.workspace.release(VERSION).folder
    (folder / "public" / "tasks.jsonl").write_bytes(b"{}\n")
    assert _failed(copy.workspace) == {"unpacked"}
    fresh = Workspace.find(copy.workspace.root, copy.workspace.settings)
    with pytest.raises(ReleaseError, match="damaged"):
        fresh.release(VERSION)
