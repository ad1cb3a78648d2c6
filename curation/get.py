"""Get: fetch the public part of a release, verify it whole, and pin it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cards.canonical import canonical_json, sha256_hex
from cards.errors import InputError, ReleaseError
from curation.fetch import fetch_part
from curation.git import Git, clone
from curation.signature import fingerprint, read_public
from environments.check_release import check_release
from environments.release import MANIFEST, SIGNATURE, check_version

LOCK = "almanac.lock"
KEY = "release.pub"
LATEST = "data/latest.json"


@dataclass(frozen=True)
class Wanted:
    """What to get.

    ``source`` is a workspace, a hub, a clone, or an address that git understands; ``sha256`` the expected
    digest of the manifest, or empty; ``remote_url`` the public DVC remote, or empty to derive it.
    """

    version: str
    source: str
    to: Path
    sha256: str = ""
    remote_url: str = ""


def get_release(wanted: Wanted, environment: Mapping[str, str]) -> dict[str, Any]:
    """Fetch, verify, and move into place in one step; return what ``almanac.lock`` says.

    Raises:
        InputError: when the version or the target cannot be used.
        ReleaseError: when anything is missing or is not what was signed; no folder is left then.
    """
    if wanted.version != "latest":
        check_version(wanted.version)
    target = wanted.to.expanduser().resolve()
    if target.exists():
        raise InputError(f"{wanted.to} exists.", "Name a folder that does not exist yet.")
    if wanted.sha256 and len(wanted.sha256) != 64:
        raise InputError(f"{wanted.sha256!r} is not a SHA-256.", "Give 64 hexadecimal digits.")
    target.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        origin = find_origin(wanted.source, making / "repository", environment)
        lock = _fetch(wanted, origin, making / "release")
        (making / "release").rename(target)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return lock


@dataclass(frozen=True)
class Origin:
    """Where a release comes from: the repository that names it, and the remote beside it, if known."""

    git: Git
    remote: str


def find_origin(source: str, scratch: Path, environment: Mapping[str, str]) -> Origin:
    """Find repository and public remote.

    Args:
        source: a workspace, a hub, a clone, or an address.
        scratch: where an address is cloned to.
        environment: that of child processes.

    Raises:
        ReleaseError: when there is no repository.
    """
    path = Path(source.removeprefix("file://")).expanduser()
    if not path.exists():
        if "://" not in source and "@" not in source:
            raise ReleaseError(
                f"there is no repository at {source}.", "Give a workspace, a hub or an address."
            )
        return Origin(clone(source, scratch, environment, "--no-checkout"), "")
    pointer = path / ".almanac" / "store.txt"
    if pointer.is_file():
        store = path / pointer.read_text(encoding="utf-8").strip()
        return Origin(Git(store / "hub.git", environment), str(store / "public"))
    git = Git(path, environment)
    if not git.is_repository():
        raise ReleaseError(f"{source} is not a git repository.", "Give a workspace, a hub or an address.")
    return Origin(git, _beside(path) or _beside_origin(git))


def _beside(hub: Path) -> str:
    """Return the public remote that lies beside a hub, or nothing."""
    remote = hub.resolve().parent / "public"
    return str(remote) if (hub / "HEAD").is_file() and (remote / "files").is_dir() else ""


def _beside_origin(git: Git) -> str:
    if "origin" not in git.run("remote").splitlines():
        return ""
    address = git.run("remote", "get-url", "origin").removeprefix("file://")
    return _beside(git.folder / address)


def public_remote(git: Git, revision: str) -> str:
    """Return the address of the public remote that a revision's own DVC configuration names."""
    parser = ConfigParser(interpolation=None)
    text = (git.show(revision, ".dvc/config") or b"").decode("utf-8", "replace")
    try:
        parser.read_string("\n".join(line.strip() for line in text.splitlines()))
    except ConfigParserError as error:
        raise ReleaseError(
            f"the DVC configuration of {revision} cannot be read.", "Give --remote-url."
        ) from error
    return parser.get("'remote \"public\"'", "url", fallback="")


def _pointed_at(pointer: bytes) -> str:
    try:
        return check_version(str(json.loads(pointer)["version"]))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ReleaseError(f"{LATEST} there names no release.", "Name a version.") from error


def _fetch(wanted: Wanted, origin: Origin, folder: Path) -> dict[str, Any]:
    git, version = origin.git, wanted.version
    if version == "latest":
        pointer = git.show("main", LATEST) or git.show("origin/main", LATEST)
        if pointer is None:
            raise ReleaseError(f"{wanted.source} has no published release.")
        version = _pointed_at(pointer)
    tag, place = f"v{version}", f"data/releases/{version}"
    if not git.has_tag(tag):
        raise ReleaseError(f"{wanted.source} has no release {version}.", "Fetch its tags, or name another.")
    manifest = git.show(tag, f"{place}/{MANIFEST}") or b""
    digest = sha256_hex(manifest)
    if wanted.sha256 and digest != wanted.sha256:
        message = f"the manifest of {version} has sha256 {digest}, not {wanted.sha256}."
        raise ReleaseError(message, "The tag was moved, or the pin is of another release.")
    public_key = read_public(git.show(tag, "keys/release.pub"))
    folder.mkdir()
    (folder / MANIFEST).write_bytes(manifest)
    (folder / SIGNATURE).write_bytes(git.show(tag, f"{place}/{SIGNATURE}") or b"")
    (folder / KEY).write_bytes(git.show(tag, "keys/release.pub") or b"")
    remote = wanted.remote_url or origin.remote or public_remote(git, tag)
    fetch_part(git.show(tag, f"{place}/public.dvc") or b"", remote, folder / "public")
    lock = {
        "version": version,
        "manifest_sha256": digest,
        "tag": tag,
        "commit": git.head(tag),
        "key": fingerprint(public_key),
        "from": wanted.source,
    }
    (folder / LOCK).write_bytes(canonical_json(lock) + b"\n")
    findings = check_release(folder, public_key)
    if findings:
        raise ReleaseError(f"release {version} is not what was signed: {findings[0].message}.")
    return lock
