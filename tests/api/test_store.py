"""The doors' database."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.store import Opening, SeqTakenError, Store
from cards.errors import InputError
from environments.task import Event, Options, Reply

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
OPENING = Opening(
    "2026.11.0", "ab" * 32, "0123456789abcdef", Options(setting="discovery", protocol="prior"), b"s" * 32
)


def _event(seq: int, key: str) -> Event:
    reply = Reply(ok=True, data={"y": 0.1}, remaining={"calls": 5}, done=False)
    return Event(seq=seq, key=key, tool="t", args={"x": 1e-300}, outcome="succeeded", reply=reply)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "service.db")


def test_secrets_are_stored_as_digests_only(store: Store, tmp_path: Path) -> None:
    """Neither a token nor a key can be read out of the database file."""
    key = store.create_key("evaluate", NOW)
    _, token = store.create_episode(OPENING, NOW)
    store.close()
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key.encode() not in data
    assert token.encode() not in data


def test_a_key_opens_its_own_scope_only(store: Store) -> None:
    """A key with another scope, and a wrong key, are refused."""
    key = store.create_key("review", NOW)
    assert store.key_id(key, "review")
    assert store.key_id(key, "evaluate") is None
    assert store.key_id("alm_wrong", "review") is None


def test_processes_may_make_the_database_at_once(tmp_path: Path) -> None:
    """`serve` and `key create` in a fresh workspace meet at the same empty file."""
    code = "import sys, pathlib, api.store as s; s.Store(pathlib.Path(sys.argv[1])).close()"
    for number in range(3):
        path = tmp_path / str(number) / "service.db"
        made = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(6)]
        assert [process.wait() for process in made] == [0] * 6


def test_a_revoked_key_opens_nothing(store: Store) -> None:
    """Keys are listed without themselves; one that is taken back opens nothing, the others still do."""
    lost, kept = store.create_key("evaluate", NOW), store.create_key("evaluate", NOW)
    identity = store.key_id(lost, "evaluate")
    assert identity is not None
    assert {row["id"] for row in store.list_keys()} == {identity, store.key_id(kept, "evaluate")}
    assert all(lost not in row.values() for row in store.list_keys())
    store.revoke_key(identity, NOW)
    assert store.key_id(lost, "evaluate") is None
    assert store.key_id(kept, "evaluate")
    with pytest.raises(InputError, match="almanac key list"):
        store.revoke_key(identity, NOW)


def test_an_unknown_scope_is_refused(store: Store) -> None:
    """The message names the scopes that exist."""
    with pytest.raises(InputError, match="evaluate, review, release"):
        store.create_key("everything", NOW)


def test_an_episode_is_found_by_its_token_until_it_expires(store: Store) -> None:
    """A stored episode comes back whole; an expired or unknown token finds nothing."""
    identity, token = store.create_episode(OPENING, NOW)
    found = store.episode_by_token(token, NOW)
    assert found is not None
    assert (found.id, found.task, found.options, found.seed) == (
        identity,
        OPENING.task,
        OPENING.options,
        b"s" * 32,
    )
    assert store.episode_by_token(token, NOW + timedelta(days=31)) is None
    assert store.episode_by_token("x", NOW) is None


def test_events_come_back_exactly_and_in_order(store: Store) -> None:
    """Floats, keys and replies survive the database bit by bit."""
    identity, _ = store.create_episode(OPENING, NOW)
    events = [_event(i, f"k{i}") for i in range(12)]
    for event in events:
        store.append(identity, event)
    assert store.events(identity) == events


def test_one_of_two_writers_of_a_number_or_key_loses(store: Store) -> None:
    """A taken sequence number and a taken key are both refused, and the loser's event leaves no trace."""
    identity, _ = store.create_episode(OPENING, NOW)
    store.append(identity, _event(0, "a"))
    for event in (_event(0, "b"), _event(1, "a")):
        with pytest.raises(SeqTakenError):
            store.append(identity, event)
    assert [event.key for event in store.events(identity)] == ["a"]


def test_concurrent_writers_keep_every_event_once(store: Store) -> None:
    """Of eight threads racing for forty numbers exactly one wins each."""
    identity, _ = store.create_episode(OPENING, NOW)

    def race(worker: int) -> int:
        won = 0
        for seq in range(40):
            try:
                store.append(identity, _event(seq, f"{worker}-{seq}"))
                won += 1
            except SeqTakenError:
                pass
        return won

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(race, range(8))) == 40
    assert [event.seq for event in store.events(identity)] == list(range(40))


def test_probes_are_counted_and_writes_are_audited(store: Store) -> None:
    """Unknown routes are counted per episode; the audit log keeps its order."""
    identity, token = store.create_episode(OPENING, NOW)
    store.count_probe(token)
    store.count_probe(token)
    store.count_probe("unknown token")
    assert store.probes(identity) == 2
    store.audit("k", "create_episode", identity, NOW)
    assert [(line["key"], line["subject"]) for line in store.audit_lines()] == [("k", identity)]
