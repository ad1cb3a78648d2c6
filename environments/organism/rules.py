"""Players that know no more than their brief and that the family itself needs.

None is the null player. ContrastSweep and the random walk record the sessions that probes are made of.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (the no-intervention control).
"""

from __future__ import annotations

import numpy as np

from environments.organism import tools as words
from environments.organism.network import GENE_ACTIONS, SIGNAL_ACTION, FloatArray
from environments.organism.script import Brief, Moves, Script, experiment, own_chance, submit
from environments.organism.sweeps import Decision, Sheet, contrast_boosts, contrast_sweep

_HALF = 0.5
_WALK = 0.75
"""Share of the budget that the random walk uses."""


def nothing() -> Script:
    """None: claims nothing, and rescues with no intervention at all."""
    return Script(_nothing)


def contrast() -> Script:
    """ContrastSweep inside the budget: all blocks, then boosts, one experiment kept for the rescue."""
    return Script(_contrast)


def random_walk() -> Script:
    """Single interventions at random: a second source of logs."""
    return Script(_walk)


def _nothing(brief: Brief) -> Moves:
    if "prompt" in brief:
        yield words.ANSWER, {"text": "I cannot tell."}
        return
    sheet = Sheet.of(brief)
    halves = {task: np.full(len(sheet.phenotypes), _HALF) for task in sheet.tasks}
    yield from submit(sheet, Decision(halves, sheet.genes[0], "LOCK_HI"))


def _contrast(brief: Brief) -> Moves:
    if "prompt" in brief:
        return
    sheet = Sheet.of(brief)
    readings: dict[tuple[str, str], FloatArray] = {}
    yield from _try(sheet, [(gene, "BLOCK") for gene in sheet.genes], readings)
    left = sheet.budget - len(sheet.genes) - 1
    boosts = contrast_boosts(sheet, readings, own_chance(brief), left)
    yield from _try(sheet, [(gene, "BOOST") for gene in boosts], readings)
    yield from submit(sheet, contrast_sweep(sheet, readings))


def _walk(brief: Brief) -> Moves:
    singles: list[dict[str, str]] = [{gene: act} for act in GENE_ACTIONS for gene in brief["genes"]]
    singles += [{signal: SIGNAL_ACTION} for signal in brief["signals"]]
    steps = own_chance(brief).permutation(len(singles))[: int(_WALK * brief["budget"])]
    for index in steps.tolist():
        yield experiment(singles[index])
    yield words.FINISH, {}


def _try(sheet: Sheet, pairs: list[tuple[str, str]], readings: dict[tuple[str, str], FloatArray]) -> Moves:
    for gene, action in pairs:
        reply = yield experiment({gene: action})
        if reply.ok:
            values = reply.data["phenotypes"]
            readings[gene, action] = np.array([values[name] for name in sheet.phenotypes])
