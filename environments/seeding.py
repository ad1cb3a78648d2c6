"""The one place where secrets become seeds, ids, nonces and salts.

Root secret (32 bytes, sealed remote only) → release key = HMAC(root, version) → item seed → session
seed → NumPy PCG64. Every derivation is HMAC-SHA256 over length-prefixed parts, so that no two
sequences of parts can collide.
"""

from __future__ import annotations

import hashlib
import hmac

import numpy as np

ROOT_BYTES = 32


def derive(key: bytes, purpose: str, *parts: str | bytes) -> bytes:
    """Return 32 bytes = HMAC-SHA256(key, purpose ‖ parts), each part preceded by its length."""
    message = b""
    for part in (purpose, *parts):
        raw = part.encode("utf-8") if isinstance(part, str) else part
        message += len(raw).to_bytes(8, "big") + raw
    return hmac.new(key, message, hashlib.sha256).digest()


def release_key(root: bytes, version: str) -> bytes:
    """Return the key of one release.

    Raises:
        ValueError: when the root secret is not 32 bytes long.
    """
    if len(root) != ROOT_BYTES:
        raise ValueError(f"the root secret has {len(root)} bytes; it must have {ROOT_BYTES}")
    return derive(root, "release", version)


def item_seed(key: bytes, family: str, index: str) -> bytes:
    """Return the seed from which one item (a law family, a world, an organism) is built."""
    return derive(key, "build", family, index)


def opaque_id(key: bytes, *parts: str) -> str:
    """Return a task's public id: 16 hexadecimal digits that say nothing about the task."""
    return derive(key, "id", *parts).hex()[:16]


def nonce(key: bytes, task_id: str) -> str:
    """Return the 32-byte nonce of a task's commitment, as hexadecimal digits."""
    return derive(key, "nonce", task_id).hex()


def salt(key: bytes, stage: str) -> str:
    """Return the salt that stands in the first line of every output that is not public."""
    return derive(key, "salt", stage).hex()


def canary(key: bytes) -> str:
    """Return a release's canary: a UUID-like text that stands in its public files and nowhere else."""
    digits = derive(key, "canary").hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))


def key_commitment(key: bytes) -> str:
    """Return the SHA-256 that binds a release key until it is revealed."""
    return hashlib.sha256(key).hexdigest()


def arrivals_digest(key: bytes, listing: bytes) -> str:
    """Return a keyed digest of a listing of arrivals, from which nobody can guess what was read."""
    return derive(key, "arrivals", listing).hex()


def session_seed(item: bytes, setting: str, protocol: str, repetition: int) -> bytes:
    """Return the seed of one session; twins share it, so their preset designs are equal."""
    return derive(item, "session", setting, protocol, str(repetition))


def generator(seed: bytes) -> np.random.Generator:
    """Return NumPy's PCG64 seeded with the first 128 bits of ``seed``."""
    return np.random.Generator(np.random.PCG64(int.from_bytes(seed[:16], "big")))
