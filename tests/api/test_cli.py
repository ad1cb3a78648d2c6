"""The program's own main: what the machine cannot do is told in two lines."""

from __future__ import annotations

import errno
import os

import pytest

from api import cli


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_the_machines_faults_are_told_without_a_traceback(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk or a folder that may not be written ends with 1 and says which."""

    def fail() -> None:
        raise OSError(number, os.strerror(number), "/some/file")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert os.strerror(number) in said
    assert "/some/file" in said
    assert len(said.splitlines()) == 2
