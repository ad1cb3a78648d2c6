"""How many equality decisions a second, by kind of pair: python benchmarks/equality.py [seconds]."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # rates are of one core
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cards.equality import decide
from cards.infix import parse_infix
from tests.cards.equality_cases import cases
from tests.cards.equality_corpus import Expected, Labelled, corpus
from tests.cards.equality_pairs import DOMAIN, RECOMPUTED, REWRITTEN, WRONG

GENERATED = 500
KINDS: tuple[tuple[str, list[tuple[str, str]], Expected], ...] = (
    ("rewritten", REWRITTEN, "equal"),
    ("recomputed", RECOMPUTED, "equal"),
    ("wrong", WRONG, "different"),
)


def main(seconds: float) -> None:
    """Decide labelled pairs for a while, each kind in turn; print rates of CPU time and mistakes."""
    decide(parse_infix("x"), parse_infix("2*x"), DOMAIN)  # imports
    print(f"{'pairs':22} {'number':>6} {'decisions/s':>12} {'worst (ms)':>10} {'mistakes':>8} {'open':>5}")
    written = [
        Labelled(name, parse_infix(left), parse_infix(right), DOMAIN, expected)
        for name, pairs, expected in KINDS
        for left, right in pairs
    ]
    generated = [replace(pair, label="generated") for pair in cases(GENERATED)]
    made = [replace(pair, label=f"cards, {pair.expected}") for pair in corpus()]
    everything = written + made + generated
    for name in dict.fromkeys(pair.label for pair in everything):
        report(name, [pair for pair in everything if pair.label == name], seconds)
    report("all", everything, 0.0)


def report(name: str, pairs: Sequence[Labelled], seconds: float) -> None:
    """Decide all pairs at least once, and for some seconds; print one line."""
    times: list[float] = []
    mistakes = undetermined = 0
    while not times or sum(times) < seconds:
        for pair in pairs:
            start = time.process_time()
            verdict = decide(pair.truth, pair.submission, pair.domain)
            times.append(time.process_time() - start)
            undetermined += verdict.outcome == "undetermined"
            mistakes += verdict.outcome not in (pair.expected, "undetermined")
    rate = len(times) / sum(times)
    print(f"{name:22} {len(pairs):6} {rate:12.0f} {1000 * max(times):10.1f} {mistakes:8} {undetermined:5}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
