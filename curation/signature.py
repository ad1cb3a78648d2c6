"""The publisher's ed25519 key: the private half in the user's configuration folder, the public one in git."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from cards.canonical import sha256_hex
from cards.errors import ReleaseError, WorkspaceError

PREFIX = "ed25519 "


def make_key(config_home: Path) -> bytes:
    """Make a key pair, keep the private half (mode 0600) and return the 32 public bytes."""
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes_raw()
    path = _path(config_home, public)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(pem)
    return public


def sign(data: bytes, public: bytes, config_home: Path) -> bytes:
    """Sign ``data`` with the private half of ``public``.

    Raises:
        WorkspaceError: when the private half is not on this machine or cannot be read.
    """
    path = _path(config_home, public)
    remedy = "Publish where the key is, or set ALMANAC_CONFIG_HOME to the folder that holds it."
    try:
        private = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise WorkspaceError(f"the signing key {path} cannot be read ({error}).", remedy) from error
    if not isinstance(private, Ed25519PrivateKey) or private.public_key().public_bytes_raw() != public:
        raise WorkspaceError(f"{path} is not the private half of keys/release.pub.", remedy)
    return private.sign(data)


def fingerprint(public: bytes) -> str:
    """Return the short name of a public key: 16 hexadecimal digits."""
    return sha256_hex(public)[:16]


def print_public(public: bytes) -> str:
    """Return the text of ``keys/release.pub``."""
    return f"{PREFIX}{public.hex()}\n"


def read_public(text: bytes | None) -> bytes:
    """Return the 32 bytes that ``keys/release.pub`` holds.

    Raises:
        ReleaseError: when there is no such file or it holds no key.
    """
    words = (text or b"").decode("utf-8", "replace").split()
    if len(words) == 2 and words[0] == PREFIX.strip() and len(words[1]) == 64:
        try:
            return bytes.fromhex(words[1])
        except ValueError:
            pass
    raise ReleaseError("keys/release.pub is missing or holds no ed25519 key.", "Use the hub's own copy.")


def _path(config_home: Path, public: bytes) -> Path:
    return config_home / "keys" / f"{fingerprint(public)}.pem"
