"""Verify: every claim of a release, each as a named check that passed, failed or could not be made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from cards.canonical import sha256_hex
from cards.dates import parse_interval
from cards.errors import AlmanacError, ReleaseError
from cards.finding import Finding
from curation.dvc import Dvc, write_local
from curation.fetch import fetch_part
from curation.get import KEY, LOCK
from curation.git import Git, clone
from curation.leaks import leaks, sealed_secrets
from curation.publish import LATEST, state_path
from curation.signature import fingerprint, read_public
from environments.check_release import CHECKS, check_release, signature_holds
from environments.checks import check_certificates, check_tasks
from environments.release import MANIFEST, SIGNATURE, Release, parse_manifest, read_part, version_order
from environments.task import Task

LEGAL = {
    "": {"draft"},
    "draft": {"candidate"},
    "candidate": {"published", "retracted"},
    "published": {"retired", "retracted"},
    "retired": {"retracted"},
    "retracted": set(),
}
"""Which state may follow which."""


class Checked(BaseModel):
    """One check: its name, how it ended, and what it found or why it was skipped."""

    model_config = ConfigDict(frozen=True)

    check: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str = ""


@dataclass(frozen=True)
class Subject:
    """The release to verify.

    Args:
        git: the repository that names it (a hub, or a clone).
        version: a concrete version.
        work: an empty folder for what is fetched and rebuilt.
        public: path or address of the public remote.
        store: the publisher's store, or None for a stranger.
        environment: that of child processes.
    """

    git: Git
    version: str
    work: Path
    public: str
    store: Path | None
    environment: Mapping[str, str]

    @property
    def tag(self) -> str:
        """The tag that names the release."""
        return f"v{self.version}"

    @property
    def place(self) -> str:
        """Where it lies in the tag's tree."""
        return f"data/releases/{self.version}"

    def held(self, name: str) -> bytes:
        """Return a file of the release as the tag's tree has it; empty when it is missing."""
        return self.git.show(self.tag, f"{self.place}/{name}") or b""


def verify(subject: Subject, *, deep: bool, show: Callable[[str], None]) -> list[Checked]:
    """Make every check that can be made with the parts at hand."""
    checked = [_outcome("tag", _tag(subject)), _outcome("parents", _parents(subject))]
    checked += [_outcome("states", _states(subject)), _outcome("latest", _latest(subject))]
    show("fetching")
    folder = subject.work / "release"
    fetched = _fetch(subject, folder)
    checked += fetched
    if fetched[0].outcome == "failed":
        return [*checked, *(_skipped(name, "the public part could not be fetched") for name in CHECKS)]
    show("checking")
    public_key = read_public(subject.git.show(subject.tag, "keys/release.pub"))
    checked += _folder_checks(folder, check_release(folder, public_key))
    if any(item.outcome == "failed" for item in checked):
        return checked
    checked += [_outcome("window", _window(folder)), _unpacked(subject, public_key)]
    return checked + _sealed_checks(subject, folder, deep=deep, show=show)


def check_folder(folder: Path, version: str) -> list[Checked]:
    """Check a folder that ``almanac get`` made, against its own lock and key.

    Raises:
        ReleaseError: when it is not such a folder.
    """
    try:
        lock = json.loads((folder / LOCK).read_bytes())
        key = (folder / KEY).read_bytes()
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{folder} has no readable {LOCK} ({error}).", "Get the release again.") from error
    return [
        _outcome("pin", _pinned(folder, version, lock, key)),
        *_folder_checks(folder, check_release(folder, read_public(key))),
        _skipped("tag", "only the repository knows it; verify without --at, in a workspace"),
        _skipped("sealed", "only the public part is here: answers and rebuild were not checked"),
    ]


def _pinned(folder: Path, version: str, lock: Mapping[str, str], key: bytes) -> Iterator[str]:
    if version not in ("latest", lock["version"]):
        yield f"the folder holds {lock['version']}, not {version}"
    if sha256_hex((folder / MANIFEST).read_bytes()) != lock["manifest_sha256"]:
        yield f"the manifest is not the one that {LOCK} pins"
    if fingerprint(read_public(key)) != lock["key"]:
        yield f"the key is not the one that {LOCK} pins"


