"""Choosing what a probe shows: from the census and from recorded sessions.

Source: "Treating the Symptom, Missing the Cause", appendix 8.4 (construction of the probes); how items
are picked is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from environments.organism.census import SEPARATION, Census
from environments.organism.definition import OrganismDefinition
from environments.organism.generate import truth
from environments.organism.measure import measure
from environments.organism.network import Fault, FloatArray, Plan
from environments.organism.record import read_play
from environments.organism.tools import RUN
from environments.task import Record

FILLER = 0.03
"""An experiment whose predictions lie closer than this in every phenotype tells nothing."""
NOISE = 0.05
"""What the prompts call a common deviation: three standard deviations of a reading."""
MOST_REAL = 2
"""Decisive items of one organism."""
SHOWN = 3
"""Decimals of a prediction in a prompt."""


@dataclass(frozen=True)
class Log:
    """The experiments before a session's hypothesis, with their readings (rows, 3)."""

    source: str
    plans: tuple[Plan, ...]
    readings: FloatArray


@dataclass(frozen=True)
class Clue:
    """One experiment seen through one phenotype: what cause and rival predict, and what was read."""

    rival: Fault
    plan: Plan
    phenotype: int
    predicted: tuple[float, float]
    """Under the cause and under the rival."""
    observed: float
    widest: float
    """How far apart the predictions are in the phenotype where they differ most."""
    logged: bool
    """Whether the reading stands in a session's log; otherwise it was simulated."""


@dataclass(frozen=True)
class Case:
    """One organism with its census and one recorded log."""

    definition: OrganismDefinition
    census: Census
    log: Log

    @property
    def separable(self) -> list[Fault]:
        """The alternatives that some single intervention tells from the cause."""
        pairs = zip(self.census.alternatives, self.census.separating, strict=True)
        return [rival for rival, row in pairs if row.any()]

    @cached_property
    def logged(self) -> FloatArray:
        """Predictions (1 + alternatives, rows, 3) of the cause and of each alternative for the log."""
        return self.predict((self.cause, *self.census.alternatives), self.log.plans)

    @property
    def cause(self) -> Fault:
        """The fault at work."""
        return self.definition.organism.fault

    def predict(self, faults: Sequence[Fault], plans: Sequence[Plan]) -> FloatArray:
        """Return the noise-free phenotypes (faults, plans, 3)."""
        pairs = [(fault, plan) for fault in faults for plan in plans]
        values = truth(self.definition.organism.network, pairs)
        return values.reshape(len(faults), len(plans), -1)

    def row(self, rival: Fault) -> int:
        """Return where a rival stands in ``logged``."""
        return 1 + self.census.alternatives.index(rival)


def read_log(definition: OrganismDefinition, record: Record, source: str) -> Log:
    """Return the experiments of a recorded session before its hypothesis."""
    play = read_play(definition, record)
    seen = [
        event.reply.data["phenotypes"]
        for event in record.events
        if event.outcome == "succeeded" and event.tool == RUN
    ]
    readings = [[values[name] for name in definition.phenotypes] for values in seen[: len(play.before)]]
    return Log(source, play.before, np.array(readings).reshape(-1, len(definition.phenotypes)))


def real_clues(case: Case, rng: np.random.Generator) -> list[Clue]:
    """Return at most two decisive clues, each against another rival.

    The two predictions differ by more than 0.10 and the reading lies within the stated noise of the
    cause's alone. A rival that the log never tests is tested by a discriminating intervention of the
    census.
    """
    found = []
    for rival in case.separable:
        clues = [clue for clue in _log_clues(case, rival) if _decisive(clue)]
        clues = clues or [clue for clue in _census_clues(case, rival) if _decisive(clue)]
        if clues:
            found.append(clues[int(rng.integers(len(clues)))])
        if len(found) == MOST_REAL:
            break
    return found


def filler_clue(case: Case, rng: np.random.Generator) -> Clue | None:
    """Return a clue that tells nothing: every phenotype's predictions nearly agree, but do not print alike.

    None where the organism has no such experiment.
    """
    for rivals, pool in ((case.separable, _log_clues), (case.separable, _single_clues)):
        clues = [clue for rival in rivals for clue in pool(case, rival) if _idle(clue)]
        if clues:
            return clues[int(rng.integers(len(clues)))]
    return None


def with_evidence(case: Case) -> tuple[Case, Fault]:
    """Return a case whose log tells one separable rival from the cause, and that rival.

    It is the rival that most rows speak against. Where no row does, one discriminating intervention of
    the census is read and added at the end.
    """
    gaps = np.abs(case.logged[1:] - case.logged[0]).max(axis=2) > SEPARATION
    counts = {rival: int(gaps[case.row(rival) - 1].sum()) for rival in case.separable}
    rival = max(case.separable, key=lambda item: counts[item])
    if counts[rival]:
        return case, rival
    telling = int(np.flatnonzero(case.census.separating[case.row(rival) - 1])[0])
    plan = case.definition.organism.network.interventions[telling]
    reading = np.round(measure(case.definition.organism, [plan]), 4)
    log = Log(case.log.source, (*case.log.plans, plan), np.vstack([case.log.readings, reading]))
    return Case(case.definition, case.census, log), rival


def _log_clues(case: Case, rival: Fault) -> list[Clue]:
    values = case.logged[[0, case.row(rival)]]
    return _clues(rival, case.log.plans, values, case.log.readings, logged=True)


def _census_clues(case: Case, rival: Fault) -> list[Clue]:
    singles = case.definition.organism.network.interventions
    telling = np.flatnonzero(case.census.separating[case.row(rival) - 1])
    return _simulated(case, rival, [singles[i] for i in telling])


def _single_clues(case: Case, rival: Fault) -> list[Clue]:
    return _simulated(case, rival, case.definition.organism.network.interventions)


def _simulated(case: Case, rival: Fault, plans: Sequence[Plan]) -> list[Clue]:
    readings = np.round(measure(case.definition.organism, plans), 4)
    return _clues(rival, plans, case.predict((case.cause, rival), plans), readings, logged=False)


def _clues(
    rival: Fault, plans: Sequence[Plan], values: FloatArray, readings: FloatArray, *, logged: bool
) -> list[Clue]:
    return [
        Clue(
            rival,
            plan,
            phenotype,
            (round(float(values[0, row, phenotype]), SHOWN), round(float(values[1, row, phenotype]), SHOWN)),
            round(float(readings[row, phenotype]), SHOWN),
            float(np.abs(values[0, row] - values[1, row]).max()),
            logged,
        )
        for row, plan in enumerate(plans)
        if len(plan) == 1
        for phenotype in range(readings.shape[1])
    ]


def _decisive(clue: Clue) -> bool:
    own, other = clue.predicted
    return abs(own - other) > SEPARATION and abs(clue.observed - own) <= NOISE < abs(clue.observed - other)


def _idle(clue: Clue) -> bool:
    own, other = clue.predicted
    near, far = abs(clue.observed - own), abs(clue.observed - other)
    told_apart = own != other and round(abs(near - far), SHOWN) > 0
    return clue.widest < FILLER and told_apart and max(near, far) <= NOISE
