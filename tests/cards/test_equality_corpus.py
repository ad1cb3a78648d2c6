"""Equality on pairs made from the Historical cards and on thousands of generated ones: no wrong answer."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest

from cards.equality import decide
from cards.infix import print_infix
from cards.store import historical
from tests.cards.equality_cases import cases
from tests.cards.equality_corpus import Labelled, corpus

LEAST_PAIRS = 400
MOST_UNDETERMINED = 0.01
MOST_SECONDS = 2.0


def mistakes(pairs: Iterable[Labelled]) -> tuple[list[str], int, int]:
    """Return wrong answers in words, the number of undetermined cases, and the number of all."""
    wrong, undetermined, count = [], 0, 0
    for pair in pairs:
        start = time.process_time()
        verdict = decide(pair.truth, pair.submission, pair.domain)
        count += 1
        if time.process_time() - start > MOST_SECONDS:
            wrong.append(f"{pair.label}: took more than {MOST_SECONDS} s")
        if verdict.outcome == "undetermined":
            assert verdict.reason
            undetermined += 1
        elif verdict.outcome != pair.expected:
            trees = f"{print_infix(pair.truth)} ?= {print_infix(pair.submission)}"
            wrong.append(f"{pair.label}: {verdict.outcome} ({verdict.reason}) {trees[:400]}")
    return wrong, undetermined, count


def test_the_corpus_holds_every_kind_of_near_miss() -> None:
    """At least 400 pairs; fits of three kinds, a constant, half of the domain, a band, a sign."""
    pairs = corpus()
    assert len(pairs) >= LEAST_PAIRS
    labels = " ".join(pair.label for pair in pairs)
    for kind in (
        "polynomial",
        "Chebyshev",
        "quotient",
        "constant",
        "half",
        "band",
        "sign",
        "folded",
        "exp of log",
    ):
        assert f" {kind}" in labels, kind
    assert {pair.expected for pair in pairs} == {"equal", "different"}


@pytest.mark.parametrize("card", [card.id for card in historical()])
def test_no_pair_of_a_card_is_decided_wrongly(card: str) -> None:
    """Rewritings are equal, near misses are different, nothing is left open."""
    wrong, undetermined, count = mistakes(p for p in corpus() if p.label.startswith(f"{card}."))
    assert (wrong, undetermined) == ([], 0)
    assert count > 0


def test_generated_cases_are_decided_rightly() -> None:
    """Random trees with a sound rewriting or a planted change: no wrong answer, under 1 % undetermined."""
    wrong, undetermined, count = mistakes(cases(400))
    assert wrong == []
    assert undetermined <= MOST_UNDETERMINED * count


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_ten_thousand_generated_cases_are_decided_rightly() -> None:
    """The same for 10,000 cases of another seed."""
    wrong, undetermined, count = mistakes(cases(10_000, seed=2026))
    assert wrong == []
    assert undetermined < MOST_UNDETERMINED * count
