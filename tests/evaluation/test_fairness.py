"""Fairness: paired differences by family, matched by complexity, judged by an interval."""

from __future__ import annotations

import pytest

from evaluation.fairness import MARGIN, Twins, difference


def pair(cluster: int, original: float, counterfactual: float, nodes: int = 5) -> Twins:
    """Return a pair whose counterfactual has so many nodes."""
    return Twins(f"f{cluster}", original, counterfactual, (5, nodes), (2, 2))


def test_a_family_counts_once_however_many_pairs_it_has() -> None:
    """Ninety pairs of one family weigh as much as one pair of another."""
    found = difference([*(pair(0, 1.0, 0.0) for _ in range(90)), pair(1, 0.0, 1.0)], "x")
    assert found is not None
    assert (found.pairs, found.clusters) == (91, 2)
    assert (found.original, found.counterfactual, found.difference) == (0.5, 0.5, 0.0)
    assert (found.low, found.high) == (-1.0, 1.0)


def test_equivalence_is_the_whole_interval_within_the_margin() -> None:
    """A mean inside of the margin is not enough when families disagree, nor is agreement outside of it."""
    level = difference([pair(c, 0.5, 0.5) for c in range(30)], "x")
    torn = difference([pair(c, float(c % 2), float((c + 1) % 2)) for c in range(30)], "x")
    shifted = difference([pair(c, 0.5, 0.5 - 1.5 * MARGIN) for c in range(30)], "x")
    assert level is not None
    assert torn is not None
    assert shifted is not None
    assert (level.equivalent, torn.equivalent, shifted.equivalent) == (True, False, False)
    assert torn.difference == 0.0


@pytest.mark.parametrize(("rate", "says"), [(0.1, False), (0.2, True), (0.9, True), (1.0, False)])
def test_success_on_originals_says_whether_a_difference_could_show(rate: float, says: bool) -> None:
    """A player that always or hardly ever succeeds shows no difference whatever there is."""
    found = difference([pair(c, rate, rate) for c in range(9)], "x")
    assert found is not None
    assert found.sensitive is says


def test_matched_pairs_have_equally_many_nodes_and_constants() -> None:
    """One node more, or one constant, and a pair is not matched; without pairs there is no difference."""
    assert pair(0, 1.0, 1.0).matched
    assert not pair(0, 1.0, 1.0, nodes=7).matched
    assert not Twins("f", 1.0, 1.0, (5, 5), (2, 3)).matched
    assert difference([], "x") is None
