"""The typed query language: which arms a player asks for, and whether they may be had.

Source: arXiv 2610.14381, section 4 (typed simulator queries, validity and non-intervenability checks).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from environments.pgm.names import Names, QueryError
from environments.task import JSON

FEWEST_ROWS, MOST_ROWS, DEFAULT_ROWS = 50, 2000, 1000
MOST_ARMS, MOST_SET = 6, 3


@dataclass(frozen=True)
class Arm:
    """One sample in numbers: set nodes, rows to draw, rows to keep, how to split them, what to show."""

    do: Mapping[int, int]
    rows: int
    where: Mapping[int, int]
    by: int | None
    columns: tuple[int, ...]


class ArmDocument(BaseModel):
    """One arm as a player writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["observe", "intervene"]
    do: dict[str, str] = {}
    n: int = DEFAULT_ROWS
    where: dict[str, str] = {}
    by: str | None = None
    columns: list[str] | None = None


class RequestDocument(BaseModel):
    """Up to six arms, drawn together; they count as one query."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    arms: Annotated[list[ArmDocument], Field(min_length=1, max_length=MOST_ARMS)]


def read_request(document: JSON, names: Names) -> list[Arm]:
    """Read and check a request: ``{"arms": [...]}`` or one arm by itself.

    Raises:
        QueryError: ``malformed``, ``too_many_arms``, ``unknown_variable``, ``unknown_state``,
            ``forbidden_variable``, ``out_of_range``, ``too_many_set``, ``contradiction``.
    """
    return [_arm(arm, f"arms[{i}]", names) for i, arm in enumerate(_documents(document))]


def _documents(document: JSON) -> list[ArmDocument]:
    single = isinstance(document, dict) and "arms" not in document
    whole = {"arms": [document]} if single else document
    if isinstance(whole, dict) and isinstance(whole.get("arms"), list) and len(whole["arms"]) > MOST_ARMS:
        message = f"{len(whole['arms'])} arms are asked for; one request may hold {MOST_ARMS}"
        raise QueryError("too_many_arms", message, "arms")
    try:
        return RequestDocument.model_validate(whole).arms
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = first["loc"][2:] if single else first["loc"]
        path = ".".join(str(part)[:64] for part in place)
        raise QueryError("malformed", f"{first['msg'][:1].lower()}{first['msg'][1:]}", path) from None


def _arm(arm: ArmDocument, path: str, names: Names) -> Arm:
    if (arm.kind == "intervene") != bool(arm.do):
        message = 'kind "intervene" needs a "do", and kind "observe" has none'
        raise QueryError("malformed", message, f"{path}.kind")
    if not FEWEST_ROWS <= arm.n <= MOST_ROWS:
        message = f"n is {str(arm.n)[:20]}; it must lie between {FEWEST_ROWS} and {MOST_ROWS}"
        raise QueryError("out_of_range", message, f"{path}.n")
    do = _assignment(arm.do, f"{path}.do", names)
    if len(do) > MOST_SET:
        message = f"{len(do)} variables are set at once; at most {MOST_SET} can be"
        raise QueryError("too_many_set", message, f"{path}.do")
    for node in do:
        if not names.variables[node].intervenable:
            message = f"{names.variables[node].name} cannot be set"
            raise QueryError("forbidden_variable", message, f"{path}.do")
    where = _assignment(arm.where, f"{path}.where", names)
    for node in where:
        if node in do and do[node] != where[node]:
            message = f"{names.variables[node].name} is set to one state and wanted in another"
            raise QueryError("contradiction", message, f"{path}.where")
    everything = range(len(names.variables))
    columns = (
        tuple(everything)
        if arm.columns is None
        else tuple(dict.fromkeys(names.node(name, f"{path}.columns") for name in arm.columns))
    )
    by = None if arm.by is None else names.node(arm.by, f"{path}.by")
    return Arm(do, arm.n, where, by, columns)


def _assignment(written: Mapping[str, str], path: str, names: Names) -> dict[int, int]:
    found: dict[int, int] = {}
    for name, state in written.items():
        node = names.node(name, path)
        value = names.state(node, state, path)
        if found.setdefault(node, value) != value:
            message = f"{names.variables[node].name} is named twice, with two states"
            raise QueryError("contradiction", message, path)
    return found
