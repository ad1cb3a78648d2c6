"""Scripted players of a pgm world that come with the family: one knows the truth, one knows nothing."""

from __future__ import annotations

from collections.abc import Sequence

from cards.canonical import digest
from environments.pgm.definition import PgmDefinition
from environments.pgm.gold import gold_answer
from environments.pgm.question import LABELS
from environments.pgm.tools import ANSWER, QUERY
from environments.seeding import generator
from environments.task import JSON, Reply, Tool


class Reference:
    """Looks at ordinary records once, as everybody may, and gives the gold answer."""

    def __init__(self, definition: PgmDefinition) -> None:
        self._answer = gold_answer(definition)

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Nothing in the brief is news."""

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Query, answer, stop."""
        if last is None:
            return QUERY, {"arms": [{"kind": "observe", "n": 100}]}
        return (ANSWER, {"answer": self._answer}) if last.ok and not last.done else None


class Guess:
    """Answers at once with a legal answer that rests on nothing: "yes", the first label, a random action.

    The random choice is drawn from the brief's digest, so that a task always gets the same guess.
    """

    def __init__(self) -> None:
        self._brief: dict[str, JSON] = {}

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Keep the brief."""
        self._brief = brief

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Answer, once."""
        return (ANSWER, {"answer": self._guess()}) if last is None else None

    def _guess(self) -> JSON:
        form = self._brief["question"]["fields"]["form"]
        if form == "yes_no":
            return "yes"
        if form == "label":
            return LABELS[0]
        if form == "names":
            return []
        action = self._action()
        if form == "name":
            return action["variable"]
        return {"reject": True, "alternative": action} if form == "verdict_and_action" else action

    def _action(self) -> dict[str, str]:
        fields = self._brief["question"]["fields"]
        asked = {fields.get("variable"), fields.get("other")}
        actions = [
            {"variable": variable["name"], "state": state}
            for variable in self._brief["variables"]
            if variable["intervenable"] and variable["name"] not in asked
            for state in variable["states"]
        ]
        rng = generator(bytes.fromhex(digest([self._brief["variables"], fields])))
        return actions[int(rng.integers(len(actions)))]
