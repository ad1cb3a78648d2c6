"""Pin the arrivals of one cut, so that whatever arrives later can never change a rebuild of it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from cards.canonical import canonical_json, sha256_hex
from cards.errors import ReleaseError
from environments.seeding import arrivals_digest


def pin(master: Path, pinned: Path) -> None:
    """Copy the arrivals as they stand to ``pinned``, in one step; a pin that exists stays as it is.

    Files that are only ever replaced as a whole are linked, logs that grow are copied.
    """
    if pinned.exists():
        return
    pinned.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(dir=pinned.parent, prefix=f".{pinned.name}."))
    try:
        for path in _files(master):
            target = making / path.relative_to(master)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".jsonl":
                shutil.copyfile(path, target)
            else:
                os.link(path, target)
        making.rename(pinned)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def pin_digest(pinned: Path, key: bytes) -> str:
    """Return the keyed digest of everything pinned: names and bytes."""
    listing = [
        [path.relative_to(pinned).as_posix(), sha256_hex(path.read_bytes())] for path in _files(pinned)
    ]
    return arrivals_digest(key, canonical_json(listing))


def lay_out(pinned: Path, folder: Path, key: bytes, digest: str | None) -> None:
    """Copy pinned arrivals to a clone's ``data/arrivals``.

    Raises:
        ReleaseError: when the pin is missing or is not the one that the cut's record names.
    """
    if not pinned.is_dir() or pin_digest(pinned, key) != digest:
        message = f"the arrivals pinned in {pinned} are not those that the cut was made from."
        raise ReleaseError(message, "Restore the store's cuts folder; without it nothing can be rebuilt.")
    shutil.copytree(pinned, folder, dirs_exist_ok=True)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
