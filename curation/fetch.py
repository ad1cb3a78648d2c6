"""Fetch a part of a release from a DVC remote, object by object, trusting none of them.

A remote is a folder or an http address that holds ``files/md5/ab/cdef…``. DVC itself delivers an altered
object without a word; here every object must have the digest that the tag's ``.dvc`` file leads to, and
the caller checks the SHA-256 of the manifest on top. Only this layout is needed, not DVC, so that the base
install can pin and verify.
"""

from __future__ import annotations

import hashlib
import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from cards.errors import ReleaseError

MAX_OBJECT_BYTES = 2_000_000_000
TIMEOUT_SECONDS = 60.0
_MD5 = re.compile(r"^[0-9a-f]{32}(\.dir)?$")
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")


def fetch_part(pointer: bytes, remote: str, target: Path) -> list[str]:
    """Write the files that a ``.dvc`` file points at into the new folder ``target``; return their names.

    Args:
        pointer: bytes of ``public.dvc`` or ``sealed.dvc``.
        remote: path or http address of the DVC remote.
        target: made here; its parent exists.

    Raises:
        ReleaseError: when an object is missing or altered; names it.
    """
    read = _reader(remote)
    listing = _listing(_object(read, remote, directory_md5(pointer)))
    target.mkdir()
    for name, md5 in listing.items():
        (target / name).write_bytes(_object(read, remote, md5))
    return list(listing)


def _listing(data: bytes) -> dict[str, str]:
    """Return name and digest of every file of a folder, from DVC's listing of it."""
    try:
        listing = {str(entry["relpath"]): str(entry["md5"]) for entry in json.loads(data)}
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ReleaseError("the release's list of files cannot be read.", "Tell the publisher.") from error
    for name in listing:
        if not _NAME.match(name):
            raise ReleaseError(f"the release lists a file named {name[:80]!r}, which is not a plain name.")
    return listing


def directory_md5(pointer: bytes) -> str:
    """Return the digest of the folder that a ``.dvc`` file points at.

    Raises:
        ReleaseError: when it points at no folder.
    """
    try:
        value: Any = yaml.safe_load(pointer)
        md5 = str(value["outs"][0]["md5"])
    except (yaml.YAMLError, LookupError, TypeError) as error:
        raise ReleaseError(
            "the release's .dvc file cannot be read.", "Fetch the repository again."
        ) from error
    if not md5.endswith(".dir") or not _MD5.match(md5):
        raise ReleaseError(f"the release's .dvc file points at {md5[:40]!r}, which is no folder.")
    return md5


def _object(read: Callable[[str], bytes], remote: str, md5: str) -> bytes:
    if not _MD5.match(md5):
        raise ReleaseError(f"{md5[:40]!r} is not the digest of an object.", "Fetch the repository again.")
    data = read(f"files/md5/{md5[:2]}/{md5[2:]}")
    if hashlib.md5(data, usedforsecurity=False).hexdigest() != md5.removesuffix(".dir"):
        message = f"object {md5} in {remote} is altered: its bytes have another digest."
        raise ReleaseError(message, "Tell the publisher; take the release from another remote.")
    return data


def _reader(remote: str) -> Callable[[str], bytes]:
    if remote.startswith(("http://", "https://")):
        return lambda name: _download(f"{remote.rstrip('/')}/{name}")
    return lambda name: _read(Path(remote) / name)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReleaseError(
            f"object {path} is missing ({error.strerror}).", "Check the remote's path."
        ) from error


def _download(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - http(s) only
            data: bytes = answer.read(MAX_OBJECT_BYTES)
    except (urllib.error.URLError, OSError, ValueError) as error:
        remedy = "Check the address; on the publisher's machine give --remote-url PATH."
        raise ReleaseError(f"{address} cannot be fetched ({error}).", remedy) from error
    return data
