"""The one window on DVC: a few operations in one working tree, each a child process.

Nothing of a user's own DVC configuration, cache or analytics takes part, and nothing here ever runs
``dvc gc`` or pushes a run cache: the first deletes old releases, the second leaks digests of sealed files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from cards.errors import AlmanacError, OwedCallError

CONFIG = """[core]
    analytics = false
    check_update = false
    autostage = false
    remote = public
['remote "public"']
    url = {public_url}
['remote "sealed"']
    url = sealed-part-is-not-here
"""
"""The committed configuration: an address that strangers can read, and a sealed remote in name only."""

LOCAL = """['remote "public"']
    url = {public}
['remote "sealed"']
    url = {sealed}
"""
OWED = 3
"""Exit code of a stage that needs a model reply nobody bought."""


class DvcError(AlmanacError):
    """A DVC command that failed, with what it said."""


class Dvc:
    """DVC in one working tree.

    Args:
        folder: the tree; its cache stays inside it.
        environment: the environment of the child processes and of the stages that they start.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        own = folder / ".dvc" / "tmp"
        bin_folder = str(Path(sys.executable).parent)
        self._environment = {
            **environment,
            "PATH": os.pathsep.join([bin_folder, environment.get("PATH", os.defpath)]),
            "DVC_NO_ANALYTICS": "true",
            "DVC_STUDIO_OFFLINE": "true",
            "DVC_SITE_CACHE_DIR": str(own / "site"),
            "DVC_GLOBAL_CONFIG_DIR": str(own / "global"),
            "DVC_SYSTEM_CONFIG_DIR": str(own / "system"),
        }

    def run(self, *arguments: str) -> str:
        """Run ``dvc ARGUMENTS`` in the tree and return its standard output.

        Raises:
            DvcError: when DVC fails; holds the last lines that it said.
        """
        done = self._run(arguments)
        if done.returncode != 0:
            said = [line for line in done.stderr.strip().splitlines() if line.strip()]
            raise DvcError(f"dvc {arguments[0]} failed: {' / '.join(said[-3:]) or 'no message'}.")
        return done.stdout

    def stage(self, name: str, *options: str) -> None:
        """Reproduce one stage (and what it needs).

        Raises:
            OwedCallError: when the stage needs a reply that the call store does not hold.
            DvcError: when it fails otherwise; the message is the stage's own.
        """
        done = self._run(("repro", *options, name))
        if done.returncode == 0:
            return
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        own = [line.removeprefix("error: ") for line in said if not line.startswith(("ERROR:", "WARNING:"))]
        message = f"stage {name} failed: {' '.join(own[-12:]) or ' / '.join(said[-2:])}"
        if f"exited with {OWED}" in done.stderr:
            raise OwedCallError(message, "Run `almanac cut` again with the model configured.")
        raise DvcError(message)

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "dvc", *arguments],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


def write_config(folder: Path, public_url: str) -> None:
    """Write the committed configuration."""
    (folder / ".dvc" / "config").write_text(CONFIG.format(public_url=public_url), encoding="utf-8")


def write_local(folder: Path, store: Path) -> None:
    """Point both remotes at the store, for this clone only (the file is ignored by git)."""
    text = LOCAL.format(public=store / "public", sealed=store / "sealed")
    (folder / ".dvc" / "config.local").write_text(text, encoding="utf-8")
