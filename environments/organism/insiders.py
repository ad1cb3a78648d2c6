"""Players that hold the definition: the reference, and sweeps that a budget does not bind.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (CausalSweep's privileged access).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from environments.organism.definition import OrganismDefinition
from environments.organism.generate import Organism, truth
from environments.organism.judge import rescue_score
from environments.organism.measure import measure
from environments.organism.network import Plan
from environments.organism.script import Brief, Moves, Script, submit
from environments.organism.sweeps import Decision, Reading, Sheet
from environments.organism.tools import task_name

SWEPT = ("BLOCK", "BOOST")


def reference(definition: OrganismDefinition) -> Script:
    """The player that knows the truth."""

    def moves(brief: Brief) -> Moves:
        plans = [definition.plan(task) for task in definition.tasks]
        values = truth(definition.organism.network, [(definition.state, plan) for plan in plans])
        predictions = {task_name(number): row for number, row in enumerate(values)}
        target = definition.names[definition.target]
        remedy = best_rescue(definition.organism) or {}
        decision = Decision(predictions, target, definition.fault, definition.named(remedy))
        return submit(Sheet.of(brief), decision)

    return Script(moves)


def sweep(definition: OrganismDefinition, decide: Callable[[Sheet, Reading], Decision]) -> Script:
    """A player that has blocked and boosted every gene before it sits down, which no budget allows."""

    def moves(brief: Brief) -> Moves:
        sheet = Sheet.of(brief)
        return submit(sheet, decide(sheet, all_readings(definition, sheet)))

    return Script(moves)


def all_readings(definition: OrganismDefinition, sheet: Sheet) -> Reading:
    """Return the readings of blocking and boosting every gene, as a session would show them."""
    pairs = [(gene, action) for action in SWEPT for gene in sheet.genes]
    plans: list[Plan] = [{definition.targets[gene]: "BLOCK"} for gene in sheet.genes]
    plans += [{definition.targets[gene]: "BOOST"} for gene in sheet.genes]
    values = measure(definition.organism, plans, diseased=definition.diseased)
    return dict(zip(pairs, np.round(values, 4), strict=True))


def best_rescue(organism: Organism) -> Plan | None:
    """Return the single intervention that restores most safely and does so under the rescue's noise too."""
    plans = organism.network.interventions
    values = truth(organism.network, [(organism.fault, plan) for plan in plans])
    farthest = np.abs(values - organism.healthy)[:, organism.aberrant].max(axis=1)
    for index in np.argsort(farthest, kind="stable"):
        plan = plans[int(index)]
        if rescue_score(organism, plan) == 1.0:
            return plan
    return None
