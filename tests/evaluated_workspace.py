"""A workspace with one published release of a few laws, for tests of evaluation through the real program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from api.found import Founding, found
from api.settings import Settings
from cards.store import historical
from curation.signature import make_key, print_public, sign
from environments.families import family
from environments.task import Task
from tests.mini_release import KEY, VERSION, contents, write_release

CARDS = ("ideal_gas", "kepler", "langmuir")


def make_workspace(root: Path, cards: tuple[str, ...] = CARDS, further: Iterable[Task] = ()) -> Path:
    """Found a workspace at ``root`` and put a signed release of ``cards`` and ``further`` into its store."""
    settings = Settings.from_environment()
    found(Founding(root, settings, datetime(2026, 11, 30, tzinfo=UTC)))
    chosen = [card for card in historical() if card.id in cards]
    built = sorted([*family("law").build(chosen, {}, KEY), *further], key=lambda task: task.row.id)
    folder = root.with_name(f"{root.name}.store") / "releases" / VERSION
    write_release(folder, held=replace(contents(), tasks=built, cards=chosen))
    public = make_key(settings.config_home)
    (root / "keys" / "release.pub").write_text(print_public(public))
    (folder / "manifest.sig").write_bytes(
        sign((folder / "manifest.json").read_bytes(), public, settings.config_home)
    )
    return root


def command(*words: str, workspace: Path) -> list[str]:
    """Return the command line of one ``almanac`` command."""
    return [sys.executable, "-P", "-m", "api.cli", *words, "--workspace", str(workspace)]


def almanac(
    *words: str, workspace: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command of the real program and return how it ended."""
    return subprocess.run(
        command(*words, workspace=workspace),
        capture_output=True,
        text=True,
        timeout=300,
        cwd=workspace.parent,
        env={**os.environ, **(environment or {})},
        check=False,
    )
