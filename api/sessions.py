"""Open sessions of stored episodes: rebuilt from their events, kept warm, one lock each.

Shared by the agent door, which acts, and the curator door, which only reads. No judge is imported.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from api.store import Episode, SeqTakenError, Store
from environments.families import family
from environments.release import Release
from environments.session import Session
from environments.task import JSON, Reply

KEPT = 512
"""Sessions kept in memory; others are rebuilt from their events when they are next used."""


class Sessions:
    """Sessions by episode id, over one store.

    Args:
        store: where episodes and events live.
        release: returns an opened, verified release by version.
    """

    def __init__(self, store: Store, release: Callable[[str], Release]) -> None:
        self._store = store
        self._release = release
        self._open: OrderedDict[str, Session] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def read(self, episode: Episode) -> Session:
        """Return the session as it stands, without acting on it."""
        with self._lock(episode.id):
            return self._session(episode)

    def call(self, episode: Episode, tool: str, args: JSON, key: str) -> Reply:
        """Carry out one action and store its event before the reply is given."""
        with self._lock(episode.id):
            for _ in range(16):
                session = self._session(episode)
                before = len(session.events)
                try:
                    reply = session.call(tool, args, key)
                    if len(session.events) > before:
                        self._store.append(episode.id, session.events[-1])
                except SeqTakenError:
                    self._forget(episode.id)
                    continue
                except BaseException:
                    # What memory holds is no longer what the store holds: rebuild at the next call.
                    self._forget(episode.id)
                    raise
                return reply
            raise RuntimeError(f"episode {episode.id} is contended: 16 attempts lost")

    def rebuild(self, episode: Episode) -> Session:
        """Return a fresh session, replayed from the stored events."""
        task = self._release(episode.release).task(episode.task)
        world = family(task.row.family).open(task.definition, episode.options, episode.seed)
        return Session(world, episode.options, self._store.events(episode.id))

    def _session(self, episode: Episode) -> Session:
        with self._guard:
            session = self._open.get(episode.id)
            if session is not None:
                self._open.move_to_end(episode.id)
                return session
        session = self.rebuild(episode)
        with self._guard:
            self._open[episode.id] = session
            while len(self._open) > KEPT:
                dropped, _ = self._open.popitem(last=False)
                self._locks.pop(dropped, None)
        return session

    def _forget(self, identity: str) -> None:
        with self._guard:
            self._open.pop(identity, None)

    def _lock(self, identity: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(identity, threading.Lock())
