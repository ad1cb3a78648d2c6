"""Publish: freeze the sealed bytes, version them, push them, and only then name them.

The order is what makes a kill at any moment harmless: data first, then one atomic push of commit and tag,
then one commit that moves ``latest``. Until the tag stands at the hub nothing has happened; once it stands
only the last step is left.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from cards.canonical import canonical_json, jsonl, sha256_hex
from cards.errors import ReleaseError
from cards.finding import Finding
from curation.cut_record import CUT_RECORD, CutRecord
from curation.dvc import Dvc, write_local
from curation.git import Git, GitError, clone
from curation.leaks import leaks, sealed_secrets
from curation.rows import write_bytes
from environments.check_release import check_release
from environments.release import MANIFEST, SIGNATURE, version_order

PARTS = ("public", "sealed")
REPORTS = ("gate.json", "manifest.json", "play.json")
LATEST = "data/latest.json"


@dataclass(frozen=True)
class Publication:
    """One release on its way from a clone's build folder to the hub.

    ``clone`` is a fresh clone of the hub in which all stages have run, ``store`` holds the hub and both
    remotes, ``environment`` is that of child processes.
    """

    clone: Path
    store: Path
    record: CutRecord
    environment: Mapping[str, str]

    @property
    def version(self) -> str:
        """The version to publish."""
        return self.record.version

    @property
    def tag(self) -> str:
        """The tag that names it."""
        return f"v{self.version}"

    @property
    def place(self) -> str:
        """The release's folder, relative to the clone."""
        return f"data/releases/{self.version}"

    @property
    def folder(self) -> Path:
        """The release's folder."""
        return self.clone / self.place

    @property
    def git(self) -> Git:
        """The clone's repository."""
        return Git(self.clone, self.environment)

    def freeze(self, signature: bytes) -> Path:
        """Copy the sealed bytes to the release's folder, with the manifest's signature."""
        build = self.clone / "data" / "build"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for part in PARTS:
            shutil.copytree(build / part, self.folder / part)
        shutil.copyfile(build / MANIFEST, self.folder / MANIFEST)
        (self.folder / SIGNATURE).write_bytes(signature)
        return self.folder

    def add_data(self) -> None:
        """Put both parts under DVC and name the remote of each in its ``.dvc`` file."""
        Dvc(self.clone, self.environment).run("add", "--quiet", *(f"{self.place}/{part}" for part in PARTS))
        for part in PARTS:
            path = self.folder / f"{part}.dvc"
            pointer = yaml.safe_load(path.read_text(encoding="utf-8"))
            pointer["outs"][0]["remote"] = part
            path.write_text(yaml.safe_dump(pointer, sort_keys=False), encoding="utf-8")

    def push_data(self) -> None:
        """Push each part to its own remote; nobody sees it yet, because no tag leads there."""
        Dvc(self.clone, self.environment).run("push", "--quiet", *self._pointers())

    def commit(self) -> str:
        """Commit pointers, manifest, signature, lock and reports in the clone."""
        git = self.git
        build = [f"data/build/{name}" for name in REPORTS]
        own = [
            f"{self.place}/{name}" for name in (MANIFEST, SIGNATURE, ".gitignore", "public.dvc", "sealed.dvc")
        ]
        git.run("add", "--", "dvc.lock", CUT_RECORD, *build, *own)
        return git.commit(f"Release {self.version}", self.record.due)

    def verify(self, work: Path, public_key: bytes) -> list[Finding]:
        """Check what a stranger will get: a clone of the clone, an empty cache, DVC's own pull."""
        other = clone(str(self.clone), work, self.environment)
        write_local(work, self.store)
        Dvc(work, self.environment).run("pull", "--quiet", *self._pointers())
        folder = work / self.place
        # The .dvc files lie beside the parts in a clone.
        findings = check_release(folder, public_key, frozenset({"beside"}))
        history = ((f"git object {name}", data) for name, data in other.history())
        return findings + list(leaks(history, sealed_secrets(folder)))

    def push_tag(self) -> None:
        """Tag the commit and push both in one transaction.

        Raises:
            ReleaseError: when the hub has moved on meanwhile; nothing is published then.
        """
        digest = sha256_hex((self.folder / MANIFEST).read_bytes())
        message = f"Release {self.version}\n\nmanifest sha256 {digest}"
        self.git.run("tag", "--annotate", "--force", "-m", message, self.tag, dates=self.record.due)
        try:
            self.git.run(
                "push", "--quiet", "--atomic", "origin", "HEAD:refs/heads/main", f"refs/tags/{self.tag}"
            )
        except GitError as error:
            # A push that outlived its killed parent may have come first; then all is well.
            if not Git(self.store / "hub.git", self.environment).has_tag(self.tag):
                raise ReleaseError(
                    f"the hub refused the release: {error}", "Run `almanac cut` again."
                ) from error

    def _pointers(self) -> list[str]:
        return [f"{self.place}/{part}.dvc" for part in PARTS]


def unfinished(hub: Git) -> list[str]:
    """Return the versions whose tag stands at the hub but whose last step is owed, oldest first."""
    versions = sorted((tag[1:] for tag in hub.tags() if tag.startswith("v")), key=version_order)
    return [version for version in versions if hub.show("main", state_path(version)) is None]


def state_path(version: str) -> str:
    """Return where a release's state log lies."""
    return f"data/states/{version}.jsonl"


def finish(tree: Git, version: str) -> None:
    """Write the state log and move ``latest``, in one commit, and push it.

    Args:
        tree: a fresh clone of the hub.
        version: a release whose tag stands at the hub.
    """
    place = f"data/releases/{version}"
    manifest = tree.show(f"v{version}", f"{place}/{MANIFEST}") or b""
    due = CutRecord.model_validate_json(tree.show(f"v{version}", CUT_RECORD) or b"").due
    write_bytes(tree.folder / state_path(version), jsonl(state_log(due)))
    latest = tree.folder / LATEST
    held = json.loads(latest.read_bytes())["version"] if latest.exists() else None
    if held is None or version_order(held) < version_order(version):
        pointer = {"version": version, "manifest_sha256": sha256_hex(manifest)}
        write_bytes(latest, canonical_json(pointer) + b"\n")
    tree.run("add", "--", state_path(version), LATEST)
    tree.commit(f"Publish {version}", due)
    tree.run("push", "--quiet", "origin", "HEAD:refs/heads/main")


def state_log(due: str) -> list[dict[str, str]]:
    """Return the states that a cut without a soak passes through, all at its due time."""
    reasons = {
        "draft": "the stages have run",
        "candidate": "gate and play passed on the frozen bytes",
        "published": "no soak is asked for",
    }
    return [{"at": due, "by": "cut", "state": state, "why": why} for state, why in reasons.items()]
