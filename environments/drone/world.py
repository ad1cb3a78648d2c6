"""The game: read, ask, deploy in Stage 1, and submit one design for Stage 2.

Every draw derives from the session's seed and the number of the deployment, never from a stream that
actions share: equal actions give equal fleets, whatever was read or refused between them.

Source: arXiv 2607.04293, sections 3.1 and C.5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cards.errors import InputError
from environments.drone.analysis import analyse, flatten
from environments.drone.archive import attempt_seed, draw_archive
from environments.drone.arguments import (
    MAX_REPORT,
    Analysis,
    Deploy,
    NoArguments,
    Query,
    Submit,
    read_arguments,
    read_design,
)
from environments.drone.brief import brief, guard
from environments.drone.definition import Build, DroneDefinition
from environments.drone.flights import Flights, fly
from environments.drone.template import Hidden
from environments.drone.tools import (
    ANALYSE,
    DEPLOY,
    ENVIRONMENTS,
    HISTORY,
    PROTOCOLS,
    QUERY,
    SETTING,
    SPACE,
    STATUS,
    SUBMIT,
    tools,
)
from environments.seeding import derive
from environments.task import JSON, ActionError, Options, Step, Tool


class DroneWorld:
    """One open game.

    Raises:
        InputError: for a setting or protocol that does not exist.
    """

    def __init__(self, definition: DroneDefinition, options: Options, seed: bytes) -> None:
        if options.setting != SETTING:
            raise InputError(
                f"there is no setting {options.setting[:40]!r}.", f"The settings are: {SETTING}."
            )
        if options.protocol not in PROTOCOLS:
            known = ", ".join(PROTOCOLS)
            raise InputError(
                f"there is no protocol {options.protocol[:40]!r}.", f"The protocols are: {known}."
            )
        self._definition = definition
        self._seed = seed
        self._guarded = guard(options.protocol)
        self._brief = brief(definition, options.protocol)
        self._tools = tools(definition, options.protocol)
        self._archive: Flights | None = None
        self._deployed: list[Flights] = []
        self._unlocked: list[str] = []
        self._queries = 0

    @property
    def brief(self) -> dict[str, JSON]:
        """What the player is told at the start."""
        return self._brief

    @property
    def tools(self) -> Sequence[Tool]:
        """The actions of this protocol."""
        return self._tools

    @property
    def meters(self) -> Mapping[str, int]:
        """Drones, deployments and queries, and the cap on carried-out actions."""
        budgets = self._definition.budgets
        return {
            "calls": budgets.call_cap,
            "drones": budgets.drones,
            "deployments": budgets.deployments,
            "queries": budgets.queries,
        }

    def step(self, tool: str, args: JSON) -> Step:
        """Carry out one action; refuse with a reason rather than raise."""
        handlers = {QUERY: self._query, DEPLOY: self._deploy, ANALYSE: self._analyse, SUBMIT: self._submit}
        if tool in handlers:
            return handlers[tool](args)
        read = read_arguments(NoArguments, args)
        if isinstance(read, ActionError):
            return _unreadable(read)
        shown = {
            STATUS: self._status,
            HISTORY: self._history,
            SPACE: self._space,
            ENVIRONMENTS: self._environments,
        }
        return Step(outcome="succeeded", data=shown[tool]())

    @property
    def _drones_left(self) -> int:
        return self._definition.budgets.drones - sum(flown.size for flown in self._deployed)

    def _status(self) -> JSON:
        budgets = self._definition.budgets
        return {
            "stage": 1,
            "drones_left": self._drones_left,
            "deployments_left": budgets.deployments - len(self._deployed),
            "queries_left": budgets.queries - self._queries,
            "target": self._definition.template.threshold,
            "fleet": budgets.fleet,
        }

    def _space(self) -> JSON:
        parts = self._definition.default().parts.items()
        return {
            "design": {f"{name}_def": {"low": 0, "high": 50, "default": value} for name, value in parts},
            "equipment": list(self._definition.template.modules),
        }

    def _history(self) -> JSON:
        archive = self._flown_before()
        return {
            "archive": archive.records(self._unlocked) if archive else [],
            "own": [record for flown in self._deployed for record in flown.records(self._unlocked)],
        }

    def _environments(self) -> JSON:
        history = self._history()
        records = [*history["archive"], *history["own"]]
        return {"environments": {r["id"]: r["environment"] for r in records if "environment" in r}}

    def _flown_before(self) -> Flights | None:
        """Return the archive, drawn when it is first read; it is the same in every session of the task."""
        known, scenario = self._definition, self._definition.scenario
        if scenario.archive is None:
            return None
        if self._archive is None:
            seed = attempt_seed(bytes.fromhex(known.item), known.attempt)
            defaults = known.default().parts
            columns = draw_archive(known.template, scenario.archive, defaults, known.parameters(1), seed)
            whole = not scenario.selection_bias
            self._archive = Flights(known.template, columns, seed, "A", whole, archive=True)
        return self._archive

    def _query(self, args: JSON) -> Step:
        read = read_arguments(Query, args)
        if isinstance(read, ActionError):
            return _unreadable(read)
        self._queries += 1
        variables = self._definition.template.variables(self._definition.scenario)
        found = [item for item in variables if matches(item, read.text)]
        locked = [item for item in found if item.name not in self._unlocked]
        chosen = next(iter(locked or found), None)
        if chosen is not None and chosen.name not in self._unlocked:
            self._unlocked.append(chosen.name)
        return Step(
            outcome="succeeded",
            data={
                "variable": None if chosen is None else self._told(chosen),
                "still_locked": len(variables) - len(self._unlocked),
            },
        )

    def _told(self, variable: Hidden) -> JSON:
        statement = variable.statement
        return {
            "name": variable.name,
            "description": variable.description,
            "statement": None if statement is None else statement(self._definition.parameters(2)),
        }

    def _deploy(self, args: JSON) -> Step:
        read = read_arguments(Deploy, args)
        if isinstance(read, ActionError):
            return _unreadable(read)
        build = self._design(read)
        if isinstance(build, ActionError):
            return _refused(build)
        if not 1 <= read.count <= self._drones_left:
            message = f"count must lie between 1 and the {self._drones_left} drones that are left"
            return _refused(ActionError(code="count", message=message, path="count"))
        known, number = self._definition, len(self._deployed) + 1
        seed = derive(self._seed, "stage 1", str(number))
        columns = fly(known.template, known.flown(build), read.count, known.parameters(1), seed)
        flown = Flights(known.template, columns, seed, f"D{number}", not known.scenario.selection_bias)
        self._deployed.append(flown)
        data = {
            "deployment": number,
            "deployed": flown.size,
            "survived": flown.survived,
            "rate": round(flown.rate, 4),
            "drones_left": self._drones_left,
            "deployments_left": known.budgets.deployments - number,
            "records": flown.records(self._unlocked),
        }
        return Step(outcome="succeeded", data=data, spent={"drones": read.count})

    def _analyse(self, args: JSON) -> Step:
        read = read_arguments(Analysis, args)
        if isinstance(read, ActionError):
            return _unreadable(read)
        rows = [flatten(record, source) for source, records in self._history().items() for record in records]
        found = analyse(rows, read)
        if isinstance(found, ActionError):
            return _refused(found)
        return Step(outcome="succeeded", data=found)

    def _submit(self, args: JSON) -> Step:
        read = read_arguments(Submit, args)
        if isinstance(read, ActionError):
            return _unreadable(read)
        build = self._design(read)
        if isinstance(build, ActionError):
            return _refused(build)
        if not read.report.strip() or len(read.report) > MAX_REPORT:
            message = f"a report of 1 to {MAX_REPORT} characters must come with the design"
            return _refused(ActionError(code="report", message=message, path="report"))
        if self._guarded and not self._deployed:
            message = "deploy at least once before the final design"
            return _refused(ActionError(code="guard", message=message))
        return Step(outcome="succeeded", data={"accepted": True}, ended="completed")

    def _design(self, read: Deploy | Submit) -> Build | ActionError:
        known = self._definition
        return read_design(known.template, known.default().parts, read.design, read.equipment)


def matches(variable: Hidden, text: str) -> bool:
    """Return whether a word of the text, or a run of words, begins like one of the variable's keywords."""
    folded = " ".join(text.casefold().split())
    return any(re.search(rf"(?<!\w){re.escape(word)}", folded) for word in variable.keywords)


def _refused(error: ActionError) -> Step:
    return Step(outcome="refused", error=error)


def _unreadable(error: ActionError) -> Step:
    return Step(outcome="unreadable", error=error)
