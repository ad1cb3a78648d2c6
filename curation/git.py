"""The one window on git: a few operations on one repository, each a child process."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from cards.errors import AlmanacError

# A user's own configuration (hooks, signing, templates) must not change what is published.
_FIXED = {
    "user.name": "Almanac",
    "user.email": "almanac@localhost",
    "commit.gpgsign": "false",
    "tag.gpgsign": "false",
    "core.hooksPath": "/dev/null",
    "core.autocrlf": "false",
    "protocol.file.allow": "always",
    "advice.detachedHead": "false",
}
# Set by a caller that is itself a git hook; they would lead every command to another repository.
_FOREIGN = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
)


def without_foreign(environment: Mapping[str, str]) -> dict[str, str]:
    """Return ``environment`` without the variables that would lead git to another repository."""
    return {name: value for name, value in environment.items() if name not in _FOREIGN}


class GitError(AlmanacError):
    """A git command that failed, with what it said."""


class Git:
    """One repository, bare or not.

    Args:
        folder: the repository.
        environment: the environment of the child processes.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self._environment = without_foreign(environment) | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

    def run(self, *arguments: str, dates: str | None = None) -> str:
        """Run ``git ARGUMENTS`` in the repository and return its standard output.

        ``dates`` (ISO) stands for the clock in a commit or a tag, so that the same content has the same id.

        Raises:
            GitError: when git fails or is not installed.
        """
        return self._bytes(*arguments, dates=dates).decode("utf-8", "replace").strip()

    def _bytes(self, *arguments: str, dates: str | None = None, given: bytes = b"") -> bytes:
        fixed = [word for name, value in _FIXED.items() for word in ("-c", f"{name}={value}")]
        environment = dict(self._environment)
        if dates is not None:
            environment |= {"GIT_AUTHOR_DATE": dates, "GIT_COMMITTER_DATE": dates}
        command = ["git", *fixed, "-C", str(self.folder), *arguments]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, input=given, check=False)
        except FileNotFoundError as error:
            raise GitError(f"git cannot be started in {self.folder} ({error}).", "Install git.") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise GitError(
                f"git {arguments[0]} failed in {self.folder}: {said[-1] if said else 'no message'}."
            )
        return done.stdout

    def is_repository(self) -> bool:
        """Say whether the folder itself is a repository (and not only lies inside one)."""
        try:
            top = self.run("rev-parse", "--absolute-git-dir")
        except GitError:
            return False
        return Path(top).resolve() in (self.folder.resolve(), (self.folder / ".git").resolve())

    def head(self, revision: str = "HEAD") -> str:
        """Return the commit id of a revision."""
        return self.run("rev-parse", "--verify", f"{revision}^{{commit}}")

    def tags(self) -> list[str]:
        """Return all tags."""
        return self.run("tag", "--list").splitlines()

    def has_tag(self, tag: str) -> bool:
        """Say whether a tag exists."""
        return tag in self.tags()

    def show(self, revision: str, path: str) -> bytes | None:
        """Return a file as it stands in a revision, or None where it does not stand there."""
        try:
            return self._bytes("show", f"{revision}:{path}")
        except GitError:
            return None

    def names(self, revision: str, folder: str) -> list[str]:
        """Return the paths of all files under ``folder`` in a revision."""
        return self.run("ls-tree", "-r", "--name-only", revision, "--", folder).splitlines()

    def commit(self, message: str, dates: str) -> str:
        """Commit what is staged, if anything is, and return the head's id."""
        if self.run("status", "--porcelain", "--untracked-files=no"):
            self.run("commit", "--quiet", "-m", message, dates=dates)
        return self.head()

    def history(self) -> Iterator[tuple[str, bytes]]:
        """Yield (object id, bytes) of every object that any ref reaches: files, trees, commits, tags."""
        listed = [line.split(" ", 1)[0] for line in self.run("rev-list", "--objects", "--all").splitlines()]
        listed += self.run("for-each-ref", "--format=%(objectname)").splitlines()
        wanted = "".join(f"{identity}\n" for identity in dict.fromkeys(listed))
        stream = self._bytes("cat-file", "--batch", given=wanted.encode())
        place = 0
        while place < len(stream):
            end = stream.index(b"\n", place)
            identity, _, size = stream[place:end].decode().split(" ")
            yield identity, stream[end + 1 : end + 1 + int(size)]
            place = end + 1 + int(size) + 1


def clone(source: str, target: Path, environment: Mapping[str, str], *options: str) -> Git:
    """Clone ``source`` (a path or an address) to ``target`` and return the clone."""
    target.parent.mkdir(parents=True, exist_ok=True)
    words = ["clone", "--quiet", "--no-hardlinks", *options, "--", source, str(target)]
    Git(target.parent, environment).run(*words)
    return Git(target, environment)
