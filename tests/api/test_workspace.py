"""The workspace: found or refused with a remedy, its secrets and its releases."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.found import Founding, found
from api.settings import Settings
from api.workspace import Workspace
from cards.errors import AlmanacError, InputError, ReleaseError, WorkspaceError
from tests.mini_hub import MiniHub, mini_hub
from tests.mini_release import VERSION, tasks

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> MiniHub:
    made = mini_hub(tmp_path_factory.mktemp("hub"))
    made.publish()
    return made


def test_init_makes_secrets_that_only_the_owner_reads(hub: MiniHub) -> None:
    """Root secret and private key have mode 0600, the sealed remote 0700; none of them is in git."""
    secret = hub.store / "sealed" / "root.key"
    keys = list((hub.workspace.settings.config_home / "keys").iterdir())
    assert len(keys) == 1
    assert {path.stat().st_mode & 0o777 for path in (secret, keys[0])} == {0o600}
    assert (hub.store / "sealed").stat().st_mode & 0o777 == 0o700
    assert len(hub.workspace.root_secret()) == 32
    everything = b"".join(data for _, data in hub.hub.history())
    assert hub.workspace.root_secret().hex().encode() not in everything
    assert b"PRIVATE KEY" not in everything


def test_init_again_changes_nothing(hub: MiniHub) -> None:
    """A second init on a workspace says that it is there; on any other folder with files it refuses."""
    before = hub.workspace.root_secret()
    assert not found(Founding(hub.workspace.root, hub.workspace.settings, NOW))
    assert hub.workspace.root_secret() == before
    other = hub.workspace.root.parent / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    with pytest.raises(WorkspaceError, match="not empty"):
        found(Founding(other, hub.workspace.settings, NOW))
    assert [path.name for path in other.iterdir()] == ["mine.txt"]


def test_a_lost_working_tree_is_made_again(hub: MiniHub) -> None:
    """With the store still there, init only makes the tree: the secrets and the hub stay."""
    before = hub.workspace.root_secret()
    shutil.rmtree(hub.workspace.root)
    assert found(Founding(hub.workspace.root, hub.workspace.settings, NOW))
    again = Workspace.find(hub.workspace.root, hub.workspace.settings)
    assert again.root_secret() == before
    assert again.resolve("latest") == VERSION


def test_no_workspace_is_said_with_a_remedy(tmp_path: Path) -> None:
    """A folder that does not exist and one without git are each a clear error."""
    with pytest.raises(WorkspaceError, match="no workspace") as missing:
        Workspace.find(tmp_path / "none", Settings())
    assert "almanac init" in missing.value.remedy
    with pytest.raises(WorkspaceError, match="no git"):
        Workspace.find(tmp_path, Settings())


def test_a_clone_elsewhere_has_no_store(hub: MiniHub, tmp_path: Path) -> None:
    """A stranger's clone is a workspace without a store; ALMANAC_STORE gives it one."""
    shutil.copytree(hub.workspace.root, tmp_path / "tree", ignore=shutil.ignore_patterns(".almanac"))
    with pytest.raises(WorkspaceError, match="no store"):
        Workspace.find(tmp_path / "tree", Settings()).root_secret()
    with_store = Workspace.find(tmp_path / "tree", Settings(store=hub.store))
    assert with_store.resolve("latest") == VERSION


def test_a_release_is_unpacked_whole_at_first_use(hub: MiniHub) -> None:
    """Both parts come from the remotes, are checked, and open as the tasks that were sealed."""
    shutil.rmtree(hub.store / "releases", ignore_errors=True)
    release = Workspace.find(hub.workspace.root, hub.workspace.settings).release("latest")
    assert list(release.tasks()) == tasks()
    assert [path.name for path in (hub.store / "releases").iterdir()] == [VERSION]


@pytest.mark.parametrize("version", ["../2026.11.0", "/etc", "2026.12.0", "2026.11", ""])
def test_a_version_that_is_not_there_is_refused(hub: MiniHub, version: str) -> None:
    """A path in place of a version is the caller's mistake, an unpublished version is said to be one."""
    with pytest.raises((InputError, ReleaseError)):
        hub.workspace.release(version)


def test_a_damaged_root_secret_is_said(hub: MiniHub, tmp_path: Path) -> None:
    """A root secret of the wrong length is never used."""
    shutil.copytree(hub.store, tmp_path / "store", symlinks=True)
    (tmp_path / "store" / "sealed" / "root.key").write_text("abcd\n")
    workspace = Workspace.find(hub.workspace.root, Settings(store=tmp_path / "store"))
    with pytest.raises(AlmanacError, match="2 bytes"):
        workspace.root_secret()


def test_settings_come_from_the_environment() -> None:
    """Each setting has its variable; a port that is none is refused by name."""
    given = {"ALMANAC_BASE_URL": "http://x/v1", "ALMANAC_AGENT_PORT": "9000", "ALMANAC_ARXIV_SECONDS": "0"}
    settings = Settings.from_environment(given)
    assert (settings.base_url, settings.agent_port, settings.arxiv_seconds) == ("http://x/v1", 9000, 0.0)
    for name, value in {"ALMANAC_AGENT_PORT": "door", "ALMANAC_ARXIV_SECONDS": "soon"}.items():
        with pytest.raises(InputError, match=name):
            Settings.from_environment({name: value})
