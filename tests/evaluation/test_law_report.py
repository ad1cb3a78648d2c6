"""The report of law runs: every curve and table is there, and says what the rows say."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evaluation.charts import Axes, Series, bars, intervals, lines
from evaluation.episode import EpisodeRow
from evaluation.fairness import Twins, difference, twins
from evaluation.law_report import Episode, sections

FAMILIES = 12


def episode(cluster: int, variant: str, protocol: str, *, passed: bool, nodes: int = 5) -> Episode:
    """Return one settled episode; an Adaptive one used four experiments."""
    adaptive = protocol == "adaptive"
    row = EpisodeRow(
        slot=f"{cluster}{variant}{protocol}",
        task="t",
        family="law",
        setting="discovery",
        protocol=protocol,
        repetition=0,
        player="someone",
        status="scored",
        ending="completed",
        headline=1.0 if passed else 0.2,
        passed={"weak": passed, "strict": passed},
        cluster=f"c{cluster}",
        facets={"variant": variant, "nodes": str(nodes), "constants": "1", "strict": "yes"},
    )
    analyses: dict[str, Any] = {
        "experiments": 4 if adaptive else 0,
        "confidences": [{"experiments": n, "top": 0.5 + 0.1 * n} for n in range(5)] if adaptive else [],
        "forecast_errors": [{"top": 10.0 / (n + 1)} for n in range(4)] if adaptive else [],
        "failure": "solved" if passed else "incorrect relation",
    }
    return Episode(row, analyses)


def episodes() -> list[Episode]:
    """Originals pass from B = 4 on; counterfactuals never."""
    found = []
    for cluster in range(FAMILIES):
        for protocol in ("fixed:1", "fixed:4", "fixed:16", "adaptive"):
            passed = protocol != "fixed:1"
            found.append(episode(cluster, "original", protocol, passed=passed))
            found.append(episode(cluster, "counterfactual", protocol, passed=False, nodes=9))
    return found


def test_every_analysis_has_its_section() -> None:
    """Counts, budget curves, cumulative success, effort, beliefs, failures and fairness, each a picture."""
    found = {section.title.partition(" · ")[0]: section for section in sections(episodes())}
    assert set(found) == {
        "Counts, scores and success",
        "Fixed budgets",
        "Adaptive: cumulative success",
        "Adaptive: experiments used",
        "Adaptive: beliefs and forecasts",
        "Failure categories",
        "Fairness",
    }
    assert all(section.pictures for title, section in found.items() if title != "Counts, scores and success")
    assert "12 of 12" in found["Fixed budgets"].tables[0].rows[0]
    assert (
        "someone, original: 0 → 0, 1 → 0, 2 → 0, 3 → 0, 4 → 1"
        in found["Adaptive: cumulative success"].pictures[0]
    )
    assert "12 solved" in found["Failure categories"].pictures[0].replace("36 solved", "12 solved")
    assert found["Fairness"].tables[0].rows[0][-2:] == ["+4.0", "+0.0"]


def test_pictures_are_well_formed_and_speak() -> None:
    """Each is one SVG with a role and a label, without scripts, and text from players is escaped."""
    axes = Axes("x <b>", "y", ((0.0, "0"), (1.0, "1")))
    made = [
        lines("A & B", axes, [Series("<script>", ((0.0, 0.5, 0.4, 0.6), (1.0, 1.0, 0.9, 1.0)))]),
        bars("Why", {"<i>": {"a": 3.0, "b": 0.0}, "empty": {}}),
        intervals("Gap", [("n", -0.02, -0.08, 0.04)], 0.1),
    ]
    for picture in made:
        assert picture.count("<svg") == picture.count("</svg>") == 1
        assert 'role="img"' in picture
        assert "aria-label" in picture
        assert not re.search(r"<script|<i>|<b>|nan|inf", picture)


def test_differences_are_paired_by_family() -> None:
    """Every family gives one difference; the interval is of means over families drawn anew."""
    pairs = twins(item.row for item in episodes() if item.row.protocol == "fixed:16")
    assert len(pairs) == FAMILIES
    assert not pairs[0].matched
    found = difference(pairs, "x")
    assert found is not None
    assert (found.difference, found.low, found.high) == (-1.0, -1.0, -1.0)
    assert not found.equivalent


def test_equal_success_on_equal_complexity_is_equivalent() -> None:
    """Forty families without a difference, a few of which go either way, lie inside the margin."""
    made = [Twins(f"c{i}", float(i % 2), float(i % 2), (5, 5), (1, 1)) for i in range(200)]
    made[0] = Twins("c0", 1.0, 0.0, (5, 5), (1, 1))
    made[1] = Twins("c1", 0.0, 1.0, (5, 5), (1, 1))
    found = difference(made, "y")
    assert found is not None
    assert found.equivalent
    assert found.sensitive
    assert found.difference == pytest.approx(0.0)
    assert difference([], "z") is None
