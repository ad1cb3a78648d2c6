"""Read a request written as text: JSON, or phrases such as ``do(X=x) n=500; observe 1000 by Y``.

The reader is deterministic. ``Reader`` is the seam for another one, such as a language model: what it
returns goes through the same checks as everything else.

Source: arXiv 2610.14381, section 4 (the parser performs no causal reasoning).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from cards.document import loads_bounded
from cards.errors import ExpressionError
from environments.pgm.definition import Variable
from environments.pgm.names import QueryError
from environments.task import JSON

LONGEST_TEXT = 4000

Reader = Callable[[str, Sequence[Variable]], JSON]
"""Turns a text into a request document; raises QueryError where it can make nothing of it."""

_DO = re.compile(r"\bdo\s*\(([^()]*)\)", re.IGNORECASE)
_OBSERVE = re.compile(r"\bobserv\w*", re.IGNORECASE)
_ROWS = re.compile(
    r"\bn\s*=\s*(\d{1,9})\b|\b(\d{1,9})\b(?=\s*(?:rows?|samples?|records?|each|by\b|where\b|$))", re.I
)
_WHERE = re.compile(r"\bwhere\b(.*?)(?=\bby\b|$)", re.IGNORECASE)
_BY = re.compile(r"\bby\s+(\w+)", re.IGNORECASE)
_PAIR = re.compile(r"(\w+)\s*(?:=|\bis\b)\s*(\w+)")
_BREAK = re.compile(r"[;\n]+")


def read_by_rule(text: str, variables: Sequence[Variable]) -> JSON:
    """Return the request document of a text.

    A text is split at semicolons and line ends; each part asks for ``do(…)`` arms or for ordinary
    records, with an optional number of rows (``n=500``, ``observe 500``, ``500 rows``), ``where V=v``
    and ``by V``.

    Raises:
        QueryError: ``too_long`` or ``unreadable_text``.
    """
    if len(text) > LONGEST_TEXT:
        raise QueryError(
            "too_long", f"the text is {len(text)} characters long; at most {LONGEST_TEXT} are read"
        )
    if text.lstrip().startswith(("{", "[")):
        return _json(text)
    arms = [arm for part in _BREAK.split(text) if part.strip() for arm in _arms(part.strip())]
    if not arms:
        raise _unreadable()
    return {"arms": arms}


def _json(text: str) -> JSON:
    try:
        document = loads_bounded(text)
    except (ExpressionError, json.JSONDecodeError):
        raise _unreadable() from None
    return {"arms": document} if isinstance(document, list) else document


def _arms(part: str) -> list[JSON]:
    shared: dict[str, JSON] = {}
    rest = _DO.sub(" ", part)
    where, by = _WHERE.search(rest), _BY.search(rest)
    if where:
        shared["where"] = _pairs(where.group(1))
    if by:
        shared["by"] = by.group(1)
    rows = _ROWS.search(_WHERE.sub(" ", rest))
    if rows:
        shared["n"] = int(rows.group(1) or rows.group(2))
    settings = _DO.findall(part)
    if settings:
        return [{"kind": "intervene", "do": _pairs(inner), **shared} for inner in settings]
    if _OBSERVE.search(rest):
        return [{"kind": "observe", **shared}]
    raise _unreadable()


def _pairs(text: str) -> dict[str, str]:
    pairs = _PAIR.findall(text)
    if not pairs or len({name for name, _ in pairs}) < len(pairs):
        raise _unreadable()
    return dict(pairs)


def _unreadable() -> QueryError:
    message = (
        "no request can be read from this text; write do(Variable=State) n=500, or observe 1000, or JSON"
    )
    return QueryError("unreadable_text", message, "text")
