"""What every test shares."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

import api  # noqa: F401  (sets the threads of linear algebra before NumPy is imported)

settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "nightly", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No setting of the developer's shell reaches a test, and no key lands in their home folder."""
    for name in list(os.environ):
        if name.startswith(("ALMANAC_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ALMANAC_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
