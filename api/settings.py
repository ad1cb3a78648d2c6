"""Settings of one installation, from environment variables; what can change a score is in params.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cards.errors import InputError


@dataclass(frozen=True)
class Settings:
    """What the machine, and not the benchmark, decides. Each field names its variable."""

    store: Path | None = None
    """ALMANAC_STORE: the store, where it does not lie beside the workspace."""
    config_home: Path = Path("~/.config/almanac")
    """ALMANAC_CONFIG_HOME: where private signing keys lie."""
    base_url: str = ""
    """ALMANAC_BASE_URL: an OpenAI-compatible address."""
    api_key: str = ""
    """ALMANAC_API_KEY: the key for that address."""
    arxiv_url: str = "https://export.arxiv.org"
    """ALMANAC_ARXIV_URL: the arXiv API."""
    arxiv_seconds: float = 3.0
    """ALMANAC_ARXIV_SECONDS: shortest time between two requests to arXiv; its terms ask for 3."""
    crossref_url: str = "https://api.crossref.org"
    """ALMANAC_CROSSREF_URL: the Crossref API."""
    contact: str = ""
    """ALMANAC_CONTACT: a mail address that arXiv and Crossref are told."""
    agent_port: int = 8401
    """ALMANAC_AGENT_PORT: port of the agent door."""
    curator_port: int = 8402
    """ALMANAC_CURATOR_PORT: port of the curator door."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings; ``environment`` stands in for the process's own.

        Raises:
            InputError: when a port is not a number from 0 to 65535, or a time is not one.
        """
        import os

        given = os.environ if environment is None else environment
        default = cls()
        store = given.get("ALMANAC_STORE")
        return cls(
            store=Path(store).expanduser().resolve() if store else None,
            config_home=Path(given.get("ALMANAC_CONFIG_HOME") or default.config_home).expanduser(),
            base_url=given.get("ALMANAC_BASE_URL", ""),
            api_key=given.get("ALMANAC_API_KEY", ""),
            arxiv_url=given.get("ALMANAC_ARXIV_URL") or default.arxiv_url,
            arxiv_seconds=_seconds(given, "ALMANAC_ARXIV_SECONDS", default.arxiv_seconds),
            crossref_url=given.get("ALMANAC_CROSSREF_URL") or default.crossref_url,
            contact=given.get("ALMANAC_CONTACT", ""),
            agent_port=_port(given, "ALMANAC_AGENT_PORT", default.agent_port),
            curator_port=_port(given, "ALMANAC_CURATOR_PORT", default.curator_port),
        )


def _seconds(given: Mapping[str, str], name: str, default: float) -> float:
    text = given.get(name, "")
    try:
        value = float(text) if text else default
    except ValueError:
        value = -1.0
    if not 0 <= value < 86_400:
        raise InputError(f"{name} is {text!r}, which is not a time.", "Set a number of seconds.")
    return value


def _port(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name, "")
    if not text:
        return default
    if not text.isdigit() or int(text) > 65535:
        raise InputError(f"{name} is {text!r}, which is not a port.", "Set a number from 0 to 65535.")
    return int(text)
