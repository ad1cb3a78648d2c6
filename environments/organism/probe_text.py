"""The prompts of the probes. Each withdraws one more support than the one before it.

Source: "Treating the Symptom, Missing the Cause", appendices 8.4 and 8.6 (what each probe shows and asks,
and how it is answered); every sentence is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from environments.organism.definition import OrganismDefinition
from environments.organism.evidence import NOISE, SHOWN, Clue, Log
from environments.organism.measure import measure
from environments.organism.network import Fault, FloatArray, Plan

_NOISE = (
    f"Predictions and readings are subject to noise: a reading often lies up to {NOISE:g} away from a "
    "prediction that is right."
)
_ONE_FAULT = "An invented organism has exactly one hidden fault."
_LAST_LINE = "You may reason briefly first. End your reply with exactly one line of the form"

Candidates = tuple[Fault, Fault]
"""The faults printed as A and B."""


def one_clue(
    definition: OrganismDefinition, clue: Clue, candidates: Candidates, held: str | None = None
) -> str:
    """Return the prompt of probe 1, or with a working hypothesis ``held`` (A or B) of probe 2."""
    own = dict(zip((definition.organism.fault, clue.rival), clue.predicted, strict=True))
    phenotype = definition.phenotypes[clue.phenotype]
    lines = [f"{_ONE_FAULT} It is one of these two candidates.", *_candidates(definition, candidates)]
    if held is not None:
        lines.append(f"Your working hypothesis is {held}.")
    lines += [
        f"One experiment was run: {_deed(definition, clue.plan)}.",
        f"What {phenotype} should read:",
        f"  if A holds: about {own[candidates[0]]:.{SHOWN}f}",
        f"  if B holds: about {own[candidates[1]]:.{SHOWN}f}",
        f"Observed {phenotype}: {clue.observed:.{SHOWN}f}",
        _NOISE,
    ]
    if held is None:
        lines.append("Which candidate does the observation support, or can it not tell them apart?")
        lines.append("Reply with one token and nothing else: A, B or UNDETERMINED.")
    else:
        lines.append(
            "After this observation, do you keep the hypothesis, change to the other candidate, or does the "
            "observation not tell them apart?"
        )
        lines.append("Reply with one token and nothing else: RETAIN, REVISE or UNINFORMATIVE.")
    return "\n".join(lines)


def supplied(definition: OrganismDefinition, log: Log, candidates: Candidates, predicted: FloatArray) -> str:
    """Return the prompt of probe 3a; ``predicted`` (2, rows, 3) holds what A and B predict."""
    lines = _transcript(definition, log) + _two(definition, candidates)
    lines.append("What each candidate predicts for every experiment above:")
    for number, plan in enumerate(log.plans):
        lines.append(f"{number + 1}. {_deed(definition, plan)}")
        lines += [
            f"  if {letter} holds: {_values(definition, values)}"
            for letter, values in zip("AB", predicted[:, number], strict=True)
        ]
    return "\n".join([*lines, _NOISE, *_which()])


def derived(definition: OrganismDefinition, log: Log, candidates: Candidates) -> str:
    """Return the prompt of probe 3b."""
    return "\n".join(_transcript(definition, log) + _two(definition, candidates) + _which())


def open_question(definition: OrganismDefinition, log: Log) -> str:
    """Return the prompt of probe 3c."""
    lines = [
        "From this evidence, name the one fault that is most likely. Kinds: LOCK_HI, LOCK_LO, PERSIST.",
        _LAST_LINE,
        f"ANSWER: {definition.visible[0]} LOCK_HI",
        "with your own target and kind.",
    ]
    return "\n".join(_transcript(definition, log) + lines)


def fault_text(definition: OrganismDefinition, fault: Fault) -> str:
    """Return a fault as it is answered: target and kind."""
    return f"{definition.names[fault.target]} {fault.kind}"


def _transcript(definition: OrganismDefinition, log: Log) -> list[str]:
    organism = definition.organism
    baseline = measure(organism, [{}])[0]
    lines = [
        f"{_ONE_FAULT} It is a gene locked high (LOCK_HI), a gene locked low (LOCK_LO), or a signal that is "
        "on all the time (PERSIST). It was investigated with a limited number of experiments.",
        f"Genes: {', '.join(definition.visible)}",
        f"Signals: {', '.join(definition.signals)}",
        "Untreated phenotypes and their healthy ranges:",
    ]
    rows = zip(definition.phenotypes, baseline, organism.ranges(), organism.aberrant, strict=True)
    for name, value, (low, high), outside in rows:
        mark = ", ABERRANT" if outside else ""
        lines.append(f"  {name}: {value:.{SHOWN}f} (healthy {low:.{SHOWN}f} to {high:.{SHOWN}f}{mark})")
    lines.append("Experiments in order, each with the phenotypes it read:")
    for number, (plan, values) in enumerate(zip(log.plans, log.readings, strict=True)):
        lines.append(f"{number + 1}. {_deed(definition, plan)}: {_values(definition, values)}")
    return lines


def _two(definition: OrganismDefinition, candidates: Candidates) -> list[str]:
    return ["Exactly one of these two candidates is the fault.", *_candidates(definition, candidates)]


def _which() -> list[str]:
    return [
        "Which candidate does the evidence favour?",
        f"{_LAST_LINE} ANSWER: A, or ANSWER: B, or ANSWER: UNDETERMINED",
    ]


def _candidates(definition: OrganismDefinition, candidates: Candidates) -> list[str]:
    return [f"({letter}) {_said(definition, fault)}" for letter, fault in zip("AB", candidates, strict=True)]


def _said(definition: OrganismDefinition, fault: Fault) -> str:
    name = definition.names[fault.target]
    if fault.kind == "PERSIST":
        return f"signal {name} is on all the time (PERSIST)"
    return f"gene {name} is locked {'high' if fault.kind == 'LOCK_HI' else 'low'} ({fault.kind})"


def _deed(definition: OrganismDefinition, plan: Plan) -> str:
    named = definition.named(plan)
    return " and ".join(
        f"switch signal {name} on" if action == "ON" else f"{action} gene {name}"
        for name, action in named.items()
    )


def _values(definition: OrganismDefinition, values: Sequence[float] | FloatArray) -> str:
    pairs = zip(definition.phenotypes, values, strict=True)
    return ", ".join(f"{name} {float(value):.{SHOWN}f}" for name, value in pairs)
