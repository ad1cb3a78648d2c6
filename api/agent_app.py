"""The agent door: one episode, two routes, and the same 404 for everything else.

It knows tokens, sessions and nothing of scores. Written on Starlette, which FastAPI is made of,
because the door must have no OpenAPI document and no validation errors of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from api.sessions import Sessions
from api.store import Episode, Store
from cards.canonical import canonical_json
from cards.document import loads_bounded
from cards.errors import InputError
from environments.release import Release
from environments.session import Session
from environments.task import ActionError, Reply

MAX_BODY_BYTES = 524_288
_NOT_FOUND = b'{"error":"not found"}'


def agent_app(store: Store, release: Callable[[str], Release], clock: Callable[[], datetime]) -> Starlette:
    """Return the door's ASGI application.

    Args:
        store: episodes and events.
        release: returns an opened release by version.
        clock: the time, for the expiry of tokens.
    """
    door = _Door(store, Sessions(store, release), clock)
    app = Starlette(
        routes=[
            Route("/v1/episode", door.show, methods=["GET"]),
            Route("/v1/actions", door.act, methods=["POST"]),
        ],
        exception_handlers={404: door.nothing, 405: door.nothing, 500: _failed},
    )
    app.router.redirect_slashes = False  # a redirect would tell a known route from an unknown one
    return app


class _Door:
    def __init__(self, store: Store, sessions: Sessions, clock: Callable[[], datetime]) -> None:
        self._store, self._sessions, self._clock = store, sessions, clock

    async def show(self, request: Request) -> Response:
        """Answer GET /v1/episode: brief, tools, remaining budget, done."""
        if request.method != "GET":  # Starlette lets HEAD in with GET
            raise HTTPException(404)
        episode = await self._episode(request)
        if episode is None:
            return _not_found()
        session = await run_in_threadpool(self._sessions.read, episode)
        return _json(await run_in_threadpool(_view, session))

    async def act(self, request: Request) -> Response:
        """Answer POST /v1/actions: carry out one action."""
        episode = await self._episode(request)
        if episode is None:
            return _not_found()
        try:
            body = await _body(request)
            tool, args = _action(body)
        except InputError as error:
            session = await run_in_threadpool(self._sessions.read, episode)
            return _json(_refusal(session, str(error)).model_dump())
        key = request.headers.get("idempotency-key", "")
        reply = await run_in_threadpool(self._sessions.call, episode, tool, args, key)
        return _json(reply.model_dump())

    async def nothing(self, request: Request, _error: Exception) -> Response:
        """Answer every other route alike, and count the probe against the token's episode."""
        token = _token(request)
        if token:
            await run_in_threadpool(self._store.count_probe, token)
        return _not_found()

    async def _episode(self, request: Request) -> Episode | None:
        token = _token(request)
        if not token:
            return None
        return await run_in_threadpool(self._store.episode_by_token, token, self._clock())


def _view(session: Session) -> dict[str, Any]:
    return {
        "brief": session.brief,
        "tools": [
            {"name": t.name, "kind": t.kind, "description": t.description, "parameters": t.parameters}
            for t in session.tools
        ],
        "remaining": session.remaining,
        "done": session.done,
    }


def _action(body: bytes) -> tuple[str, Any]:
    try:
        value = loads_bounded(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError("the body is not UTF-8.", "Send a JSON object {tool, args}.") from error
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str) or set(value) - {"tool", "args"}:
        raise InputError("the body is not an action.", 'Send {"tool": name, "args": {…}} and nothing else.')
    return value["tool"], value.get("args", {})


async def _body(request: Request) -> bytes:
    chunks, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise InputError(f"the body is longer than {MAX_BODY_BYTES} bytes.", "Send a shorter action.")
            chunks.append(chunk)
    except ClientDisconnect as error:
        raise InputError("the connection ended before the body did.") from error
    return b"".join(chunks)


def _token(request: Request) -> str:
    """Return the bearer token; two headers name none, because a proxy might have read the other one."""
    given = request.headers.getlist("authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


def _refusal(session: Session, message: str) -> Reply:
    error = ActionError(code="unreadable", message=message)
    return Reply(ok=False, error=error, remaining=session.remaining, done=session.done)


def _json(value: Any) -> Response:
    return Response(canonical_json(value), media_type="application/json")


def _not_found() -> Response:
    return Response(_NOT_FOUND, status_code=404, media_type="application/json")


async def _failed(_request: Request, _error: Exception) -> Response:
    return Response(b'{"error":"failed, nothing was changed; try again"}', 500, media_type="application/json")
