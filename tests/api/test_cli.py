"""The program's own main: what the machine cannot do is told in two lines."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from api import cli
from cards.errors import InputError


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


def test_a_port_alone_is_refused() -> None:
    """``serve --port`` without ``--only`` would be ignored; it ends with 1 and names the variables."""
    with pytest.raises(InputError) as refused:
        CliRunner().invoke(cli.app, ["serve", "--port", "9000"], catch_exceptions=False)
    assert "ALMANAC_AGENT_PORT" in refused.value.remedy


def test_a_door_that_cannot_listen_says_so_and_no_more() -> None:
    """A taken port ends in two lines, also where a thread waits for the parent's end."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [sys.executable, "-P", "-m", "api.cli", "serve", "--only", "agent", "--with-parent"]
        command += ["--port", str(taken.getsockname()[1])]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as door:
            assert door.stderr is not None
            said = door.stderr.read()
            assert door.wait(60) == 1
    assert "cannot listen" in said
    assert len(said.splitlines()) == 2
