"""Players that know no more than their brief: None, Random, Heuristic, ContrastSweep, and the closer reader.

They stand here, and not with the players, because the probes replay sessions that they recorded.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (non-LLM baselines).
"""

from __future__ import annotations

import re

import numpy as np

from environments.organism import tools as words
from environments.organism.network import GENE_ACTIONS, SIGNAL_ACTION, FloatArray
from environments.organism.script import Brief, Moves, Script, experiment, own_chance, submit
from environments.organism.sweeps import Decision, Sheet, contrast_boosts, contrast_sweep, heuristic

_HALF = 0.5
_NUMBER = r"(-?\d+\.\d+)"


def nothing() -> Script:
    """None: claims nothing, and rescues with no intervention at all."""
    return Script(_nothing)


def random_guess() -> Script:
    """Random: one half everywhere, any fault, any single intervention, no experiment."""
    return Script(_random_guess)


def heuristic_sweep() -> Script:
    """Heuristic: blocks every gene once."""
    return Script(_heuristic)


def contrast() -> Script:
    """ContrastSweep inside the budget: all blocks, then boosts, one experiment kept for the rescue."""
    return Script(_contrast)


def wanderer() -> Script:
    """Two dozen single interventions at random and then a random guess: a second source of logs."""
    return Script(_wander)


def closer() -> Script:
    """Picks the candidate whose printed prediction is numerically closer, and never withholds judgement."""
    return Script(_closer)


def _nothing(brief: Brief) -> Moves:
    if "prompt" in brief:
        yield words.ANSWER, {"text": "I cannot tell."}
        return
    sheet = Sheet.of(brief)
    yield from submit(sheet, Decision(_halves(sheet), sheet.genes[0], "LOCK_HI"))


def _random_guess(brief: Brief) -> Moves:
    if "prompt" in brief:
        return
    yield from submit(Sheet.of(brief), _any(brief, own_chance(brief)))


def _heuristic(brief: Brief) -> Moves:
    if "prompt" in brief:
        return
    sheet = Sheet.of(brief)
    readings: dict[tuple[str, str], FloatArray] = {}
    yield from _try(sheet, [(gene, "BLOCK") for gene in sheet.genes], readings)
    yield from submit(sheet, heuristic(sheet, readings))


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


def _wander(brief: Brief) -> Moves:
    rng = own_chance(brief)
    singles = _singles(brief)
    for index in rng.permutation(len(singles))[: int(brief["budget"]) * 3 // 4]:
        yield experiment(singles[index])
    yield from submit(Sheet.of(brief), _any(brief, rng))


def _closer(brief: Brief) -> Moves:
    prompt = str(brief.get("prompt", ""))
    found = {
        letter: [
            float(value)
            for value in re.findall(rf"^ *if {letter} holds: .*?{_NUMBER}$", prompt, re.MULTILINE)
        ]
        for letter in "AB"
    }
    observed = re.search(rf"^Observed .*?{_NUMBER}$", prompt, re.MULTILINE)
    if observed is None or not all(len(values) == 1 for values in found.values()):
        return
    seen = float(observed.group(1))
    pick = min("AB", key=lambda letter: abs(found[letter][0] - seen))
    held = re.search(r"^Your working hypothesis is ([AB])\.$", prompt, re.MULTILINE)
    yield words.ANSWER, {"text": pick if held is None else "RETAIN" if held.group(1) == pick else "REVISE"}


def _try(sheet: Sheet, pairs: list[tuple[str, str]], readings: dict[tuple[str, str], FloatArray]) -> Moves:
    for gene, action in pairs:
        reply = yield experiment({gene: action})
        if reply.ok:
            values = reply.data["phenotypes"]
            readings[gene, action] = np.array([values[name] for name in sheet.phenotypes])


def _any(brief: Brief, rng: np.random.Generator) -> Decision:
    sheet, signals, singles = Sheet.of(brief), list(brief["signals"]), _singles(brief)
    faults = [(gene, kind) for kind in ("LOCK_HI", "LOCK_LO") for gene in sheet.genes]
    faults += [(signal, "PERSIST") for signal in signals]
    target, kind = faults[int(rng.integers(len(faults)))]
    return Decision(_halves(sheet), target, kind, singles[int(rng.integers(len(singles)))])


def _singles(brief: Brief) -> list[dict[str, str]]:
    acts: list[dict[str, str]] = [{gene: action} for action in GENE_ACTIONS for gene in brief["genes"]]
    return acts + [{signal: SIGNAL_ACTION} for signal in brief["signals"]]


def _halves(sheet: Sheet) -> dict[str, FloatArray]:
    return {task: np.full(len(sheet.phenotypes), _HALF) for task in sheet.tasks}
