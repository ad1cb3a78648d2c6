"""Make the probe items: evidence, a balanced assignment of the truth to A and B, and a prompt.

Source: "Treating the Symptom, Missing the Cause", appendix 8.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from environments.organism import probe_text as text
from environments.organism.definition import OrganismDefinition
from environments.organism.evidence import Case, Clue, filler_clue, real_clues, with_evidence
from environments.organism.network import Fault
from environments.organism.probes import LONG_LIMIT, SHORT_LIMIT, ProbeName


@dataclass(frozen=True)
class Item:
    """One item. ``number`` counts those of one organism and probe; ``evidence`` is logged or simulated."""

    definition: OrganismDefinition
    probe: ProbeName
    number: int
    kind: str
    prompt: str
    answer: str
    evidence: str

    @property
    def token_limit(self) -> int:
        """Tokens that the reply may have."""
        return SHORT_LIMIT if self.probe in ("probe-1", "probe-2") else LONG_LIMIT


@dataclass(frozen=True)
class _Setup:
    """One clue with its place: whether the truth is A, and whether the working hypothesis is right."""

    case: Case
    clue: Clue
    real: bool
    truth_first: bool
    right_held: bool


def make_items(cases: Sequence[Case], second: Sequence[Case], rng: np.random.Generator) -> Iterator[Item]:
    """Yield every item over cases with a separable alternative.

    Args:
        cases: one for each organism, with the log of its ContrastSweep session.
        second: the same organisms in the same order with another source's log, for robustness.
        rng: draws the evidence and the assignments.
    """
    numbers: Counter[tuple[int, ProbeName]] = Counter()
    clues = [(case, clue, True) for case in cases for clue in real_clues(case, rng)]
    clues += [(case, clue, False) for case in cases for clue in [filler_clue(case, rng)] if clue is not None]
    for setup in _assigned(clues, rng):
        yield from (_first(setup, numbers), _second(setup, numbers))
    firsts = balanced(len(cases), rng)
    for case, other, truth_first in zip(cases, second, firsts, strict=True):
        for number, source in enumerate((case, other)):
            yield from _logs(source, case.definition, number, truth_first=truth_first)


def balanced(count: int, rng: np.random.Generator) -> list[bool]:
    """Return ``count`` truths and falsehoods in random order, as many of one as of the other (±1)."""
    half = [number < count // 2 for number in range(count)]
    return [half[place] for place in rng.permutation(count)]


def _assigned(clues: Sequence[tuple[Case, Clue, bool]], rng: np.random.Generator) -> Iterator[_Setup]:
    for real in (True, False):
        own = [(case, clue) for case, clue, kind in clues if kind == real]
        # Truth at A and hypothesis right are balanced together: each of the four pairs comes equally often.
        place = rng.permutation(len(own))
        for order, (case, clue) in zip(place.tolist(), own, strict=True):
            yield _Setup(case, clue, real, truth_first=order % 2 == 0, right_held=order // 2 % 2 == 0)


def _first(setup: _Setup, numbers: Counter[tuple[int, ProbeName]]) -> Item:
    truth = "A" if setup.truth_first else "B"
    return _item(setup, numbers, "probe-1", "decisive" if setup.real else "filler", truth)


def _second(setup: _Setup, numbers: Counter[tuple[int, ProbeName]]) -> Item:
    kind = "filler" if not setup.real else "retain" if setup.right_held else "revise"
    return _item(setup, numbers, "probe-2", kind, kind.upper())


def _item(
    setup: _Setup, numbers: Counter[tuple[int, ProbeName]], probe: ProbeName, kind: str, answer: str
) -> Item:
    definition = setup.case.definition
    place = (id(definition), probe)
    number, numbers[place] = numbers[place], numbers[place] + 1
    pair = _ordered(definition.organism.fault, setup.clue.rival, truth_first=setup.truth_first)
    held = "A" if setup.truth_first == setup.right_held else "B"
    prompt = text.one_clue(definition, setup.clue, pair, held if probe == "probe-2" else None)
    if not setup.real:
        answer = "UNDETERMINED" if probe == "probe-1" else "UNINFORMATIVE"
    evidence = "logged" if setup.clue.logged else "simulated"
    return Item(definition, probe, number, kind, prompt, answer, evidence)


def _logs(source: Case, definition: OrganismDefinition, number: int, *, truth_first: bool) -> Iterator[Item]:
    """The three layers over one log; the second source serves the first two, as in the paper."""
    case, rival = with_evidence(source)
    pair = _ordered(case.cause, rival, truth_first=truth_first)
    evidence = "logged" if case is source else "one row added"
    truth = "A" if truth_first else "B"
    prompts: list[tuple[ProbeName, str, str]] = [
        ("probe-3a", text.supplied(definition, case.log, pair, case.predict(pair, case.log.plans)), truth),
        ("probe-3b", text.derived(definition, case.log, pair), truth),
    ]
    if number == 0:
        open_answer = text.fault_text(definition, case.cause)
        prompts.append(("probe-3c", text.open_question(definition, case.log), open_answer))
    for probe, prompt, answer in prompts:
        yield Item(definition, probe, number, case.log.source, prompt, answer, evidence)


def _ordered(cause: Fault, rival: Fault, *, truth_first: bool) -> tuple[Fault, Fault]:
    return (cause, rival) if truth_first else (rival, cause)
