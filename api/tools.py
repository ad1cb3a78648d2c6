"""Which tools made a release: versions of what a number may depend on, and a digest of all installed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, distributions, version

from cards.canonical import digest

NAMED = ("almanac-bench", "dvc", "gmpy2", "numpy", "pint", "pydantic", "scipy", "sympy")


def tool_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for name in NAMED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def lock_digest() -> str:
    """Return the SHA-256 over the sorted names and versions of all installed distributions."""
    return digest(sorted({(item.name.lower(), item.version) for item in distributions()}))
