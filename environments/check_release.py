"""Every check of a release folder that needs nothing but the folder.

Each check has a name, yields findings, and passes when it yields none; ``almanac verify`` prints them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import ValidationError

from cards.canonical import canonical_json, digest, sha256_hex
from cards.errors import ReleaseError
from cards.finding import Finding
from environments.manifest import FileEntry, Manifest
from environments.release import MANIFEST, SIGNATURE, Release, commitment, read_part
from environments.task import TaskRow

BESIDE = frozenset({MANIFEST, SIGNATURE, "public", "sealed", "release.pub", "almanac.lock"})
"""What may lie at the top of a release folder."""

Check = Callable[[Release], Iterator[str]]


def check_release(
    folder: Path, public_key: bytes | None = None, skip: frozenset[str] = frozenset()
) -> list[Finding]:
    """Check the release in ``folder`` and return what is wrong with it; nothing is an empty list.

    Args:
        folder: holds the manifest, its signature, ``public/`` and perhaps ``sealed/``.
        public_key: 32 bytes of the publisher's ed25519 key; without it the signature is not checked.
        skip: names of checks that are left out.
    """
    try:
        release = Release.open(folder)
    except ReleaseError as error:
        return [Finding(check="manifest", path=MANIFEST, message=str(error))]
    findings: list[Finding] = []
    if public_key is not None:
        findings += _findings("signature", _signature(release, public_key))
    for name, check in CHECKS.items():
        if name in skip:
            continue
        try:
            findings += _findings(name, check(release))
        except (ReleaseError, OSError, LookupError, TypeError, ValueError) as error:
            findings.append(Finding(check=name, message=f"the check could not be carried out ({error})"))
    return findings


def _findings(name: str, messages: Iterator[str]) -> list[Finding]:
    return [Finding(check=name, message=message) for message in messages]


def signature_holds(data: bytes, signature: bytes, public_key: bytes) -> bool:
    """Say whether ``signature`` is the ed25519 signature of ``data`` under ``public_key``."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def _signature(release: Release, public_key: bytes) -> Iterator[str]:
    path = release.folder / SIGNATURE
    if not path.is_file():
        yield f"{SIGNATURE} is missing"
    elif not signature_holds((release.folder / MANIFEST).read_bytes(), path.read_bytes(), public_key):
        yield f"{SIGNATURE} is not the publisher's signature of {MANIFEST}"


def _canonical(release: Release) -> Iterator[str]:
    if (release.folder / MANIFEST).read_bytes() != canonical_json(release.manifest.model_dump(mode="json")):
        yield f"{MANIFEST} is not canonical JSON"


def _at_hand(release: Release) -> list[FileEntry]:
    return [entry for entry in release.manifest.files if entry.role == "public" or release.has_sealed]


def _files(release: Release) -> Iterator[str]:
    for entry in _at_hand(release):
        path = release.folder / entry.path
        if path.is_symlink() or not path.is_file():
            yield f"{entry.path} is missing"
            continue
        data = path.read_bytes()
        if len(data) != entry.bytes:
            yield f"{entry.path} has {len(data)} bytes, the manifest says {entry.bytes}"
        elif sha256_hex(data) != entry.sha256:
            yield f"{entry.path} has sha256 {sha256_hex(data)}, the manifest says {entry.sha256}"
        elif entry.rows is not None and len(read_part(path)) != entry.rows:
            yield f"{entry.path} has {len(read_part(path))} rows, the manifest says {entry.rows}"


def _unlisted(release: Release) -> Iterator[str]:
    listed = {entry.path for entry in release.manifest.files}
    for part in ("public", "sealed"):
        for path in sorted((release.folder / part).rglob("*")):
            name = path.relative_to(release.folder).as_posix()
            if name not in listed:
                yield f"{name} is not listed in the manifest"


def _beside(release: Release) -> Iterator[str]:
    for path in sorted(release.folder.iterdir()):
        if path.name not in BESIDE:
            yield f"{path.name} lies beside the release and is no part of it"


def _schemas(release: Release) -> Iterator[str]:
    for row in read_part(release.folder / "public" / "tasks.jsonl"):
        try:
            TaskRow.model_validate(row)
        except ValidationError as error:
            yield f"public/tasks.jsonl, task {str(row.get('id'))[:32]}: {error.errors()[0]['msg']}"
    for row in read_part(release.folder / "public" / "commitments.jsonl"):
        if set(row) != {"id", "sha256"} or not all(isinstance(value, str) for value in row.values()):
            yield f"public/commitments.jsonl: {str(row)[:80]} is not a commitment"


