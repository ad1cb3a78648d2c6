"""The curator door: orchestrators create episodes here and read records and scores.

It alone imports the judges. Every route needs a bearer key with scope ``evaluate``; every write stands
in the audit log.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from api.problems import problem, status_of
from api.sessions import Sessions
from api.store import Episode, Opening, Store
from cards.errors import AlmanacError
from environments.families import family
from environments.release import Release
from environments.seeding import session_seed
from environments.session import Session
from environments.task import Ending, Options, Task


class NewEpisode(BaseModel):
    """The request for one episode."""

    model_config = ConfigDict(extra="forbid")

    release: str = Field(default="latest", max_length=64)
    task: str = Field(pattern=r"^[0-9a-f]{16}$", description="a task's public id")
    protocol: str = Field(max_length=64, description="prior, fixed:B or adaptive for laws")
    repetition: int = Field(default=0, ge=0, le=10_000)


def curator_app(
    store: Store, release: Callable[[str], Release], agent_url: str, clock: Callable[[], datetime]
) -> FastAPI:
    """Return the door's ASGI application.

    Args:
        store: episodes, events and keys.
        release: returns an opened release with its sealed part, by version or ``latest``.
        agent_url: the address at which players reach the agent door.
        clock: the time, for records.
    """
    app = FastAPI(title="Almanac curator door", version="1")
    door = _Door(store, release, agent_url, clock)
    key = Depends(door.key)
    app.get("/health")(_health)
    app.get("/v1/tasks", dependencies=[key])(door.tasks)
    app.post("/v1/episodes", status_code=201)(door.create)
    app.get("/v1/episodes/{identity}/record", dependencies=[key])(door.record)
    app.get("/v1/episodes/{identity}/score", dependencies=[key])(door.score)
    app.get("/v1/episodes/{identity}/verdict", dependencies=[key])(door.verdict)
    app.add_exception_handler(AlmanacError, _almanac_error)
    app.add_exception_handler(StarletteHTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    return app


class _Door:
    def __init__(
        self, store: Store, release: Callable[[str], Release], agent_url: str, clock: Callable[[], datetime]
    ) -> None:
        self._store, self._release, self._agent_url, self._clock = store, release, agent_url, clock
        self._sessions = Sessions(store, release)

    def key(self, authorization: Annotated[str, Header()] = "") -> str:
        """Return the id of the caller's key, or refuse."""
        scheme, _, key = authorization.partition(" ")
        found = self._store.key_scope(key.strip()) if scheme.lower() == "bearer" else None
        if found is None:
            raise HTTPException(401, "send Authorization: Bearer KEY; make one with `almanac key create`")
        if found[1] != "evaluate":
            detail = f"this key has scope {found[1]}; make one with `almanac key create --scope evaluate`"
            raise HTTPException(403, detail)
        return found[0]

    def tasks(self, release: str = "latest") -> dict[str, Any]:
        """Return a release's version, manifest digest and public task rows."""
        opened = self._release(release)
        rows = [row.model_dump() for row in opened.rows()]
        return {
            "version": opened.version,
            "manifest": opened.manifest_sha256,
            "window": opened.manifest.window.model_dump(),
            "rows": rows,
        }

    def create(self, wanted: NewEpisode, authorization: Annotated[str, Header()] = "") -> dict[str, str]:
        """Create one episode; the token opens it at the agent door and is shown this once."""
        key = self.key(authorization)
        opened = self._release(wanted.release)
        task = opened.task(wanted.task)
        options = Options(setting=task.row.setting, protocol=wanted.protocol, repetition=wanted.repetition)
        seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
        family(task.row.family).open(task.definition, options, seed)  # refuses a protocol that does not exist
        opening = Opening(opened.version, opened.manifest_sha256, wanted.task, options, seed)
        identity, token = self._store.create_episode(opening, self._clock())
        self._store.audit(key, "create_episode", identity, self._clock())
        return {"episode": identity, "token": token, "agent_url": self._agent_url}

    def record(self, identity: str) -> dict[str, Any]:
        """Return an episode's record as it stands, and how many unknown routes its player probed."""
        episode, session, _ = self._read(identity)
        record = session.record().model_dump()
        return {"record": record, "task": episode.task, "probes": self._store.probes(identity)}

    def score(self, identity: str) -> dict[str, Any]:
        """Return the judge's verdict on an episode that is over."""
        _, session, task = self._read(identity)
        if not session.done:
            raise HTTPException(409, "the episode is not over yet; read its record instead")
        return family(task.row.family).judge(task.definition, session.record()).model_dump()

    def verdict(self, identity: str, ending: Ending = "unfinished") -> dict[str, Any]:
        """Return the score with the sealed words that a table groups by, as a run's row needs them.

        An episode that its player left open is judged as it stands, ended by ``ending``.
        """
        _, session, task = self._read(identity)
        score = family(task.row.family).judge(task.definition, session.record(ending))
        return {"score": score.model_dump(), "cluster": task.cluster, "facets": task.facets}

    def _read(self, identity: str) -> tuple[Episode, Session, Task]:
        episode = self._store.episode(identity)
        if episode is None:
            raise HTTPException(404, f"there is no episode {identity[:32]!r}")
        # Rebuilt from the store at every read: the agent door, another process, is who acts.
        session = self._sessions.rebuild(episode)
        return episode, session, self._release(episode.release).task(episode.task)


def _health() -> dict[str, str]:
    return {"status": "ok"}


def _respond(status: int, detail: str) -> Response:
    return Response(problem(status, detail), status, media_type="application/problem+json")


async def _almanac_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, AlmanacError)
    return _respond(status_of(error), str(error))


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    return _respond(error.status_code, str(error.detail))


async def _validation_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return _respond(422, f"{place}: {first['msg']}")
