"""The project with two Historical cards and no other family, run from outside like a user does.

A cut of everything takes minutes; what these tests ask of a cut does not depend on how many cards and
families there are. Nothing is patched: the copy is the project, with less to build.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("cards", "gateway", "environments", "curation", "evaluation", "api")
KEPT_CARDS = 2


@dataclass(frozen=True)
class Project:
    """A copy of the project and the environment in which its command line runs."""

    home: Path
    config: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its processes: the copy comes before what is installed."""
        own = {"PYTHONPATH": str(self.home), "ALMANAC_CONFIG_HOME": str(self.config)}
        return {**os.environ, **own, **self.variables}

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of ``almanac ARGUMENTS``."""
        return [sys.executable, "-P", "-m", "api.cli", *arguments]

    def run(self, *arguments: str, expect: int = 0) -> str:
        """Run ``almanac ARGUMENTS``, check its exit code, and return its output (both streams)."""
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == expect, f"exit {done.returncode}: {done.stdout}"
        return done.stdout


def copy_project(folder: Path) -> Project:
    """Copy the project to ``folder`` with its first Historical cards only."""
    home = folder / "project"
    for name in PACKAGES:
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
    settings = home / "curation" / "settings.yaml"
    settings.write_text(re.sub(r"families: \[.*\]", "families: [law]", settings.read_text()))
    for path in sorted((home / "cards" / "historical").glob("*.yaml"))[KEPT_CARDS:]:
        path.unlink()
    return Project(home, folder / "config")


def git(folder: Path, *arguments: str) -> str:
    """Run git in ``folder`` and return its output."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
