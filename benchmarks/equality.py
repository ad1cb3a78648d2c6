"""How many equality decisions a second, by kind of pair: python benchmarks/equality.py [seconds]."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cards.equality import decide
from cards.infix import parse_infix
from tests.cards.equality_pairs import DOMAIN, RECOMPUTED, REWRITTEN, WRONG


def main(seconds: float) -> None:
    """Decide the labelled pairs for a while, each kind in turn; print rates of CPU time and mistakes."""
    decide(parse_infix("x"), parse_infix("2*x"), DOMAIN)  # imports
    print(f"{'pairs':12} {'number':>6} {'decisions/s':>12} {'worst (ms)':>10} {'mistakes':>8}")
    for name, pairs, expected in (
        ("rewritten", REWRITTEN, "equal"),
        ("recomputed", RECOMPUTED, "equal"),
        ("wrong", WRONG, "different"),
    ):
        trees = [(parse_infix(left), parse_infix(right)) for left, right in pairs]
        times: list[float] = []
        mistakes = 0
        while sum(times) < seconds:
            for left, right in trees:
                start = time.process_time()
                verdict = decide(left, right, DOMAIN)
                times.append(time.process_time() - start)
                mistakes += verdict.outcome != expected
        rate = len(times) / sum(times)
        print(f"{name:12} {len(pairs):6} {rate:12.0f} {1000 * max(times):10.1f} {mistakes:8}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
