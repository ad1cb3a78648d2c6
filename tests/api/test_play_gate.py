"""The second gate: players through the agent door, on the frozen bytes."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.play_gate import PlayGate
from cards.store import historical
from curation.build import build_tasks
from curation.seal import Contents
from curation.signature import sign
from tests.mini_hub import MiniHub, mini_hub
from tests.mini_release import KEY, contents, write_release

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> MiniHub:
    return mini_hub(tmp_path_factory.mktemp("hub"))


def _frozen(hub: MiniHub, folder: Path, law: dict[str, Any]) -> Path:
    """Write a signed release of one card, built with the given settings."""
    cards = historical()[:1]
    tasks = build_tasks(cards, {"release": {"families": ["law"]}, "law": law}, KEY)
    held: Contents = dataclasses.replace(contents(), tasks=tasks, cards=cards)
    write_release(folder, held=held)
    manifest = (folder / "manifest.json").read_bytes()
    signature = sign(manifest, hub.workspace.public_key(), hub.workspace.settings.config_home)
    (folder / "manifest.sig").write_bytes(signature)
    return folder


def _play(hub: MiniHub, frozen: Path, work: Path) -> tuple[dict[str, Any], set[str]]:
    work.mkdir()
    report, findings = PlayGate(hub.workspace, frozen, work, NOW).run()
    return report, {finding.check for finding in findings}


def test_the_reference_wins_and_the_null_player_does_not(hub: MiniHub, tmp_path: Path) -> None:
    """On a sound release every task is played under every protocol and no finding comes out."""
    report, checks = _play(hub, _frozen(hub, tmp_path / "frozen", {}), tmp_path / "work")
    assert checks == set()
    assert report == {"passed": True, "tasks": 4, "episodes": {"reference": 12, "null": 6}}


def test_a_release_that_its_reference_loses_is_stopped(hub: MiniHub, tmp_path: Path) -> None:
    """With one call an episode nobody can look and answer: every task is lost, and the gate says so."""
    frozen = _frozen(hub, tmp_path / "frozen", {"call_cap": 1})
    report, checks = _play(hub, frozen, tmp_path / "work")
    assert checks == {"reference_lost"}
    assert report["passed"] is False
