"""Find variables and states by what a player wrote: exactly, without case, or with a slip or two."""

from __future__ import annotations

from collections.abc import Sequence

from environments.pgm.definition import Variable
from environments.task import ActionError

MOST_SLIPS = 2
LONGEST_NAME = 64
SHORTEST_FUZZY = 6
"""Shorter words must be written without slips: two slips turn one into another."""


class QueryError(Exception):
    """Why a request cannot be carried out; ``error`` is what the player sees."""

    def __init__(self, code: str, message: str, path: str = "") -> None:
        super().__init__(message)
        self.error = ActionError(code=code, message=message, path=path)


class Names:
    """The names of one task's variables and states."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = tuple(variables)
        self._names = [variable.name for variable in variables]

    def node(self, text: object, path: str = "") -> int:
        """Return the number of a variable.

        Raises:
            QueryError: ``unknown_variable``.
        """
        found = _match(text, self._names)
        if found is None:
            raise QueryError("unknown_variable", f"there is no variable {_shown(text)}", path)
        return found

    def state(self, node: int, text: object, path: str = "") -> int:
        """Return the number of a variable's state.

        Raises:
            QueryError: ``unknown_state``, with the states that there are.
        """
        variable = self.variables[node]
        found = _match(text, variable.states)
        if found is None:
            message = (
                f"{variable.name} has no state {_shown(text)}; its states are {', '.join(variable.states)}"
            )
            raise QueryError("unknown_state", message, path)
        return found


def _match(text: object, options: Sequence[str]) -> int | None:
    if not isinstance(text, str) or len(text) > LONGEST_NAME:
        return None
    if text in options:
        return options.index(text)
    folded = text.strip().casefold()
    plain = [option.casefold() for option in options]
    if plain.count(folded) == 1:
        return plain.index(folded)
    if len(folded) < SHORTEST_FUZZY:
        return None
    near = [i for i, option in enumerate(plain) if _slips(folded, option) <= MOST_SLIPS]
    return near[0] if len(near) == 1 else None


def _slips(one: str, other: str) -> int:
    """Return the edit distance of two words, or more than the most allowed when it is certain to be."""
    if abs(len(one) - len(other)) > MOST_SLIPS:
        return MOST_SLIPS + 1
    before = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, against in enumerate(other, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != against)))
        before = row
    return before[-1]


def _shown(text: object) -> str:
    return repr(text[:LONGEST_NAME]) if isinstance(text, str) else f"of type {type(text).__name__}"