def _folder_checks(folder: Path, findings: list[Finding]) -> list[Checked]:
    names = ["manifest", "signature", *CHECKS]
    checked = [_outcome(name, (f.message for f in findings if f.check == name)) for name in names]
    if not (folder / "sealed").is_dir():
        checked = [
            _skipped("commitments", "the sealed part is not here; only their root was checked")
            if item.check == "commitments" and item.outcome == "passed"
            else item
            for item in checked
        ]
    return checked


def _outcome(name: str, messages: Iterator[str]) -> Checked:
    try:
        found = list(messages)
    except (AlmanacError, LookupError, TypeError, ValueError, OSError) as error:
        found = [f"the check could not be carried out ({error})"]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Checked(
        check=name, outcome="failed" if found else "passed", message=found[0] + more if found else ""
    )


def _skipped(name: str, why: str) -> Checked:
    return Checked(check=name, outcome="skipped", message=why)


def _tag(subject: Subject) -> Iterator[str]:
    if not subject.git.has_tag(subject.tag):
        yield f"there is no tag {subject.tag}"
        return
    for name in (MANIFEST, SIGNATURE, "public.dvc", "sealed.dvc"):
        if not subject.held(name):
            yield f"the tag's tree does not hold {subject.place}/{name}"
    digest = sha256_hex(subject.held(MANIFEST))
    said = subject.git.run("tag", "--list", "--format=%(contents)", subject.tag)
    if digest not in said:
        yield f"the tag's message does not name the manifest's digest {digest}"
    if parse_manifest(subject.held(MANIFEST)).version != subject.version:
        yield "the manifest is of another version"
    if subject.git.show("main", "keys/release.pub") != subject.git.show(subject.tag, "keys/release.pub"):
        yield "the publisher's key has changed since"


def _parents(subject: Subject) -> Iterator[str]:
    child, public_key = subject.version, read_public(subject.git.show("main", "keys/release.pub"))
    parent = parse_manifest(subject.held(MANIFEST)).parent
    while parent is not None:
        place = f"data/releases/{parent.version}"
        data = subject.git.show(f"v{parent.version}", f"{place}/{MANIFEST}") or b""
        signature = subject.git.show(f"v{parent.version}", f"{place}/{SIGNATURE}") or b""
        if version_order(parent.version) >= version_order(child):
            yield f"{child} names {parent.version} as its parent, which is not older"
            return
        if sha256_hex(data) != parent.manifest_sha256 or not signature_holds(data, signature, public_key):
            yield f"the manifest of {parent.version} is not the one that {child} names as its parent"
            return
        child, parent = parent.version, parse_manifest(data).parent


def _states(subject: Subject) -> Iterator[str]:
    log = subject.git.show("main", state_path(subject.version))
    if log is None:
        yield "there is no state log; the next `almanac cut` writes it"
        return
    before = ""
    for line in log.splitlines():
        row = json.loads(line)
        if set(row) != {"at", "by", "state", "why"} or row["state"] not in LEGAL[before]:
            yield f"the state {row.get('state')!r} may not follow {before or 'the beginning'!r}"
            return
        before = row["state"]


def _latest(subject: Subject) -> Iterator[str]:
    pointer = json.loads(subject.git.show("main", LATEST) or b"{}")
    if not pointer:
        yield "there is no pointer to the latest release"
    elif pointer["version"] == subject.version:
        if pointer["manifest_sha256"] != sha256_hex(subject.held(MANIFEST)):
            yield "the pointer names another manifest of this version"
    elif version_order(pointer["version"]) < version_order(subject.version):
        yield f"the pointer still names {pointer['version']}"