def _unique_ids(release: Release) -> Iterator[str]:
    parts = ["public/tasks", "public/commitments"]
    if release.has_sealed:
        parts += [f"sealed/{name}" for name in ("briefs", "definitions", "answers", "links", "nonces")]
    expected: list[str] | None = None
    for part in parts:
        ids = [str(row.get("id")) for row in read_part(release.folder / f"{part}.jsonl")]
        expected = ids if expected is None else expected
        twice = [identity for identity, count in Counter(ids).items() if count > 1]
        if twice:
            yield f"{part}.jsonl holds id {twice[0]} more than once"
        elif ids != expected:
            yield f"{part}.jsonl does not hold the ids of public/tasks.jsonl in their order"


def _commitments(release: Release) -> Iterator[str]:
    public = read_part(release.folder / "public" / "commitments.jsonl")
    if digest(public) != release.manifest.items_root:
        yield "the root over all commitments is not the manifest's"
    if not release.has_sealed:
        return
    answers = {row["id"]: row["answer"] for row in read_part(release.folder / "sealed" / "answers.jsonl")}
    nonces = {row["id"]: row["nonce"] for row in read_part(release.folder / "sealed" / "nonces.jsonl")}
    for row in public:
        identity = row["id"]
        if identity not in answers or identity not in nonces:
            yield f"task {identity} has a commitment but no sealed answer"
        elif commitment(nonces[identity], answers[identity]) != row["sha256"]:
            yield f"the commitment of task {identity} does not bind its sealed answer"


def _counts(release: Release) -> Iterator[str]:
    found = Counter((row.family, row.setting) for row in release.rows())
    for family, counts in release.manifest.counts.items():
        settings = {setting: n for (name, setting), n in found.items() if name == family}
        if settings != counts.settings or sum(settings.values()) != counts.tasks:
            yield f"family {family} has {settings}, the manifest says {counts.settings}"
    unknown = {family for family, _ in found} - set(release.manifest.counts)
    if unknown:
        yield f"the manifest does not count the families {sorted(unknown)}"


def _checksums(release: Release) -> Iterator[str]:
    text = (release.folder / "public" / "checksums.txt").read_text(encoding="utf-8", errors="replace")
    if text != checksums(release.manifest):
        yield "public/checksums.txt does not say what the manifest says"


def checksums(manifest: Manifest) -> str:
    """Return the text of ``checksums.txt``, which ``sha256sum --check`` understands."""
    return checksum_lines({entry.path: entry.sha256 for entry in manifest.files if entry.role == "public"})


def checksum_lines(digests: dict[str, str]) -> str:
    """Return one line ``sha256  name`` for each public file but the list itself, ordered by name."""
    names = {path.removeprefix("public/"): value for path, value in digests.items()}
    names.pop("checksums.txt", None)
    return "".join(f"{value}  {name}\n" for name, value in sorted(names.items()))


def _canary(release: Release) -> Iterator[str]:
    text = (release.folder / "public" / "DATASHEET.md").read_text(encoding="utf-8", errors="replace")
    if release.manifest.canary not in text:
        yield "public/DATASHEET.md does not hold the manifest's canary"


def _salts(release: Release) -> Iterator[str]:
    for entry in _at_hand(release):
        if entry.role == "sealed" and not salted(release.folder / entry.path):
            yield f"{entry.path} does not begin with a salt line"


def salted(path: Path) -> bool:
    """Say whether a file begins with a salt line of 32 bytes."""
    with path.open("rb") as stream:
        first = stream.readline(200)
    return first.startswith(b'{"salt":"') and len(first) == len(b'{"salt":""}\n') + 64


CHECKS: dict[str, Check] = {
    "canonical": _canonical,
    "files": _files,
    "unlisted": _unlisted,
    "beside": _beside,
    "schemas": _schemas,
    "unique_ids": _unique_ids,
    "commitments": _commitments,
    "counts": _counts,
    "checksums": _checksums,
    "canary": _canary,
    "salts": _salts,
}
"""The checks by name, in the order in which they run."""
