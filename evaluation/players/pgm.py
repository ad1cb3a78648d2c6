"""Players of the causal worlds that do not know the truth: guesses, passive data, arms, sweeps.

Source: arXiv 2610.14381, section 4 (agents); these scripted ones are ours and calibrate a set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from environments.pgm.estimate import estimate
from environments.pgm.evidence import Evidence
from environments.seeding import derive, generator
from environments.task import JSON, Reply, Tool

QUERY, ANSWER = "query", "answer"
ARMS = 6
ROWS, MOST_ROWS, FEWEST_ROWS = 500, 2000, 50
HALF = 0.5
PASSIVE_ROWS = 1000
LABELS = ("entirely_through", "also_direct_or_other", "not_through")

Arm = dict[str, JSON]


class _Player:
    """What all share: the brief, evidence from replies, a queue of arms, one answer at the end."""

    def __init__(self, seed: bytes) -> None:
        self._rng = generator(derive(seed, type(self).__name__))
        self._evidence = Evidence.of([])
        self._fields: dict[str, JSON] = {}
        self._requests: list[list[Arm]] = []

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the brief and plan all requests."""
        self._fields = brief["question"]["fields"]
        self._evidence = Evidence.of(brief["variables"])
        self._requests = self._plan(brief["protocol"]["limits"])

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Ask what is planned, then answer; stop when an answer is refused."""
        if last is not None:
            if last.done or not last.ok:
                return None
            self._evidence.add(last.data)
        if self._requests:
            return QUERY, {"arms": self._requests.pop(0)}
        return ANSWER, {"answer": self._answer()}

    def _plan(self, limits: dict[str, int]) -> list[list[Arm]]:
        return []

    def _answer(self) -> JSON:
        found = estimate(self._fields, self._evidence)
        return self._guess() if found is None else found.answer

    def _guess(self) -> JSON:
        """Return a random legal answer."""
        form = self._fields["form"]
        if form == "yes_no":
            return str(self._rng.choice(["yes", "no"]))
        if form == "label":
            return str(self._rng.choice(LABELS))
        if form == "names":
            others = [name for name in self._evidence.variables if name != self._fields["variable"]]
            return [name for name in others if self._rng.random() < HALF]
        variable, state = self._actions()[int(self._rng.integers(len(self._actions())))]
        if form == "name":
            return variable
        action = {"variable": variable, "state": state}
        return {"reject": True, "alternative": action} if form == "verdict_and_action" else action

    def _actions(self) -> list[tuple[str, str]]:
        asked = {self._fields["variable"], self._fields.get("other")}
        return [
            (name, state)
            for name, variable in self._evidence.variables.items()
            if variable["intervenable"] and name not in asked
            for state in variable["states"]
        ]


class RandomLegal(_Player):
    """Answers at once with a random legal answer."""


class PassiveGreedy(_Player):
    """Reads ordinary records only, and takes association for effect.

    Choices: the action whose records look best. Lists: every variable associated with the one asked
    about. Yes/no: whether the two are associated. For the way of an effect it has to guess.
    """

    def _plan(self, limits: dict[str, int]) -> list[list[Arm]]:
        asked, form = self._fields["variable"], self._fields["form"]
        if form in ("action", "verdict_and_action", "names"):
            return [[{"kind": "observe", "n": PASSIVE_ROWS, "by": asked}]]
        if form == "yes_no":
            given = self._fields.get("given")
            wheres = [{given: state} for state in self._evidence.states(given)] if given else [{}]
            rows = min(MOST_ROWS, limits.get("rows", MOST_ROWS * len(wheres)) // len(wheres))
            return [[_observe(rows, asked, where) for where in wheres]]
        return []

    def _answer(self) -> JSON:
        form = self._fields["form"]
        if form == "names":
            return self._associated()
        if form in ("action", "verdict_and_action"):
            action = self._best_looking()
            return {"reject": True, "alternative": action} if form == "verdict_and_action" else action
        if form == "yes_no":
            independent = {**self._fields, "about": "independence"}
            found = estimate(independent, self._evidence)
            if found is None:
                return self._guess()
            yes = (found.answer == "yes") == (self._fields["about"] == "independence")
            return "yes" if yes else "no"
        return self._guess()

    def _best_looking(self) -> JSON:
        """Return the action in whose records the outcome is best, by Bayes' rule from the split table."""
        outcome = self._fields["variable"]
        states = self._evidence.states(outcome)
        index = np.arange(len(states), dtype=float)
        if not self._evidence.variables[outcome]["preferred_low"]:
            index = index[::-1]
        best: tuple[float, str, str] | None = None
        for name, state in self._actions():
            position = self._evidence.states(name).index(state)
            split = [self._evidence.counts(name, {}, {outcome: s}) for s in states]
            counts = np.array([0.0 if c is None else c[position] for c in split])
            if counts.sum() > 0:
                looks = (float(counts @ index) / float(counts.sum()), name, state)
                best = looks if best is None else min(best, looks)
        if best is None:
            return self._guess()
        return {"variable": best[1], "state": best[2]}

    def _associated(self) -> JSON:
        asked = self._fields["variable"]
        found = []
        for name in self._evidence.variables:
            fields = {"form": "yes_no", "about": "independence", "variable": name, "other": asked}
            verdict = estimate(fields, self._evidence) if name != asked else None
            if verdict is not None and verdict.answer == "no":
                found.append(name)
        return found


