"""Cells, intervals and gaps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from evaluation.episode import EpisodeRow, Slot
from evaluation.statistics import (
    Interval,
    Outcome,
    cells,
    gaps,
    interval,
    join,
    rule_of_three,
    wilson,
)

TWINS = ("original", "counterfactual")


def outcome(
    cluster: int, variant: str, status: str = "scored", weak: bool | None = True, **more: object
) -> Outcome:
    """Return one outcome of a law-like family; ``status`` "owed" has no row."""
    repetition = int(str(more.get("repetition", 0)))
    words = {"task": f"{cluster}{variant}", "family": "law", "setting": "discovery", "protocol": "prior"}
    slot = Slot.model_validate(words | {"key": f"{cluster}{variant}{repetition}", "repetition": repetition})
    facets = {"variant": variant, "collection": "historical", "strict": str(more.get("strict", "yes"))}
    weak_only = facets["strict"] == "weak-only"
    row = None
    if status != "owed":
        strict = None if weak_only else weak
        row = EpisodeRow.model_validate(
            words
            | {
                "slot": slot.key,
                "repetition": repetition,
                "player": "p",
                "status": status,
                "ending": "completed",
                "headline": float(bool(weak)) if status == "scored" else None,
                "passed": {"weak": weak, "strict": strict},
                "cluster": f"c{cluster}",
                "facets": facets,
            }
        )
    return Outcome(slot, row, f"c{cluster}", facets)


def test_rates_count_invalid_and_missing_as_failures() -> None:
    """Success rate = successes / determined; undetermined, error and owed are in neither part."""
    statuses = ["scored", "scored", "invalid", "missing", "undetermined", "error", "owed"]
    group = [outcome(n, "original", s, weak=s == "scored") for n, s in enumerate(statuses)]
    cell = cells(group)[0]
    assert cell.statuses == {s: statuses.count(s) for s in ("scored", *statuses[2:])}
    assert cell.weak is not None
    assert (cell.weak.value, cell.weak.n, cell.weak.total) == (0.5, 4, 2)
    assert cell.weak.bounds == (2 / 7, 5 / 7)
    assert cell.coverage == 4 / 7
    assert not cell.on_board
    assert cell.prediction is not None
    assert cell.prediction.value == 0.5, "an episode without a usable predictor counts as 0"


def test_a_row_needs_98_per_cent_coverage() -> None:
    """49 of 50 determined episodes make a row, 48 do not."""
    for open_ones, shown in ((1, True), (2, False)):
        group = [outcome(n, "original", "error" if n < open_ones else "scored") for n in range(50)]
        assert cells(group)[0].on_board is shown


def test_weak_only_tasks_are_left_out_of_strict_rates() -> None:
    """A task that nobody can solve strictly is counted beside the strict rate, not in it."""
    group = [outcome(n, "original", strict="weak-only" if n < 3 else "yes") for n in range(10)]
    cell = cells(group)[0]
    assert cell.weak is not None
    assert cell.strict is not None
    assert (cell.weak.n, cell.strict.n, cell.weak_only) == (10, 7, 3)


def test_cells_do_not_mix_kinds() -> None:
    """Variants stand in cells of their own, in a fixed order."""
    group = [outcome(n, variant) for n in range(4) for variant in TWINS]
    assert [(cell.key.variant, cell.n) for cell in cells(group)] == [("counterfactual", 4), ("original", 4)]


def test_wilson_agrees_with_the_published_example() -> None:
    """Wilson's interval of 8 of 10 is 0.490 to 0.943 (as scipy's proportion_ci gives it)."""
    from scipy.stats import binomtest

    for successes, n in ((8, 10), (1, 20), (17, 26)):
        found, wanted = wilson(successes, n), binomtest(successes, n).proportion_ci(method="wilson")
        assert found.low == pytest.approx(wanted.low, abs=1e-12)
        assert found.high == pytest.approx(wanted.high, abs=1e-12)


def test_one_episode_a_cluster_is_a_sample_of_items() -> None:
    """Where clusters hold one episode each, Wilson's interval is used; it needs no resampling."""
    group = [outcome(n, "original", weak=n < 8) for n in range(10)]
    weak = cells(group)[0].weak
    assert weak is not None
    assert weak.interval == wilson(8, 10)