def _fetch(subject: Subject, folder: Path) -> list[Checked]:
    """Fetch both parts; every object of the remotes that belongs to them is read and checked."""
    folder.mkdir(parents=True)
    for name in (MANIFEST, SIGNATURE):
        (folder / name).write_bytes(subject.held(name))

    def part(name: str, remote: str) -> Iterator[str]:
        try:
            fetch_part(subject.held(f"{name}.dvc"), remote, folder / name)
        except ReleaseError as error:
            shutil.rmtree(folder / name, ignore_errors=True)
            yield error.message

    checked = [_outcome("public objects", part("public", subject.public))]
    if subject.store is None or not (subject.store / "sealed").is_dir():
        return [*checked, _skipped("sealed objects", "the sealed remote is not readable here")]
    return [*checked, _outcome("sealed objects", part("sealed", str(subject.store / "sealed")))]


def _window(folder: Path) -> Iterator[str]:
    after = parse_interval(Release.open(folder).manifest.window.after)
    for row in read_part(folder / "public" / "sources.jsonl"):
        for name, day in row["dates"].items():
            if day is not None and parse_interval(day).low <= after.high:
                yield f"source {row['doi']}: {name} {day} is not after {after}"


def _unpacked(subject: Subject, public_key: bytes) -> Checked:
    folder = subject.store / "releases" / subject.version if subject.store else None
    if folder is None or not folder.is_dir():
        return _skipped("unpacked", "no unpacked copy is kept here")
    return _outcome("unpacked", (f"{folder}: {f.message}" for f in check_release(folder, public_key)))


def _sealed_checks(
    subject: Subject, folder: Path, *, deep: bool, show: Callable[[str], None]
) -> list[Checked]:
    if not (folder / "sealed").is_dir():
        names = ("leaks", "answers", "certificates", "rebuild")
        return [_skipped(name, "needs the sealed part, which is not readable here") for name in names]
    show("scanning for leaks")
    checked = [_outcome("leaks", _leaks(subject, folder))]
    if not deep:
        return checked + [
            _skipped(name, "asked for by --deep only") for name in ("answers", "certificates", "rebuild")
        ]
    show("judging every answer")
    release = Release.open(folder)
    tasks = list(release.tasks())
    checked.append(_outcome("answers", map(_sentence, check_tasks(tasks))))
    show("checking certificates")
    checked.append(_outcome("certificates", map(_sentence, _certificates(release, tasks))))
    show("rebuilding")
    return [*checked, _outcome("rebuild", _rebuild(subject, folder))]


def _sentence(finding: Finding) -> str:
    return f"{finding.path}: {finding.check}: {finding.message}"


def _certificates(release: Release, tasks: Sequence[Task]) -> Iterator[Finding]:
    yield from check_certificates(tasks, release.cards())


def _leaks(subject: Subject, folder: Path) -> Iterator[str]:
    hidden = sealed_secrets(folder)
    public = ((path.name, path.read_bytes()) for path in sorted((folder / "public").iterdir()))
    history = ((f"git object {name}", data) for name, data in subject.git.history())
    for files in (public, history):
        yield from (f"{finding.path} {finding.message}" for finding in leaks(files, hidden))


def _rebuild(subject: Subject, folder: Path) -> Iterator[str]:
    """Build the release again from its pinned arrivals, in a clone of its own, and compare every byte."""
    assert subject.store is not None, "who reads the sealed remote has the store"
    tree = subject.work / "rebuild"
    clone(str(subject.git.folder), tree, subject.environment, "--branch", subject.tag)
    write_local(tree, subject.store)
    shutil.rmtree(tree / "data" / "build", ignore_errors=True)
    environment = {**subject.environment, "ALMANAC_STORE": str(subject.store)}
    Dvc(tree, environment).reproduce("gate", "--force")
    for entry in Release.open(folder).manifest.files:
        if (tree / "data" / "build" / entry.path).read_bytes() != (folder / entry.path).read_bytes():
            yield f"{entry.path} comes out otherwise"
    if (tree / "data" / "build" / MANIFEST).read_bytes() != (folder / MANIFEST).read_bytes():
        yield f"{MANIFEST} comes out otherwise"
