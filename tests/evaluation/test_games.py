"""Tables of the drone games, on rows made by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.episode import EpisodeRow
from evaluation.games import (
    behaviour,
    by_scenario,
    gaps_by_tier,
    overall,
    report,
    spearman,
    splits,
    survival,
    t_interval,
)

THRESHOLD = 0.75


def row(scenario: str, value: float | None, repetition: int = 0, **more: Any) -> EpisodeRow:
    """Return the row of one game; None where nothing was submitted."""
    parts = {"threshold": THRESHOLD} | {k: v for k, v in more.items() if isinstance(v, float)}
    facets = {"scenario": scenario} | {k: v for k, v in more.items() if isinstance(v, str)}
    if value is not None:
        parts["survival"] = value
    return EpisodeRow(
        slot=f"{scenario}/{repetition}",
        task=scenario[:16],
        family="drone",
        setting="survival",
        protocol="agentic",
        repetition=repetition,
        player="somebody",
        status="missing" if value is None else "scored",
        ending="unfinished" if value is None else "completed",
        headline=value,
        passed={"weak": value is not None and value >= THRESHOLD},
        parts=parts,
        facets=facets,
    )


def test_survival_with_sd_and_t_interval() -> None:
    """Mean, standard deviation and mean ± t·s/√n; for three values t is 4.303 (2.484 s, as in the paper)."""
    found = survival([row("a", value, n) for n, value in enumerate((0.80, 0.82, 0.84))])
    assert (found.n, found.finished, found.wins) == (3, 3, 3)
    assert found.mean == pytest.approx(0.82)
    assert found.sd == pytest.approx(0.02)
    assert found.low == pytest.approx(0.82 - 2.484 * 0.02, abs=1e-4)
    assert found.high == pytest.approx(0.82 + 2.484 * 0.02, abs=1e-4)
    assert found.verdict == "above"


def test_the_interval_is_held_against_the_threshold() -> None:
    """Below or above only when the whole interval is; undecided where games have different thresholds."""
    assert survival([row("a", v, n) for n, v in enumerate((0.30, 0.31, 0.32))]).verdict == "below"
    assert survival([row("a", v, n) for n, v in enumerate((0.70, 0.76, 0.80))]).verdict == "undecided"
    mixed = [row("a", 0.9), row("b", 0.9, 1, threshold=0.55)]
    assert survival(mixed).verdict == "undecided"


def test_unfinished_games_are_shown_both_ways() -> None:
    """Means over finished games leave unfinished ones out; the second mean counts them as 0."""
    found = survival([row("a", 0.8), row("a", None, 1)])
    assert (found.mean, found.with_zeros, found.finished, found.n) == (0.8, 0.4, 1, 2)
    nothing = survival([row("a", None)])
    assert (nothing.mean, nothing.with_zeros, nothing.sd) == (None, 0.0, None)


def test_one_value_has_no_interval() -> None:
    """From a single run nothing is said about others."""
    assert t_interval([0.5]) == (None, None)


def test_games_are_ranked_by_difficulty() -> None:
    """The hardest game stands first; the overall mean weighs games alike, not runs."""
    rows = [row("easy", 0.8), row("easy", 0.9, 1), row("hard", 0.2)]
    assert list(by_scenario(rows)) == ["hard", "easy"]
    assert overall(rows)["survival"] == pytest.approx((0.85 + 0.2) / 2)
    assert overall(rows)["games_won"] == pytest.approx(1.0)


def test_splits_by_difficulty() -> None:
    """Survival with and without selection bias."""
    rows = [row("a", 0.4, selection_bias="yes"), row("b", 0.8, selection_bias="no")]
    found = splits(rows)["selection_bias"]
    assert {answer: item.mean for answer, item in found.items()} == {"yes": 0.4, "no": 0.8}


def test_gaps_by_tier_of_stage_one() -> None:
    """The exploration gap by how well Stage 1 went; games without a deployment are left out."""
    rows = [
        row("a", 0.5, stage1_best=0.9, exploration_gap=0.4),
        row("b", 0.7, stage1_best=0.8, exploration_gap=0.2),
        row("c", 0.5, stage1_best=0.5, exploration_gap=0.0),
        row("d", 0.5),
    ]
    found = gaps_by_tier(rows)
    assert found["75% to 100%"] == {"n": 2.0, "gap": pytest.approx(0.3)}
    assert found["50% to 65%"] == {"n": 1.0, "gap": 0.0}
    assert sum(item["n"] for item in found.values()) == 3


def test_behaviour_is_counted_where_it_is_defined() -> None:
    """A share is over the games in which a behaviour can occur."""
    rows = [row("a", 0.5, lock_in=1.0, regression=1.0), row("b", 0.5, lock_in=0.0), row("c", 0.5, echo=1.0)]
    found = behaviour(rows)
    assert found["lock_in"] == {"n": 2.0, "share": 0.5}
    assert found["regression"] == {"n": 1.0, "share": 1.0}
    assert "false_victory" not in found


@pytest.mark.parametrize(
    ("other", "rho"),
    [
        ({"a": 1.0, "b": 2.0, "c": 3.0, "stranger": 9.0}, 1.0),
        ({"a": 3.0, "b": 2.0, "c": 1.0}, -1.0),
        ({"a": 1.0, "b": 1.0, "c": 2.0}, 0.866),
        ({"a": 1.0, "b": 1.0, "c": 1.0}, None),
        ({"a": 1.0, "b": 2.0}, None),
    ],
)
def test_spearman_against_a_given_table(other: dict[str, float], rho: float | None) -> None:
    """Rank correlation over shared players, ties at their mean rank; None where it is not defined."""
    ours = {"a": 0.3, "b": 0.5, "c": 0.9, "d": 0.1}
    found = spearman(ours, other)["rho"]
    assert found is None if rho is None else found == pytest.approx(rho, abs=1e-3)


def test_spearman_agrees_with_scipy() -> None:
    """The same figure as the library's, on a table with ties."""
    from scipy.stats import spearmanr

    ours = dict(zip("abcdefgh", (0.1, 0.4, 0.4, 0.2, 0.9, 0.7, 0.6, 0.3), strict=True))
    other = dict(zip("abcdefgh", (3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0), strict=True))
    truth = spearmanr(list(ours.values()), list(other.values())).statistic
    assert spearman(ours, other)["rho"] == pytest.approx(truth)


def test_a_report_is_plain_json_and_speaks_of_games_alone() -> None:
    """Rows of other families do not count; an empty set of rows has a report too."""
    law = row("x", 0.9).model_copy(update={"family": "law"})
    found = report([law, row("a", 0.5)])
    assert list(found["scenarios"]) == ["a"]
    json.dumps([found, report([])], allow_nan=False)
