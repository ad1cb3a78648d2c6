"""What a session's record says: its experiments, predictions, hypothesis and last rescue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from environments.organism import tools as words
from environments.organism.definition import OrganismDefinition
from environments.organism.network import Fault, Plan
from environments.task import Record


@dataclass(frozen=True)
class Play:
    """One session, read from its record; everything by target number."""

    before: tuple[Plan, ...]
    """Experiments before the hypothesis was committed; all of them where none was."""
    after: tuple[Plan, ...]
    """Experiments after it."""
    predictions: Mapping[int, Mapping[str, float]]
    hypothesis: Fault | None
    rescues: tuple[Plan, ...]

    @property
    def experiments(self) -> tuple[Plan, ...]:
        """All experiments, in order."""
        return self.before + self.after

    @property
    def submitted(self) -> bool:
        """Whether anything was committed that can be scored."""
        return bool(self.predictions) or self.hypothesis is not None


def read_play(definition: OrganismDefinition, record: Record) -> Play:
    """Read a record; only actions that succeeded count."""
    before: list[Plan] = []
    after: list[Plan] = []
    rescues: list[Plan] = []
    predictions: dict[int, Mapping[str, float]] = {}
    hypothesis: Fault | None = None
    numbers = {words.task_name(number): number for number in range(len(definition.tasks))}
    for event in record.events:
        if event.outcome != "succeeded":
            continue
        if event.tool == words.RUN:
            plan = definition.plan(event.args["interventions"])
            (before if hypothesis is None else after).append(plan)
        elif event.tool == words.RESCUE:
            rescues.append(definition.plan(event.args["interventions"]))
        elif event.tool == words.PREDICT:
            predictions[numbers[event.args["task"]]] = event.args["values"]
        elif event.tool == words.DIAGNOSE:
            hypothesis = Fault(event.args["type"], definition.targets[event.args["target"]])
    return Play(tuple(before), tuple(after), predictions, hypothesis, tuple(rescues))
