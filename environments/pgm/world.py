"""The pgm world: samples on request, and one answer.

Source: arXiv 2610.14381, sections 3.1 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from environments.pgm.answer import check_form
from environments.pgm.brief import brief
from environments.pgm.definition import PgmDefinition
from environments.pgm.names import Names, QueryError
from environments.pgm.protocol import meters
from environments.pgm.query import Arm, read_request
from environments.pgm.read_text import Reader, read_by_rule
from environments.pgm.sample import sample
from environments.pgm.summary import csv_text, summarise
from environments.pgm.tools import ANSWER, QUERY, tools
from environments.seeding import derive, generator
from environments.task import JSON, ActionError, Options, Step, Tool


class PgmWorld:
    """One open causal world; it counts its queries and rows, and a replay counts them again.

    Args:
        definition: the task.
        options: ``extra["rows"]`` true adds the rows as CSV to every table, for players that run code.
        seed: the session seed; with the number of the query and the arm it decides every row.
        reader: reads requests that are written as text.
    """

    def __init__(
        self, definition: PgmDefinition, options: Options, seed: bytes, reader: Reader = read_by_rule
    ) -> None:
        self._definition = definition
        self._meters = meters(options.protocol)
        self._brief = brief(definition, options.protocol)
        self._with_rows = options.extra.get("rows") is True
        self._seed = seed
        self._reader = reader
        self._names = Names(definition.variables)
        self._queries = 0
        self._rows = 0

    @property
    def brief(self) -> dict[str, JSON]:
        """What the player is told at the start."""
        return self._brief

    @property
    def tools(self) -> Sequence[Tool]:
        """The actions, the same under every protocol."""
        return tools()

    @property
    def meters(self) -> Mapping[str, int]:
        """Turns, and queries or rows."""
        return self._meters

    def step(self, tool: str, args: JSON) -> Step:
        """Carry out one action; refuse with a reason rather than raise."""
        if tool == QUERY:
            return self._query(args)
        if tool == ANSWER:
            return self._answer(args)
        if args:
            return _refused(ActionError(code="malformed", message="this action takes no arguments"))
        return Step(outcome="succeeded", data={"accepted": True}, ended="completed")

    def _query(self, args: JSON) -> Step:
        try:
            arms = self._read(args)
        except QueryError as error:
            return _refused(error.error)
        drawn = sum(arm.rows for arm in arms)
        left = self._meters.get("rows", drawn + self._rows) - self._rows
        if drawn > left:
            message = f"the request draws {drawn} records; {left} are left"
            return _refused(ActionError(code="rows", message=message, path="arms"))
        tables = [self._draw(arm, number) for number, arm in enumerate(arms)]
        self._queries += 1
        self._rows += drawn
        return Step(outcome="succeeded", data={"arms": tables}, spent={"rows": drawn})

    def _read(self, args: JSON) -> list[Arm]:
        if not isinstance(args.get("text", ""), str) or ("text" in args and len(args) > 1):
            raise QueryError("malformed", '"text" is a text and stands alone', "text")
        document = self._reader(args["text"], self._definition.variables) if "text" in args else args
        return read_request(document, self._names)

    def _draw(self, arm: Arm, number: int) -> dict[str, JSON]:
        rng = generator(derive(self._seed, "rows", str(self._queries), str(number)))
        world = self._definition.world
        columns = sample(world.network, arm.rows, rng, arm.do)
        table = summarise(arm, columns, world, self._names)
        return table | {"csv": csv_text(arm, columns, self._names)} if self._with_rows else table

    def _answer(self, args: JSON) -> Step:
        if set(args) != {"answer"}:
            return _refused(ActionError(code="malformed", message='the arguments are {"answer": …} alone'))
        breach = check_form(self._definition.question, args["answer"])
        if breach is not None:
            return _refused(breach)
        return Step(outcome="succeeded", data={"accepted": True}, ended="completed")


def _refused(error: ActionError) -> Step:
    return Step(outcome="refused", error=error)
