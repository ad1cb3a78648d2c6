"""The workspace: where everything of one installation lies."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from api.settings import Settings
from cards.errors import NoReleaseError, NoWorkspaceError, ReleaseError, WorkspaceError
from environments.check_release import check_release
from environments.release import MANIFEST, SIGNATURE, Release, check_version

if TYPE_CHECKING:
    from curation.git import Git

STORE_POINTER = Path(".almanac/store.txt")
PUBLIC_KEY = "keys/release.pub"
LATEST = "data/latest.json"


@dataclass(frozen=True)
class Workspace:
    """A git + DVC working tree and, on the publisher's machine, the store beside it."""

    root: Path
    settings: Settings
    _opened: dict[str, Release] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def find(cls, path: Path, settings: Settings | None = None) -> Workspace:
        """Return the workspace at ``path``.

        Raises:
            WorkspaceError: when there is none, or it has no git repository.
        """
        root = path.expanduser().resolve()
        if not root.is_dir():
            raise NoWorkspaceError(
                f"there is no workspace at {path}.", f"Make one with `almanac init {path}`."
            )
        if not (root / ".git").exists():
            message = f"{path} is not a workspace: it has no git repository."
            raise WorkspaceError(message, "Make one with `almanac init DIR`, or clone a hub.")
        return cls(root, settings or Settings.from_environment())

    @property
    def store(self) -> Path:
        """The store: hub, remotes, calls, arrivals, unpacked releases.

        Raises:
            WorkspaceError: when this workspace has none, a stranger's clone for instance.
        """
        store = self.settings.store
        pointer = self.root / STORE_POINTER
        if store is None and pointer.is_file():
            store = (self.root / pointer.read_text(encoding="utf-8").strip()).resolve()
        if store is None or not store.is_dir():
            message = f"the workspace {self.root} has no store" + (f" at {store}." if store else ".")
            raise WorkspaceError(message, "Set ALMANAC_STORE, or use the workspace that `almanac init` made.")
        return store

    @property
    def hub(self) -> Path:
        """The bare repository that every clone comes from and every release is pushed to."""
        return self.store / "hub.git"

    @property
    def database(self) -> Path:
        """The doors' SQLite file."""
        return self.store / "service.db"

    @property
    def calls(self) -> Path:
        """The call store: every model reply that curation bought."""
        return self.store / "calls"

    @property
    def ledger(self) -> Path:
        """The ledger of paid calls."""
        return self.store / "ledger.jsonl"

    @property
    def arrivals(self) -> Path:
        """The append-only arrivals of all cuts."""
        return self.store / "arrivals"

    @property
    def runs(self) -> Path:
        """Where evaluation runs lie."""
        return self.root / "runs"

    def environment(self) -> dict[str, str]:
        """Return the environment for git and other child processes."""
        return dict(os.environ)

    def root_secret(self) -> bytes:
        """Return the 32-byte root secret.

        Raises:
            WorkspaceError: when it is not readable here or is damaged.
        """
        path = self.store / "sealed" / "root.key"
        try:
            secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
        except (OSError, ValueError) as error:
            remedy = "Only who may read the sealed remote can cut, rebuild or score."
            raise WorkspaceError(f"the root secret {path} cannot be read ({error}).", remedy) from error
        if len(secret) != 32:
            raise WorkspaceError(f"the root secret {path} has {len(secret)} bytes instead of 32.")
        return secret

    def git(self) -> Git:
        """Return the repository that knows the published releases: the hub, or a stranger's clone itself."""
        from curation.git import Git

        try:
            return Git(self.hub, self.environment())
        except WorkspaceError:
            return Git(self.root, self.environment())

    def resolve(self, version: str) -> str:
        """Return a concrete version for ``latest``, any other version as it is.

        Raises:
            ReleaseError: when nothing is published yet.
            InputError: when ``version`` is no version.
        """
        if version != "latest":
            return check_version(version)
        text = self.git().show("main", LATEST)
        if text is None:
            raise ReleaseError("no release is published yet.", "Cut one with `almanac cut --offline`.")
        return check_version(str(json.loads(text)["version"]))

    def release(self, version: str) -> Release:
        """Return a release, unpacked and checked at first use.

        Raises:
            ReleaseError: when there is no such release, or what is stored is not what was signed.
        """
        version = self.resolve(version)
        if version not in self._opened:
            folder = self.store / "releases" / version
            if not folder.is_dir():
                self._unpack(version, folder)
            self._check(version, folder)
            self._opened[version] = Release.open(folder)
        return self._opened[version]

    def public_key(self) -> bytes:
        """Return the publisher's public key."""
        from curation.signature import read_public

        return read_public((self.root / PUBLIC_KEY).read_bytes())

    def _check(self, version: str, folder: Path) -> None:
        findings = check_release(folder, self.public_key())
        if findings:
            remedy = f"Delete {folder}; it is unpacked again from the remotes."
            raise ReleaseError(f"release {version} is damaged: {findings[0].message}.", remedy)

    def _unpack(self, version: str, folder: Path) -> None:
        """Fetch both parts from the store's remotes, check them, and move them into place in one step."""
        from curation.fetch import fetch_part

        git, tag, place = self.git(), f"v{version}", f"data/releases/{version}"
        if not git.has_tag(tag):
            raise NoReleaseError(f"there is no release {version}.", "`almanac releases` lists them.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{version}."))
        try:
            for name in (MANIFEST, SIGNATURE):
                (making / name).write_bytes(git.show(tag, f"{place}/{name}") or b"")
            for part in ("public", "sealed"):
                fetch_part(git.show(tag, f"{place}/{part}.dvc") or b"", str(self.store / part), making / part)
            self._check(version, making)
            making.rename(folder)
        except FileExistsError:
            pass  # another process unpacked it meanwhile
        finally:
            shutil.rmtree(making, ignore_errors=True)
