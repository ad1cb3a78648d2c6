"""Is the benchmark fair on equally complex twins? python benchmarks/fairness.py [seeds].

Plays sparse regression, which knows no textbook, on pairs of tier easy of every Historical card at B = 8 and
16, several seeds a card, and prints the paired differences of weak success by family: of the pairs whose
truths have equally many nodes and hidden constants, against the margin of ±0.10, and of all others beside
their gap in complexity.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cards.errors import InputError
from cards.store import historical
from environments.checks import play
from environments.law.build import family_tasks
from environments.law.family import LAW
from environments.law.generate import make_pair
from environments.seeding import derive
from environments.task import Options, Task
from evaluation.fairness import Twins, difference
from evaluation.players.regression import Regression
from evaluation.players.sparse import sparse_fit

BUDGETS = (8, 16)


def twin_tasks(seeds: int, tier: str) -> list[tuple[str, Task, Task]]:
    """Return (card, original, counterfactual) of the Discovery setting."""
    found = []
    for card in historical():
        for number in range(seeds):
            seed = derive(b"fairness", card.id, str(number))
            try:
                pair = make_pair(card, seed, tier, others=historical())
            except InputError as error:
                print(f"{card.id}: {error.message}", file=sys.stderr)
                continue
            tasks = {
                task.facets["variant"]: task
                for task in family_tasks(pair, seed)
                if task.row.setting == "discovery"
            }
            found.append((card.id, tasks["original"], tasks["counterfactual"]))
    return found


def passes(task: Task, budget: int) -> float:
    """Return 1 for a weak success of sparse regression, else 0."""
    options = Options(setting="discovery", protocol=f"fixed:{budget}")
    return float(
        bool(LAW.judge(task.definition, play(LAW, task, options, Regression(sparse_fit))).passed["weak"])
    )


def main(seeds: int) -> None:
    """Print one line for each budget and kind of pairs."""
    head = f"{'original':>9} {'counterf.':>9} {'difference (90 %)':>26} {'nodes':>6} {'constants':>9}"
    print(f"{'pairs':22} {'B':>3} {'pairs':>6} {'families':>8} {head}")
    tasks = [(tier, *found) for tier in ("easy", "medium") for found in twin_tasks(seeds, tier)]
    for budget in BUDGETS:
        made = []
        for _, card, one, other in tasks:
            nodes = (int(one.facets["nodes"]), int(other.facets["nodes"]))
            constants = (int(one.facets["constants"]), int(other.facets["constants"]))
            made.append(Twins(card, passes(one, budget), passes(other, budget), nodes, constants))
        kinds = [("matched", True), ("not matched", False)]
        for name, matched in kinds:
            found = difference([pair for pair in made if pair.matched is matched], f"{name} {budget}")
            if found is not None:
                verdict = ("equivalent" if found.equivalent else "not shown") if matched else ""
                gap = f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
                sizes = f"{budget:3} {found.pairs:6} {found.clusters:8}"
                rates = f"{found.original:9.3f} {found.counterfactual:9.3f} {gap:>26}"
                print(f"{name:11} {verdict:10} {sizes} {rates} {found.nodes:+6.1f} {found.constants:+9.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
