"""Run a door in this process, or start one as a child process and wait until it answers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from cards.errors import AlmanacError, InputError

DOORS = ("agent", "curator")
START_SECONDS = 60.0


class ServeError(AlmanacError):
    """A door that did not start."""


def run_door(name: str, workspace: Path, address: tuple[str, int], agent_url: str) -> None:
    """Serve one door until a signal ends it; prints ``READY name address`` when it listens.

    Args:
        name: ``agent`` or ``curator``.
        workspace: the workspace whose releases are served.
        address: host and port to listen on; port 0 takes a free one.
        agent_url: what the curator door tells orchestrators.

    Raises:
        InputError: for an unknown door.
        ServeError: when the address cannot be bound.
    """
    if name not in DOORS:
        raise InputError(f"there is no door {name!r}.", f"The doors are: {', '.join(DOORS)}.")
    import uvicorn

    from api.deadline import PunctualProtocol

    listening = _listen(address)
    host, port = listening.getsockname()[:2]
    app = _app(name, workspace, agent_url)
    config = uvicorn.Config(
        app,
        http=PunctualProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=5,
        limit_concurrency=512,
        h11_max_incomplete_event_size=65_536,
    )
    print(f"READY {name} http://{host}:{port}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])


def end_with_parent() -> None:
    """End this process when its standard input ends, however the parent that holds it was ended."""

    def wait() -> None:
        while os.read(0, 4096):  # not sys.stdin: its lock, held by a thread, aborts an exit
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _app(name: str, workspace: Path, agent_url: str) -> Callable[..., Any]:
    from api.store import Store
    from api.workspace import Workspace

    found = Workspace.find(workspace)
    store = Store(found.database)

    def clock() -> datetime:
        return datetime.now(UTC)

    if name == "agent":
        from api.agent_app import agent_app

        return agent_app(store, found.release, clock)
    from api.curator_app import curator_app

    return curator_app(store, found.release, agent_url, clock)


def _listen(address: tuple[str, int]) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Without it a small answer waits up to 40 ms for the client's acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listening.bind(address)
    except OSError as error:
        listening.close()
        remedy = "Stop what listens there, or set ALMANAC_AGENT_PORT and ALMANAC_CURATOR_PORT."
        raise ServeError(f"cannot listen on {address[0]}:{address[1]} ({error.strerror}).", remedy) from error
    listening.listen(512)
    return listening


class DoorProcess:
    """A door in a child process of its own; a context manager.

    Args:
        name: ``agent`` or ``curator``.
        workspace: the workspace whose releases are served.
        port: the port, 0 for a free one.
        extra: further arguments of ``almanac serve``.
        environment: variables added to this process's own.
    """

    def __init__(
        self,
        name: str,
        workspace: Path,
        port: int = 0,
        extra: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        command = [sys.executable, "-P", "-m", "api.cli", "serve", "--only", name]
        command += ["--workspace", str(workspace), "--port", str(port), "--with-parent", *extra]
        self.name = name
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,  # never written to: its end tells the door that this process is gone
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.url = self._address()

    def _address(self) -> str:
        assert self.process.stdout is not None
        # A door that hangs before it is ready must not hang its parent.
        timer = threading.Timer(START_SECONDS, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        words = line.split()
        if len(words) != 3 or words[:2] != ["READY", self.name]:
            self.stop()
            raise ServeError(f"the {self.name} door did not start.", "Its own message stands above.")
        return words[2]

    def stop(self) -> None:
        """End the door gracefully, or by force after ten seconds."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stdin):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> DoorProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
