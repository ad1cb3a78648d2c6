"""How fast organisms are made, censused and simulated, beside naive loops: python benchmarks/organism.py [n].

Run it with OPENBLAS_NUM_THREADS=1 for figures of one core. Times are CPU times; the best of several is
shown, because other work on the machine only ever adds.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from environments.organism.census import take_census
from environments.organism.dynamics import conditions, fixed_points, product
from environments.organism.generate import Organism, make_organism
from tests.environments.organism.naive import Naive

TARGETS = {"full table": "at most 20 ms", "census": "at most 2 ms", "generation": "at least 300 a second"}


def best(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest CPU time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main(number: int) -> None:
    """Print each figure with its target."""
    chunks = [range(start, start + number // 4) for start in range(0, number, number // 4)]
    made: list[Organism] = []
    times = []
    for chunk in chunks:
        start = time.process_time()
        made += [make_organism(i.to_bytes(8, "big")) for i in chunk]
        times.append((time.process_time() - start) / len(chunk))
    print(f"generation    {1 / min(times):8.0f} organisms a second    ({TARGETS['generation']})")
    sample = made[:100]
    census = best(lambda: [take_census(organism) for organism in sample], 5) / len(sample)
    print(f"census        {1000 * census:8.2f} ms an organism          ({TARGETS['census']})")
    network = made[0].network
    faults, plans = (None, *network.faults), ({}, *network.interventions)
    pairs = [(fault, plan) for fault in faults for plan in plans]
    for name, fast in (("full table", True), ("  float64", False)):
        took = best(lambda fast=fast: fixed_points(network, product(network, faults, plans), fast=fast), 10)
        rate = len(pairs) / took
        target = f"({TARGETS[name]})" if name in TARGETS else ""
        print(f"{name:12}  {1000 * took:8.1f} ms, {rate / 1000:6.0f} k fixed points a second  {target}")
    singly = pairs[::20]
    took = best(lambda: [fixed_points(network, conditions(network, [pair])) for pair in singly], 2)
    print(f"  one by one  {1000 * took * len(pairs) / len(singly):8.0f} ms, one call of numpy for each")
    naive = Naive(network)
    took = best(lambda: [naive.state(*pair, 1e-5) for pair in singly], 2) * len(pairs) / len(singly)
    print(f"  plain loops {1000 * took:8.0f} ms, extrapolated from {len(singly)} of {len(pairs)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
