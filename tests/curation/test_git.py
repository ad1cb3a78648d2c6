"""Git's one window: errors say what git said, commits depend on content alone, history is read whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from curation.git import Git, GitError, clone

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
DUE = "2026-11-30T00:00:00Z"


def _repository(folder: Path, text: str = "one") -> Git:
    folder.mkdir()
    git = Git(folder, ENVIRONMENT)
    git.run("init", "--quiet", "-b", "main")
    (folder / "file.txt").write_text(text)
    git.run("add", "file.txt")
    git.commit("first", DUE)
    return git


def test_a_commit_depends_on_content_and_due_time_only(tmp_path: Path) -> None:
    """Two runs of a cut make the same commit: no clock, no user's name, no path is in it."""
    assert _repository(tmp_path / "a").head() == _repository(tmp_path / "b").head()
    assert _repository(tmp_path / "c", "two").head() != _repository(tmp_path / "d").head()


def test_an_error_says_what_git_said(tmp_path: Path) -> None:
    """A failed command raises with git's own last line."""
    with pytest.raises(GitError, match="rev-parse failed"):
        _repository(tmp_path / "a").head("no-such-branch")


def test_a_callers_git_variables_lead_nowhere(tmp_path: Path) -> None:
    """A cut started from a git hook still works on its own repository."""
    git = _repository(tmp_path / "a")
    other = _repository(tmp_path / "b", "other")
    led_astray = Git(git.folder, {**ENVIRONMENT, "GIT_DIR": str(other.folder / ".git")})
    assert led_astray.head() == git.head()


def test_history_holds_what_was_deleted(tmp_path: Path) -> None:
    """A secret that was committed once and deleted is still found."""
    git = _repository(tmp_path / "a", "the secret")
    git.run("rm", "--quiet", "file.txt")
    git.commit("second", DUE)
    git.run("tag", "--annotate", "-m", "words of a tag", "v1", dates=DUE)
    everything = b"\n".join(data for _, data in git.history())
    assert b"the secret" in everything
    assert b"words of a tag" in everything
    assert b"file.txt" in everything


def test_a_folder_inside_a_repository_is_none(tmp_path: Path) -> None:
    """A plain folder below a repository is not taken for one."""
    git = _repository(tmp_path / "a")
    (git.folder / "inside").mkdir()
    assert git.is_repository()
    assert not Git(git.folder / "inside", ENVIRONMENT).is_repository()


def test_a_clone_shows_files_of_any_revision(tmp_path: Path) -> None:
    """A file is read from a revision, and None where it does not stand there."""
    git = clone(str(_repository(tmp_path / "a").folder), tmp_path / "b", ENVIRONMENT)
    assert git.show("main", "file.txt") == b"one"
    assert git.show("main", "missing.txt") is None
    assert git.show("v9", "file.txt") is None


def test_an_address_is_never_an_option(tmp_path: Path) -> None:
    """What looks like an option of git is taken for an address, and nothing is run."""
    ran = tmp_path / "ran"
    with pytest.raises(GitError, match="--upload-pack"):
        clone(f"--upload-pack=touch {ran}", _repository(tmp_path / "a").folder, ENVIRONMENT)
    assert not ran.exists()
