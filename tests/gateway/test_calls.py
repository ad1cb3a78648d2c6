"""The call store: whole entries or none, the first one stays, and a killed writer harms nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cards.errors import InputError
from gateway.calls import CallStore, StoredCall
from gateway.completion import text_in

KEY = "ab" * 32


def entry(content: str = "yes", key: str = KEY) -> StoredCall:
    """Return an entry."""
    messages = [{"role": "user", "content": "½ {{ }}"}]
    return StoredCall(key, "fake", "m", "measure", 1, 0, "JSON", messages, body_of(content))


def body_of(content: str) -> str:
    """Return a completion's body."""
    return json.dumps({"choices": [{"message": {"content": content}}]})


def test_an_entry_comes_back_letter_by_letter(tmp_path: Path) -> None:
    """A reply is recorded whole, whatever characters it holds."""
    store = CallStore(tmp_path)
    assert store.get(KEY) is None
    text = "naïve \U0001f600 \u0000 \\ud800 \ud800"
    assert store.put(entry(text)) == entry(text)
    assert CallStore(tmp_path).get(KEY) == entry(text)
    assert store.stored_keys() == [KEY]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [f"{KEY}.json"]


def test_the_first_entry_under_a_key_stays(tmp_path: Path) -> None:
    """Two buyers of one key go on with the same reply."""
    store = CallStore(tmp_path)
    store.put(entry("1"))
    assert store.put(entry("2")) == entry("1")
    assert store.get(KEY) == entry("1")


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "AB" * 32, "ab" * 31, "ab/" * 22])
def test_a_key_is_nothing_but_a_digest(tmp_path: Path, key: str) -> None:
    """No key leads out of the folder."""
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        CallStore(tmp_path).get(key)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"key": "x"}', b"\xff\xfe", b"body"])
def test_a_damaged_entry_is_an_error_with_a_remedy(tmp_path: Path, damage: bytes) -> None:
    """A tampered file is detected and named, never taken for an answer."""
    store = CallStore(tmp_path)
    store.put(entry())
    path = tmp_path / KEY[:2] / f"{KEY}.json"
    path.write_bytes(path.read_bytes().replace(b"choices", b"voices") if damage == b"body" else damage)
    with pytest.raises(InputError, match="Remove the file"):
        store.get(KEY)


WRITER = """
import sys
from pathlib import Path
from gateway.calls import CallStore, StoredCall
store, number = CallStore(Path(sys.argv[1])), 0
while True:
    number += 1
    body = '{"choices": [{"message": {"content": "' + sys.argv[2] * 100_000 + '"}}]}'
    store.put(StoredCall(f"{number:064x}", "p", "m", "q", 1, 0, "JSON", [], body))
    print(number, flush=True)
"""


def test_a_store_is_readable_whenever_its_writers_are_killed(tmp_path: Path) -> None:
    """Two processes race for the same keys, killed at eight moments: entries are whole, none is lost."""
    for moment in range(8):
        folder = tmp_path / str(moment)
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(folder), name], stdout=subprocess.PIPE, text=True
            )
            for name in ("one", "two")
        ]
        announced = []
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(0.003 * moment)
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
        for writer in writers:
            said = writer.communicate()[0].split()
            announced.append(int(said[-1]) if said else 1)
        store = CallStore(folder)
        whole = store.stored_keys()
        assert len(whole) >= max(announced)
        for key in whole:
            stored = store.get(key)
            assert stored is not None
            assert text_in(stored.body) in ("one" * 100_000, "two" * 100_000)