@pytest.mark.parametrize(("value", "wanted"), [(0.0, (0, 0.15)), (1.0, (0.85, 1)), (0.5, (0.425, 0.575))])
def test_agreement_is_not_certainty(value: float, wanted: tuple[float, float]) -> None:
    """When all of 20 clusters agree the rule of three bounds the mean; never an interval of width 0."""
    found = rule_of_three(value, 20, 0.0, 1.0)
    assert (found.low, found.high) == pytest.approx(wanted)
    counted = [(f"c{n}", value) for n in range(20)]
    assert interval(counted, np.random.default_rng(1), items=False) == found


def test_one_cluster_has_no_interval() -> None:
    """From one family nothing follows about others."""
    assert interval([("c", 1.0), ("c", 0.0)], np.random.default_rng(1), items=True) is None


def test_clusters_are_resampled_not_episodes() -> None:
    """Repeating every episode five times inside its cluster must not narrow the interval.

    Exact: the resampled ratio depends on cluster means only, and the seed is the same.
    """
    rng = np.random.default_rng(7)
    values = [(f"c{n}", float(v)) for n, v in enumerate(rng.random(20))]
    once = interval(values, np.random.default_rng(1), items=False)
    often = interval(values * 5, np.random.default_rng(1), items=False)
    assert once is not None
    assert often is not None
    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert once.method == "bootstrap"


def test_the_bootstrap_covers() -> None:
    """The 95 % interval holds the true mean in 88 to 99 % of 200 samples of 26 clusters.

    The percentile bootstrap is known to fall a little short at this size (about 93 %); with 200
    samples the binomial error of the coverage is 1.8 points, so three of them either side.
    """
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        means = rng.beta(2, 2, size=26)
        counted = [(f"c{n}", float(rng.random() < mean)) for n, mean in enumerate(means) for _ in range(3)]
        found = interval(counted, rng, items=False)
        assert found is not None
        held += found.low <= 0.5 <= found.high
    assert 0.88 <= held / 200 <= 0.99


def test_the_gap_is_paired_by_cluster() -> None:
    """Original minus counterfactual inside a family: +1 where only the original is solved."""
    group = [outcome(n, variant, weak=variant == "original" or n < 5) for n in range(20) for variant in TWINS]
    gap = gaps(group, ["weak"])[0]
    assert (gap.pairs, gap.value) == (20, pytest.approx(0.75))
    assert gap.interval is not None
    assert 0.5 < gap.interval.low < 0.75 < gap.interval.high < 0.95


def test_a_gap_without_spread_is_bounded() -> None:
    """Twenty families with the same gap leave the rule of three on both sides."""
    group = [outcome(n, variant, weak=True) for n in range(20) for variant in TWINS]
    gap = gaps(group, ["weak"])[0]
    assert gap.interval is not None
    assert gap.interval == Interval(pytest.approx(-0.15), pytest.approx(0.15), "rule of three")  # type: ignore[arg-type]


def test_a_cluster_with_one_twin_open_makes_no_pair() -> None:
    """A family counts in the gap only where both twins are determined."""
    group = [
        outcome(n, v, "error" if n == 0 and v == "original" else "scored") for n in range(5) for v in TWINS
    ]
    assert [gap.pairs for gap in gaps(group, ["weak"])] == [4]


def test_the_same_rows_give_the_same_figures() -> None:
    """Intervals are seeded by the cell's name: two readers of one run see the same board."""
    group = [outcome(n, v, weak=n % 3 == 0, repetition=r) for n in range(12) for v in TWINS for r in range(2)]
    assert cells(group) == cells(list(group))
    assert gaps(group) == gaps(list(group))


def test_owed_slots_find_their_words() -> None:
    """A slot without a row is put into its cell by what other rows or the release say of its task."""
    group = [outcome(n, "original", repetition=r) for n in range(2) for r in range(2)]
    slots = [item.slot for item in group]
    rows = [item.row for item in group if item.row is not None][:2]
    known: Mapping[str, tuple[str, Mapping[str, str]]] = {"1original": ("c1", group[2].facets)}
    assert [item.cluster for item in join(slots, rows)] == ["c0", "c0", "1original", "1original"]
    assert [item.cluster for item in join(slots, rows, known)] == ["c0", "c0", "c1", "c1"]
