"""Verify a release of a workspace, or of a stranger's clone of its hub."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from api.workspace import Workspace
from cards.errors import NoReleaseError, WorkspaceError
from curation.get import find_origin, public_remote
from curation.verify import Checked, Subject, verify


@dataclass(frozen=True)
class Verification:
    """One verification; ``remote_url`` is the public remote where it cannot be derived."""

    workspace: Workspace
    version: str
    remote_url: str = ""
    show: Callable[[str], None] = lambda step: None

    def run(self, *, deep: bool) -> list[Checked]:
        """Make every check; ``deep`` rebuilds the release and judges its answers."""
        version = self.workspace.resolve(self.version)
        environment = self.workspace.environment()
        with tempfile.TemporaryDirectory(prefix="almanac-verify-") as name:
            work = Path(name)
            git = self.workspace.git()
            if not git.has_tag(f"v{version}"):
                raise NoReleaseError(f"there is no release {version}.", "`almanac releases` lists them.")
            store = self._store()
            if store is None:
                origin = find_origin(str(self.workspace.root), work / "repository", environment)
                remote = self.remote_url or origin.remote or public_remote(git, f"v{version}")
            else:
                remote = self.remote_url or str(store / "public")
            subject = Subject(git, version, work, remote, store, environment)
            return verify(subject, deep=deep, show=self.show)

    def _store(self) -> Path | None:
        try:
            return self.workspace.store
        except WorkspaceError:
            return None
