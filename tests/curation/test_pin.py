"""Pin: what a cut read stays as it was, whatever arrives later."""

from __future__ import annotations

from pathlib import Path

import pytest

from cards.errors import ReleaseError
from curation.arrivals import Arrivals
from curation.pin import lay_out, pin, pin_digest

KEY = bytes(32)


def _master(folder: Path) -> Arrivals:
    arrivals = Arrivals(folder / "master")
    arrivals.append("dates", {"paper": "a"})
    arrivals.put_window("w", {"complete": False})
    arrivals.put(b"bytes")
    return arrivals


def test_a_pin_does_not_grow(tmp_path: Path) -> None:
    """Rows that are appended and windows that are completed later do not reach an older cut."""
    arrivals, pinned = _master(tmp_path), tmp_path / "pinned"
    pin(arrivals.folder, pinned)
    before = pin_digest(pinned, KEY)
    arrivals.append("dates", {"paper": "b"})
    arrivals.put_window("w", {"complete": True})
    arrivals.put(b"more")
    pin(arrivals.folder, pinned)
    assert pin_digest(pinned, KEY) == before
    assert Arrivals(pinned).rows("dates") == [{"paper": "a"}]
    assert Arrivals(pinned).window("w") == {"complete": False}


def test_only_the_recorded_pin_is_laid_out(tmp_path: Path) -> None:
    """A pin that is missing, or has other bytes than the cut's record says, is refused."""
    pinned = tmp_path / "pinned"
    pin(_master(tmp_path).folder, pinned)
    digest = pin_digest(pinned, KEY)
    lay_out(pinned, tmp_path / "clone", KEY, digest)
    assert Arrivals(tmp_path / "clone").rows("dates") == [{"paper": "a"}]
    for wrong in (None, "0" * 64):
        with pytest.raises(ReleaseError, match="not those"):
            lay_out(pinned, tmp_path / "other", KEY, wrong)
    assert digest != pin_digest(pinned, bytes([1] * 32)), (
        "the digest is keyed: it can be recomputed by nobody"
    )
