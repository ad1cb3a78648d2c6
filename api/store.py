"""The doors' state in SQL: episodes, their events, API keys, the audit log.

SQLAlchemy Core on a SQLite file in WAL mode. An action is one INSERT of an event; the primary key
(episode, seq) and the unique (episode, key) decide between two workers, the loser rebuilds and retries.
Tokens and keys are stored as SHA-256 digests only.
"""

from __future__ import annotations

import json
import secrets
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cards.canonical import canonical_json, sha256_hex
from cards.errors import InputError
from environments.task import Event, Options

SCOPES = ("evaluate", "review", "release")
TOKEN_DAYS = 30

_META = sa.MetaData()
_EPISODES = sa.Table(
    "episodes",
    _META,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("token_hash", sa.String, unique=True, nullable=False),
    sa.Column("release", sa.String, nullable=False),
    sa.Column("manifest", sa.String, nullable=False),
    sa.Column("task", sa.String, nullable=False),
    sa.Column("options", sa.String, nullable=False),
    sa.Column("seed", sa.String, nullable=False),
    sa.Column("created", sa.String, nullable=False),
    sa.Column("expires", sa.String, nullable=False),
    sa.Column("probes", sa.Integer, nullable=False, default=0),
)
_EVENTS = sa.Table(
    "events",
    _META,
    sa.Column("episode", sa.String, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False),
    sa.Column("event", sa.String, nullable=False),
    sa.UniqueConstraint("episode", "key"),
)
_KEYS = sa.Table(
    "keys",
    _META,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("key_hash", sa.String, unique=True, nullable=False),
    sa.Column("scope", sa.String, nullable=False),
    sa.Column("created", sa.String, nullable=False),
)
_AUDIT = sa.Table(
    "audit",
    _META,
    sa.Column("n", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", sa.String, nullable=False),
    sa.Column("key", sa.String, nullable=False),
    sa.Column("action", sa.String, nullable=False),
    sa.Column("subject", sa.String, nullable=False),
)


@dataclass(frozen=True)
class Episode:
    """One stored episode: what a session is reopened from."""

    id: str
    release: str
    manifest: str
    task: str
    options: Options
    seed: bytes


@dataclass(frozen=True)
class Opening:
    """What an episode is created from: a pinned release, a task of it, and how it is played."""

    release: str
    manifest: str
    task: str
    options: Options
    seed: bytes


class SeqTakenError(Exception):
    """Another worker has written this event first."""


class Store:
    """The database of one service.

    Args:
        path: the SQLite file; it and its folder are made when missing.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})
        sa.event.listen(self._engine, "connect", _pragmas)
        with self._engine.begin() as connection:
            for table in _META.sorted_tables:  # another process may make them at the same moment
                connection.execute(sa.schema.CreateTable(table, if_not_exists=True))
        path.chmod(0o600)
        # One writer at a time inside the process costs less than SQLite's own waiting on a busy file.
        self._writing = threading.Lock()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def create_key(self, scope: str, now: datetime) -> str:
        """Make an API key for one scope and return it; only its digest and an id are kept.

        Raises:
            InputError: when the scope is unknown.
        """
        if scope not in SCOPES:
            raise InputError(f"there is no scope {scope!r}.", f"The scopes are: {', '.join(SCOPES)}.")
        key = f"alm_{secrets.token_urlsafe(24)}"
        row = {"id": secrets.token_hex(4), "key_hash": _hash(key), "scope": scope, "created": now.isoformat()}
        self._write(sa.insert(_KEYS).values(**row))
        return key

    def list_keys(self) -> list[dict[str, str]]:
        """Return id, scope and time of creation of every key that opens something, oldest first."""
        query = sa.select(_KEYS.c.id, _KEYS.c.scope, _KEYS.c.created).order_by(_KEYS.c.created, _KEYS.c.id)
        with self._engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(query)]

    def revoke_key(self, identity: str, now: datetime) -> None:
        """Forget a key, so that it opens nothing from now on; the audit log keeps its id.

        Raises:
            InputError: when there is no key with this id.
        """
        if identity not in {row["id"] for row in self.list_keys()}:
            raise InputError(f"there is no key {identity[:40]!r}.", "`almanac key list` shows their ids.")
        self._write(sa.delete(_KEYS).where(_KEYS.c.id == identity))
        self.audit(identity, "revoke_key", identity, now)

    def key_id(self, key: str, scope: str) -> str | None:
        """Return the id of a key that has the scope, or None."""
        found = self.key_scope(key)
        return found[0] if found is not None and found[1] == scope else None

    def key_scope(self, key: str) -> tuple[str, str] | None:
        """Return id and scope of a key, or None for one that opens nothing."""
        query = sa.select(_KEYS.c.id, _KEYS.c.scope).where(_KEYS.c.key_hash == _hash(key))
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else (row[0], row[1])

    def audit(self, key: str, action: str, subject: str, now: datetime) -> None:
        """Append one line to the audit log."""
        row = {"at": now.isoformat(), "key": key, "action": action, "subject": subject}
        self._write(sa.insert(_AUDIT).values(**row))

    def audit_lines(self) -> list[dict[str, Any]]:
        """Return the audit log, oldest line first."""
        with self._engine.connect() as connection:
            rows = connection.execute(sa.select(_AUDIT).order_by(_AUDIT.c.n)).mappings()
            return [dict(row) for row in rows]

    def create_episode(self, opening: Opening, now: datetime) -> tuple[str, str]:
        """Store a new episode and return its id and its bearer token (kept as a digest only)."""
        identity, token = secrets.token_hex(8), secrets.token_urlsafe(16)
        row = {
            "id": identity,
            "token_hash": _hash(token),
            "release": opening.release,
            "manifest": opening.manifest,
            "task": opening.task,
            "options": opening.options.model_dump_json(),
            "seed": opening.seed.hex(),
            "created": now.isoformat(),
            "expires": (now + timedelta(days=TOKEN_DAYS)).isoformat(),
            "probes": 0,
        }
        self._write(sa.insert(_EPISODES).values(**row))
        return identity, token

    def episode_by_token(self, token: str, now: datetime) -> Episode | None:
        """Return the episode whose token this is, unless it has expired."""
        query = sa.select(_EPISODES).where(
            _EPISODES.c.token_hash == _hash(token), _EPISODES.c.expires > now.isoformat()
        )
        return self._episode(query)

    def episode(self, identity: str) -> Episode | None:
        """Return an episode by id."""
        return self._episode(sa.select(_EPISODES).where(_EPISODES.c.id == identity))

    def count_probe(self, token: str) -> None:
        """Count a request for an unknown route against the episode whose token it carries."""
        statement = (
            sa.update(_EPISODES)
            .where(_EPISODES.c.token_hash == _hash(token))
            .values(probes=_EPISODES.c.probes + 1)
        )
        self._write(statement)

    def probes(self, identity: str) -> int:
        """Return how many unknown routes the episode's player asked for."""
        query = sa.select(_EPISODES.c.probes).where(_EPISODES.c.id == identity)
        with self._engine.connect() as connection:
            return int(connection.execute(query).scalar_one())

    def events(self, identity: str) -> list[Event]:
        """Return the episode's events in order."""
        query = sa.select(_EVENTS.c.event).where(_EVENTS.c.episode == identity).order_by(_EVENTS.c.seq)
        with self._engine.connect() as connection:
            return [Event.model_validate(json.loads(text)) for (text,) in connection.execute(query)]

    def append(self, identity: str, event: Event) -> None:
        """Store one event.

        Raises:
            SeqTakenError: when another worker stored an event with this number or key first.
        """
        text = canonical_json(event.model_dump()).decode("utf-8")
        row = {"episode": identity, "seq": event.seq, "key": event.key, "event": text}
        try:
            self._write(sa.insert(_EVENTS).values(**row))
        except sa.exc.IntegrityError as error:
            raise SeqTakenError(str(event.seq)) from error

    def _episode(self, query: sa.Select[Any]) -> Episode | None:
        with self._engine.connect() as connection:
            row = connection.execute(query).mappings().one_or_none()
        if row is None:
            return None
        options = Options.model_validate_json(row["options"])
        seed = bytes.fromhex(row["seed"])
        return Episode(row["id"], row["release"], row["manifest"], row["task"], options, seed)

    def _write(self, statement: sa.Executable) -> None:
        with self._writing, self._engine.begin() as connection:
            connection.execute(statement)


def _hash(secret: str) -> str:
    return sha256_hex(secret.encode("utf-8"))


def _pragmas(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()
