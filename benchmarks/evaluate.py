"""How fast trees are read, evaluated and differentiated: python benchmarks/evaluate.py."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from cards.document import loads_bounded, read_tree, tree_document
from cards.evaluate import evaluate
from cards.expression import size
from cards.gradient import gradient
from cards.infix import parse_infix, print_infix
from cards.probe import Points, Sample

RELATIONS = [
    "n*R*T/(V - n*b) - a*n^2/V^2",
    "2*h*c^2/w^5/(exp(h*c/(w*k*T)) - 1)",
    "A*exp(-E/(R*T))*sqrt(T)*(1 + 0.3*max(0, T - 1.5))",
]


def rate(work: Callable[[], object], seconds: float = 1.0) -> float:
    """Return how often a second of CPU time the work is done."""
    start, count = time.process_time(), 0
    while time.process_time() - start < seconds:
        work()
        count += 1
    return count / (time.process_time() - start)


def main() -> None:
    """Print rates per relation, on 256 points."""
    generator = np.random.default_rng(0)
    for text in RELATIONS:
        tree = parse_infix(text)
        names = ("n", "R", "T", "V", "b", "a", "h", "c", "w", "k", "A", "E")
        columns = {name: generator.uniform(1, 2, 256) for name in names} | {"b": np.full(256, 1e-3)}
        raw_text = json.dumps(tree_document(tree))
        print(f"{text}   ({size(tree)} nodes)")
        print(f"  read a document            {rate(lambda t=raw_text: read_tree(loads_bounded(t))):8.0f}/s")
        print(f"  read infix                 {rate(lambda t=text: parse_infix(t)):8.0f}/s")
        print(f"  print infix                {rate(lambda t=tree: print_infix(t)):8.0f}/s")
        print(f"  evaluate, 256 points       {rate(lambda t=tree, c=columns: evaluate(t, c)):8.0f}/s")
        print(f"  two derivatives            {rate(lambda t=tree, c=columns: gradient(t, c, 'Tk')):8.0f}/s")
        some = Points({name: column[:64] for name, column in columns.items()}, {})
        print(f"  64 points at fifty digits  {rate(lambda t=tree, p=some: Sample.of(t, p, 1.0)):8.0f}/s")


if __name__ == "__main__":
    main()
