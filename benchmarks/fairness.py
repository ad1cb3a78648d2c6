"""Is the benchmark fair on equally complex twins? python benchmarks/fairness.py [seeds].

Plays sparse regression, which knows no textbook, at B = 8 and 16 on pairs of every Historical card: of tier
easy all that are matched, and of every fifth seed also the others and those of tier medium. Prints the paired
differences of weak success, every family counting once. The first line of each budget is the gate: of the
pairs whose truths have equally many nodes and constants in reduced form, the 90 % interval must lie within
±0.10, and success on Originals between 0.2 and 0.9. The other lines are figures: the same by kind of change;
of the pairs that are as long also before they are reduced (another value of a hidden constant); of the
families alone whose own success on Originals lies there (few, and a choice by outcome); and of all other
pairs, whose counterfactuals are more complex by so many nodes and constants.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cards.card import Card
from cards.errors import InputError
from cards.expression import size
from cards.store import historical
from environments.checks import play
from environments.law.build import family_tasks
from environments.law.definition import VARIANTS
from environments.law.family import LAW
from environments.law.generate import make_pair
from environments.seeding import derive
from environments.task import Options, Task
from evaluation.fairness import SENSITIVE, Twins, difference
from evaluation.players.regression import Regression
from evaluation.players.sparse import sparse_fit

BUDGETS = (8, 16)
SEEDS = 25
_OTHERS = 5
"""Seeds for one whose pairs that are not matched are played too."""


@dataclass(frozen=True)
class Played:
    """A pair at one budget, with its kind of change, and whether its truths are as long as written out."""

    budget: int
    kind: str
    twins: Twins
    written: bool


def played(card: Card, cards: Sequence[Card], number: int, tier: str) -> Iterator[Played]:
    """Make one pair and play both twins in Discovery at every budget."""
    seed = derive(b"fairness of twins", card.id, str(number))
    try:
        pair = make_pair(card, seed, tier, others=cards)
    except InputError as error:
        print(f"{card.id}: {error.message}", file=sys.stderr)
        return
    found = {t.facets["variant"]: t for t in family_tasks(pair, seed) if t.row.setting == "discovery"}
    both = (found["original"], found["counterfactual"])
    nodes, constants = (
        (int(both[0].facets[key]), int(both[1].facets[key])) for key in ("nodes", "constants")
    )
    if number % _OTHERS and (nodes[0] != nodes[1] or constants[0] != constants[1]):
        return
    lengths = {sum(map(size, pair.definition.truth(variant).values())) for variant in VARIANTS}
    written = len(lengths) == 1 and all(c.role != "correction" for c in pair.definition.constants)
    for budget in BUDGETS:
        original, counterfactual = (passes(task, budget) for task in both)
        twins = Twins(card.id, original, counterfactual, nodes, constants)
        yield Played(budget, both[0].facets["kinds"], twins, written)


def passes(task: Task, budget: int) -> float:
    """Return 1 for a weak success of sparse regression, else 0."""
    options = Options(setting="discovery", protocol=f"fixed:{budget}")
    score = LAW.judge(task.definition, play(LAW, task, options, Regression(sparse_fit)))
    return float(bool(score.passed["weak"]))


def sensitive(pairs: Sequence[Twins]) -> list[Twins]:
    """Return the pairs of the families whose own success on Originals says something."""
    rates: dict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        rates[pair.cluster].append(pair.original)
    low, high = SENSITIVE
    return [pair for pair in pairs if low <= float(np.mean(rates[pair.cluster])) <= high]


def line(name: str, pairs: Sequence[Twins], budget: int, *, gate: bool = False) -> None:
    """Print one line of figures, with a verdict where it is the gate."""
    found = difference(pairs, f"{name} {budget}")
    if found is None:
        return
    verdict = "insensitive" if not found.sensitive else "equivalent" if found.equivalent else "not shown"
    gap = f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
    sizes = f"{budget:3} {found.pairs:6} {found.clusters:8}"
    rates = f"{found.original:9.3f} {found.counterfactual:9.3f} {gap:>26}"
    last = f"{found.nodes:+6.1f} {found.constants:+9.1f}"
    print(f"{name:24} {sizes} {rates} {last}  {verdict if gate else ''}".rstrip())


def main(seeds: int) -> None:
    """Play, and print the lines of every budget."""
    cards, made = historical(), list[Played]()
    for number in range(seeds):
        for card in cards:
            made += played(card, cards, number, "easy")
            if number % _OTHERS == 0:
                made += played(card, cards, number, "medium")
        print(f"{number + 1} of {seeds} seeds, {time.process_time():.0f} s CPU", file=sys.stderr)
    head = f"{'original':>9} {'counterf.':>9} {'difference (90 %)':>26} {'nodes':>6} {'constants':>9}"
    print(f"{'pairs':24} {'B':>3} {'pairs':>6} {'families':>8} {head}")
    for budget in BUDGETS:
        here = [item for item in made if item.budget == budget]
        matched = [item for item in here if item.twins.matched]
        line("matched", [item.twins for item in matched], budget, gate=True)
        for kind in ("coefficient", "exponent"):
            line(f"  another {kind}", [item.twins for item in matched if item.kind == kind], budget)
        line("  equal as written", [item.twins for item in matched if item.written], budget)
        line("  of sensitive families", sensitive([item.twins for item in matched]), budget)
        line("not matched", [item.twins for item in here if not item.twins.matched], budget)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS)
