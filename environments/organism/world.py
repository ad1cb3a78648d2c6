"""The session of one organism: explore, predict, diagnose, and only then rescue.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (sessions, locks and budget).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from environments.organism import tools as words
from environments.organism.arguments import Hypothesis, Interventions, Nothing, Prediction, read_arguments
from environments.organism.brief import brief
from environments.organism.definition import OrganismDefinition
from environments.organism.generate import HALF_WIDTH
from environments.organism.measure import measure
from environments.organism.network import FAULT_KINDS, GENE_ACTIONS, SIGNAL_ACTION, Action, FloatArray, Plan
from environments.task import JSON, ActionError, Step, Tool


class OrganismWorld:
    """One open session. Its state follows from the actions carried out so far."""

    def __init__(self, definition: OrganismDefinition) -> None:
        self._definition = definition
        self._brief = brief(definition)
        self._tools = words.session_tools(definition)
        self._predicted: list[str] = []
        self._diagnosed = False
        self._counts = {words.RUN: 0, words.RESCUE: 0}
        self._asked = [definition.plan(task) for task in definition.tasks]

    @property
    def brief(self) -> dict[str, JSON]:
        """What the player is told at the start."""
        return self._brief

    @property
    def tools(self) -> Sequence[Tool]:
        """The actions of this session."""
        return self._tools

    @property
    def meters(self) -> Mapping[str, int]:
        """Experiments; nothing else is limited."""
        return {"experiments": self._definition.budget}

    def step(self, tool: str, args: JSON) -> Step:
        """Carry out one action; refuse with a reason rather than raise."""
        acts: dict[str, Callable[[JSON], Step]] = {
            words.RUN: self._run,
            words.STATUS: self._status,
            words.PREDICT: self._predict,
            words.DIAGNOSE: self._diagnose,
            words.RESCUE: self._rescue,
            words.FINISH: self._finish,
        }
        return acts[tool](args)

    def _run(self, args: JSON) -> Step:
        plan = self._read_plan(args)
        if isinstance(plan, Step):
            return plan
        if not plan:
            return _refused("empty", "name at least one target; the untreated baseline is in the brief")
        reading = measure(self._definition.organism, [plan], diseased=self._definition.diseased)[0]
        self._counts[words.RUN] += 1
        return _done({"phenotypes": self._definition.phenotype_values(reading)})

    def _status(self, args: JSON) -> Step:
        nothing = read_arguments(Nothing, args)
        if isinstance(nothing, ActionError):
            return _unreadable(nothing)
        status: dict[str, JSON] = {
            "experiments_run": self._counts[words.RUN],
            "predictions_submitted": list(self._predicted),
        }
        if self._definition.diseased:
            status |= {"hypothesis_submitted": self._diagnosed, "rescues_tested": self._counts[words.RESCUE]}
        return _done(status)

    def _predict(self, args: JSON) -> Step:
        prediction = read_arguments(Prediction, args)
        if isinstance(prediction, ActionError):
            return _unreadable(prediction)
        known = [words.task_name(number) for number in range(len(self._definition.tasks))]
        if prediction.task not in known:
            return _refused("unknown_task", f"the prediction tasks are: {', '.join(known)}", "task")
        if prediction.task in self._predicted:
            return _refused("already_submitted", f"{prediction.task} was submitted before; it stands", "task")
        breach = self._check_values(prediction.values)
        if breach is not None:
            return breach
        self._predicted.append(prediction.task)
        return _done({"accepted": True})

    def _check_values(self, values: Mapping[str, float]) -> Step | None:
        phenotypes = self._definition.phenotypes
        for name in values:
            if name not in phenotypes:
                message = f"there is no phenotype {name[:64]!r}; they are: {', '.join(phenotypes)}"
                return _refused("unknown_phenotype", message, "values")
        for name in phenotypes:
            if name not in values:
                return _refused("missing_value", f"a value for {name} is missing", f"values.{name}")
            if not 0.0 <= values[name] <= 1.0:
                message = f"{values[name]:g} is no phenotype value; they lie between 0 and 1"
                return _refused("out_of_range", message, f"values.{name}")
        return None

    def _diagnose(self, args: JSON) -> Step:
        hypothesis = read_arguments(Hypothesis, args)
        if isinstance(hypothesis, ActionError):
            return _unreadable(hypothesis)
        if self._diagnosed:
            return _refused("already_submitted", "a hypothesis was submitted before; it cannot be changed")
        if hypothesis.target not in self._definition.targets:
            return _refused("unknown_target", self._unknown(hypothesis.target), "target")
        signal = hypothesis.target in self._definition.signals
        if hypothesis.type not in FAULT_KINDS or (hypothesis.type == "PERSIST") != signal:
            fits = "PERSIST" if signal else "LOCK_HI or LOCK_LO"
            message = f"{hypothesis.target} cannot be broken that way; its type is {fits}"
            return _refused("illegal_type", message, "type")
        self._diagnosed = True
        return _done({"accepted": True})

    def _rescue(self, args: JSON) -> Step:
        if not self._diagnosed:
            message = "submit the malfunction hypothesis first; rescues are locked until then"
            return _refused("locked", message)
        plan = self._read_plan(args)
        if isinstance(plan, Step):
            return plan
        organism = self._definition.organism
        values = measure(organism, [plan], purpose="rescue")[0]
        self._counts[words.RESCUE] += 1
        restored = dict(zip(self._definition.phenotypes, within(values, organism.healthy), strict=True))
        error = float(np.mean((values - organism.healthy) ** 2))
        return _done({"restored": restored, "mse": round(error, 6)})

    def _finish(self, args: JSON) -> Step:
        nothing = read_arguments(Nothing, args)
        if isinstance(nothing, ActionError):
            return _unreadable(nothing)
        return Step(outcome="succeeded", data={"accepted": True}, ended="completed")

    def _read_plan(self, args: JSON) -> Plan | Step:
        read = read_arguments(Interventions, args)
        if isinstance(read, ActionError):
            return _unreadable(read)
        plan: dict[int, Action] = {}
        for name, action in read.interventions.items():
            if name not in self._definition.targets:
                return _refused("unknown_target", self._unknown(name), "interventions")
            legal = (SIGNAL_ACTION,) if name in self._definition.signals else GENE_ACTIONS
            chosen = next((word for word in legal if word == action), None)
            if chosen is None:
                message = f"{action[:64]!r} cannot be done to {name}; legal: {', '.join(legal)}"
                return _refused("illegal_action", message, f"interventions.{name}")
            plan[self._definition.targets[name]] = chosen
        if plan in self._asked:
            return _refused("held_out", "this combination is a prediction task and cannot be tried")
        return plan

    def _unknown(self, name: str) -> str:
        known = ", ".join([*self._definition.visible, *self._definition.signals])
        return f"there is no target {name[:64]!r}; the targets are: {known}"


def within(values: FloatArray, healthy: FloatArray) -> list[bool]:
    """Return which phenotypes lie in their healthy range."""
    return [bool(inside) for inside in np.abs(values - healthy) <= HALF_WIDTH]


def _done(data: JSON) -> Step:
    return Step(outcome="succeeded", data=data)


def _refused(code: str, message: str, path: str = "") -> Step:
    return Step(outcome="refused", error=ActionError(code=code, message=message, path=path))


def _unreadable(error: ActionError) -> Step:
    return Step(outcome="unreadable", error=error)
