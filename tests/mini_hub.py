"""A founded workspace and the publication of a mini release, step by step, with real git and real DVC."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from api.found import Founding, found
from api.settings import Settings
from api.workspace import Workspace
from curation.cut_record import CUT_RECORD, CutRecord
from curation.dvc import write_local
from curation.git import Git, clone
from curation.publish import REPORTS, Publication, finish
from curation.signature import sign
from environments.manifest import Parent
from tests.mini_release import contents, record, write_release

PATH_ONLY = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}


@dataclass(frozen=True)
class MiniHub:
    """One founded workspace."""

    workspace: Workspace

    @property
    def store(self) -> Path:
        """Its store."""
        return self.workspace.store

    @property
    def hub(self) -> Git:
        """Its hub."""
        return Git(self.workspace.hub, PATH_ONLY)

    def clone(self) -> Git:
        """Return a fresh clone of the hub."""
        (self.store / "work").mkdir(exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=self.store / "work"))
        tree = clone(str(self.workspace.hub), folder, PATH_ONLY)
        write_local(folder, self.store)
        return tree

    def publication(self, version: str = "2026.11.0", parent: Parent | None = None) -> Publication:
        """Return a publication whose release is built but not frozen."""
        tree = self.clone()
        cut = record(version).model_copy(update={"commit": tree.head(), "parent": parent})
        cut.write(tree.folder / CUT_RECORD)
        build = tree.folder / "data" / "build"
        write_release(build, held=dataclasses.replace(contents(), record=cut))
        for name in set(REPORTS) - {"manifest.json"}:
            (build / name).write_text('{"passed":true}\n')
        (tree.folder / "dvc.lock").write_text("schema: '2.0'\n")
        return Publication(tree.folder, self.store, cut, PATH_ONLY)

    def signature(self, publication: Publication) -> bytes:
        """Sign a publication's manifest."""
        data = (publication.clone / "data" / "build" / "manifest.json").read_bytes()
        return sign(data, self.workspace.public_key(), self.workspace.settings.config_home)

    def publish(self, version: str = "2026.11.0", parent: Parent | None = None) -> CutRecord:
        """Publish a mini release, whole."""
        publication = self.publication(version, parent)
        publication.freeze(self.signature(publication))
        publication.add_data()
        publication.push_data()
        publication.commit()
        publication.push_tag()
        finish(self.clone(), version)
        shutil.rmtree(self.store / "work")
        return publication.record


def mini_hub(folder: Path) -> MiniHub:
    """Found a workspace in ``folder``."""
    settings = Settings(config_home=folder / "config")
    root = folder / "workspace"
    found(Founding(root, settings, datetime(2026, 11, 1, tzinfo=UTC)))
    return MiniHub(Workspace.find(root, settings))
