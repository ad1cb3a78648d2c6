"""A tiny family, a venue for it and players: enough to test what evaluation does, without laws.

The world hides a number between 0 and 9. ``peek`` says whether a guess is too low; ``answer`` commits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from environments.family import Policy
from environments.session import Session
from environments.task import JSON, ActionError, Charge, Options, Record, Reply, Score, Step, TaskRow, Tool
from evaluation.episode import Seat, Slot, Usage, Verdict
from evaluation.journal import Journal
from evaluation.plan import Plan, Selection, make_plan
from evaluation.players.scripted import ScriptedHand, ScriptedPlayer, options_of

RELEASE = {"version": "2026.11.0", "sha256": "ab" * 32, "window": "papers public after 2026-06-01"}
ONE = Charge(succeeded={"calls": 1}, refused={"calls": 1}, unreadable={"calls": 1})


class ToyWorld:
    def __init__(self, definition: Mapping[str, JSON]) -> None:
        self._hidden = definition["hidden"]
        self.brief: dict[str, JSON] = {"game": "find the digit"}
        self.meters = {"calls": 16}
        self.tools: Sequence[Tool] = [
            Tool(name="peek", kind="experiment", description="compare", parameters={}, charge=ONE),
            Tool(name="answer", kind="commit", description="commit", parameters={}, charge=ONE),
        ]

    def step(self, tool: str, args: JSON) -> Step:
        if not isinstance(args.get("digit"), int):
            return Step(outcome="refused", error=ActionError(code="malformed", message="digit: an integer"))
        if tool == "answer":
            return Step(outcome="succeeded", data={"accepted": True}, ended="completed")
        return Step(outcome="succeeded", data={"too_low": args["digit"] < self._hidden})


class ToyFamily:
    name = "toy"
    version = "1"
    settings: Sequence[str] = ("guess",)

    def protocols(self, setting: str) -> Sequence[str]:
        return ("prior", "adaptive")

    def build(self, materials: Sequence[Any], params: Mapping[str, Any], key: bytes) -> Sequence[Any]:
        return ()

    def open(self, definition: Mapping[str, JSON], options: Options, seed: bytes) -> ToyWorld:
        return ToyWorld(definition)

    def judge(self, definition: Mapping[str, JSON], record: Record) -> Score:
        last = record.events[-1] if record.events else None
        experiments = {"experiments": float(sum(event.tool == "peek" for event in record.events))}
        if last is None or last.tool != "answer" or last.outcome != "succeeded":
            return Score(status="missing", passed={"weak": False, "strict": False}, parts=experiments)
        right = last.args["digit"] == definition["hidden"]
        passed = {"weak": right, "strict": right}
        return Score(
            status="scored", headline=float(right), passed=passed, parts=experiments, protocol_ok=True
        )

    def reference(self, definition: Mapping[str, JSON], options: Options) -> Policy:
        return Saying(definition["hidden"])

    def null(self, options: Options) -> Policy:
        return Saying(0)

    def analyses(self, definition: Mapping[str, JSON], record: Record) -> Mapping[str, JSON]:
        return {}

    @property
    def insiders(self) -> Mapping[str, Callable[[Mapping[str, JSON], Options], Policy]]:
        return {"reference": self.reference, "perfect-memory": lambda definition, options: Saying(3)}


class Saying:
    """Answers with one digit at once."""

    def __init__(self, digit: int) -> None:
        self._digit = digit

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        pass

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        return ("answer", {"digit": self._digit}) if last is None else None


@dataclass
class ToyVenue:
    """Clusters c0, c1 …, each with an original (digit 3) and a counterfactual (digit 3 + cluster)."""

    clusters: int = 3
    broken: set[str] = field(default_factory=set)
    """Tasks that cannot be opened."""

    def __post_init__(self) -> None:
        self.family = ToyFamily()
        self.definitions: dict[str, dict[str, JSON]] = {}
        self.words: dict[str, tuple[str, dict[str, str]]] = {}
        self.rows: list[TaskRow] = []
        for cluster in range(self.clusters):
            for twin, variant in enumerate(("original", "counterfactual")):
                self._add(f"{2 * cluster + twin:016x}", f"c{cluster}", variant, 3 + twin * (1 + cluster % 5))

    def _add(self, identity: str, cluster: str, variant: str, hidden: int) -> None:
        self.definitions[identity] = {"hidden": hidden}
        self.words[identity] = (cluster, {"variant": variant, "collection": "toys", "strict": "yes"})
        tools = dict.fromkeys(("prior", "adaptive"), ("peek", "answer"))
        row = TaskRow(
            id=identity,
            family="toy",
            setting="guess",
            protocols=("prior", "adaptive"),
            tools=tools,
            limits={},
        )
        self.rows.append(row)

    def open(self, slot: Slot, ticket: JSON) -> tuple[Seat, JSON]:
        if slot.task in self.broken:
            raise RuntimeError("this world is broken")
        options = options_of(slot)
        return Session(self.family.open(self.definitions[slot.task], options, b""), options), None

    def judge(self, slot: Slot, record: Record, ticket: JSON = None) -> Verdict:
        cluster, facets = self.words[slot.task]
        score = self.family.judge(self.definitions[slot.task], record)
        return Verdict(score=score, cluster=cluster, facets=facets)


def saying(digit: int, name: str = "sayer") -> ScriptedPlayer:
    """Return a player that always answers with one digit."""
    return ScriptedPlayer(name, 1, lambda slot: Saying(digit))


class Bisecting:
    """A pretended model: asks for each digit through the journal, peeks by bisection, then answers."""

    def __init__(self, journal: Journal, ask: Callable[[str], int]) -> None:
        self._journal, self._ask = journal, ask
        self._low, self._high = 0, 9
        self._digit = 0
        self.ending = None
        self.usage = Usage()

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        pass

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        if last is not None:
            too_low = last.data["too_low"]
            self._low, self._high = (self._digit + 1, self._high) if too_low else (self._low, self._digit)
        question = f"between {self._low} and {self._high}"
        self._digit = self._journal.ask({"question": question}, lambda: self._ask(question))
        self.usage = Usage(calls=self.usage.calls + 1, tokens_in=1, tokens_out=1, usd=0.0)
        tool = "answer" if self._low == self._high else "peek"
        return tool, {"digit": self._digit}


class BisectingPlayer:
    """A player with bought replies. ``ask`` answers a question, and may raise."""

    name = "bisecting"
    spec: dict[str, JSON] = {"kind": "toy"}  # noqa: RUF012
    prompt_digests: Mapping[str, str] = {}

    def __init__(self, ask: Callable[[str], int] | None = None) -> None:
        self.bought: list[str] = []
        self._answer = ask or middle

    def sit(self, slot: Slot, journal: Journal) -> Bisecting:
        return Bisecting(journal, self._ask)

    def _ask(self, question: str) -> int:
        answer = self._answer(question)
        self.bought.append(question)
        return answer


def middle(question: str) -> int:
    """Return the middle of the interval that a question names."""
    low, high = (int(word) for word in question.split() if word.isdigit())
    return (low + high) // 2


def toy_plan(venue: ToyVenue, player: Any, selection: Selection | None = None) -> Plan:
    """Plan all of a toy venue."""
    return make_plan(RELEASE, venue.rows, player, selection or Selection())


def hand(digit: int) -> ScriptedHand:
    """Return a hand that answers with one digit."""
    return ScriptedHand(Saying(digit))
