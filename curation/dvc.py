"""The one window on DVC: a few operations in one working tree, each a child process.

Nothing of a user's own DVC configuration, cache or analytics takes part, and nothing here ever runs
``dvc gc`` or pushes a run cache: the first deletes old releases, the second leaks digests of sealed files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cards.errors import AlmanacError, OwedCallError
from curation.git import without_foreign

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
_RUNNING = re.compile(r"Running stage '([a-z]+)'")
_FAILED = re.compile(r"failed to run: .* ([a-z]+), exited with ([0-9]+)")


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
            **without_foreign(environment),
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

    def reproduce(
        self, stage: str, *options: str, started: Callable[[str], None] = lambda name: None
    ) -> None:
        """Reproduce ``stage`` and what it needs, one stage after the other; ``started`` is told each name.

        Raises:
            OwedCallError: when a stage needs a reply that the call store does not hold.
            DvcError: when one fails otherwise; the message is the stage's own.
        """
        with tempfile.TemporaryFile("w+", encoding="utf-8") as stderr:
            process = subprocess.Popen(
                self._command(("repro", *options, stage)),
                stdout=subprocess.PIPE,
                stderr=stderr,
                **self._started(),
            )
            assert process.stdout is not None
            with process.stdout as lines:
                for line in lines:
                    match = _RUNNING.match(line)
                    if match:
                        started(match[1])
            if process.wait() != 0:
                stderr.seek(0)
                raise _stage_error(stderr.read())

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self._command(arguments), capture_output=True, check=False, **self._started())

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-P", "-m", "dvc", *arguments]

    def _started(self) -> dict[str, Any]:
        """How every child is started; its output is unbuffered, so that progress shows as it happens."""
        environment = {**self._environment, "PYTHONUNBUFFERED": "1"}
        return {"cwd": self.folder, "env": environment, "stdin": subprocess.DEVNULL, "text": True}


def _stage_error(stderr: str) -> AlmanacError:
    said = [line.strip() for line in stderr.splitlines() if line.strip()]
    failed = _FAILED.search(stderr)
    name = failed[1] if failed else "?"
    own = [line.removeprefix("error: ") for line in said if not line.startswith(("ERROR:", "WARNING:"))]
    message = f"stage {name} failed: {' '.join(own[-12:]) or ' / '.join(said[-2:])}"
    if failed and failed[2] == str(OWED):
        return OwedCallError(message, "Run `almanac cut` again with the model configured.")
    return DvcError(message)


def write_config(folder: Path, public_url: str) -> None:
    """Write the committed configuration."""
    (folder / ".dvc" / "config").write_text(CONFIG.format(public_url=public_url), encoding="utf-8")


def write_local(folder: Path, store: Path) -> None:
    """Point both remotes at the store, for this clone only (the file is ignored by git)."""
    text = LOCAL.format(public=store / "public", sealed=store / "sealed")
    (folder / ".dvc" / "config.local").write_text(text, encoding="utf-8")