class FullSweep(_Player):
    """Draws every arm that the question could turn on, as far as the budget goes, and answers by plug-in.

    Without a limit each arm gets 500 rows, and 2,000 where all arms fit into one request. Under a limit
    on rows the arms share them; under a limit on turns as many arms as fit are drawn in random order,
    with the most rows that an arm can have.
    """

    most_arms = 10_000
    """At most so many arms beside ordinary records."""

    def _plan(self, limits: dict[str, int]) -> list[list[Arm]]:
        arms = [*self._arms()]
        first, rest = arms[:1], arms[1:]
        order = self._rng.permutation(len(rest))[: self.most_arms]
        arms = [*first, *(rest[int(i)] for i in order)]
        requests = min(limits.get("queries", len(arms)), limits.get("turns", len(arms)) - 1)
        arms = arms[: ARMS * requests]
        rows = self._rows(limits, len(arms))
        if "rows" in limits:
            arms = arms[: limits["rows"] // rows]
        arms = [arm | {"n": rows} for arm in arms]
        return [arms[i : i + ARMS] for i in range(0, len(arms), ARMS)]

    def _rows(self, limits: dict[str, int], arms: int) -> int:
        if "rows" in limits:
            return max(FEWEST_ROWS, min(MOST_ROWS, limits["rows"] // arms))
        return MOST_ROWS if "queries" in limits or arms <= ARMS else ROWS

    def _arms(self) -> Iterator[Arm]:
        """Yield all arms, ordinary records first where the question needs them."""
        fields, form = self._fields, self._fields["form"]
        states = self._evidence.states
        if form == "yes_no" and fields["about"] == "independence":
            given = fields.get("given")
            for where in [{given: state} for state in states(given)] if given else [{}]:
                yield _observe(MOST_ROWS, fields["other"], where)
        elif form == "yes_no":
            yield from (_set({fields["other"]: state}) for state in states(fields["other"]))
        elif form == "names" and fields["about"] == "downstream":
            yield from (_set({fields["variable"]: state}) for state in states(fields["variable"]))
        elif form == "label":
            cause, through = fields["other"], fields["through"]
            yield from (_set({cause: state}) for state in states(cause))
            yield from (_set({through: state}) for state in states(through))
            yield from (_set({cause: a, through: m}) for a, m in product(states(cause), states(through)))
        else:
            each = {"by": fields["each"]} if "each" in fields else {}
            if form not in ("names", "name"):
                yield {"kind": "observe", **each}
            yield from (_set({name: state}) | each for name, state in self._actions())


class RandomArms(FullSweep):
    """Draws some of the sweep's arms at random and answers by plug-in."""

    def __init__(self, seed: bytes, arms: int = 18) -> None:
        super().__init__(seed)
        self.most_arms = arms


def _observe(rows: int, by: str, where: dict[str, str]) -> Arm:
    return {"kind": "observe", "n": rows, "by": by, "where": where}


def _set(do: dict[str, str]) -> Arm:
    return {"kind": "intervene", "do": do}
