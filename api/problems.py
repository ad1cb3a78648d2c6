"""Which HTTP status an error becomes, in one table, and its problem+json body (RFC 9457)."""

from __future__ import annotations

from cards.canonical import canonical_json
from cards.errors import AlmanacError, InputError, ReleaseError, WorkspaceError

STATUS: dict[type[AlmanacError], int] = {InputError: 422, ReleaseError: 409, WorkspaceError: 503}
TITLES = {
    401: "no valid key",
    404: "not found",
    409: "conflict",
    413: "too large",
    422: "bad input",
    503: "not ready",
}


def status_of(error: AlmanacError) -> int:
    """Return the status of the nearest class in the table, 500 where there is none."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem(status: int, detail: str) -> bytes:
    """Return a problem+json body."""
    title = TITLES.get(status, "failed")
    return canonical_json({"type": "about:blank", "title": title, "status": status, "detail": detail})
