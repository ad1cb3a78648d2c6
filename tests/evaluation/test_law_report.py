"""The report of law runs: every curve and table is there, and says what the rows say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest

from evaluation.charts import SHARES, Axes, Box, Kind, Series, bars, decades, grid, intervals, lines, ticks
from evaluation.episode import EpisodeRow, Slot
from evaluation.fairness import Twins, difference, twins
from evaluation.law_figures import Episode, figures
from evaluation.law_report import chapters
from evaluation.marks import styles
from evaluation.statistics import Outcome

FAMILIES = 12
SECTIONS = (
    "Counts, scores and success",
    "Fixed budgets",
    "Adaptive: cumulative success",
    "Adaptive: experiments used",
    "Adaptive: beliefs and forecasts",
    "Failure categories",
    "Fairness",
)


def episode(
    cluster: int,
    variant: str,
    protocol: str,
    *,
    passed: bool,
    player: str = "someone",
    status: str = "scored",
) -> Episode:
    """Return one episode; an Adaptive one used four experiments. ``owed``: it has no row yet."""
    adaptive = protocol == "adaptive"
    seat: dict[str, Any] = {
        "task": "t",
        "family": "law",
        "setting": "discovery",
        "protocol": protocol,
        "repetition": 0,
    }
    slot = Slot(key=f"{cluster}{variant}{protocol}{player}", **seat)
    nodes = "5" if variant == "original" else "9"
    facets = {
        "variant": variant,
        "nodes": nodes,
        "constants": "1",
        "strict": "yes",
        "collection": "historical",
    }
    if status == "owed":
        return Episode(player, Outcome(slot, None, f"c{cluster}", facets))
    row = EpisodeRow(
        slot=slot.key,
        **seat,
        player=player,
        status=status,  # type: ignore[arg-type]
        ending="completed",
        headline=(1.0 if passed else 0.2) if status == "scored" else None,
        passed={"weak": passed, "strict": passed},
        cluster=f"c{cluster}",
        facets=facets,
    )
    analyses: dict[str, Any] = {
        "experiments": 4 if adaptive else 0,
        "tau": 0.9,
        "confidences": [{"experiments": n, "top": 0.5 + 0.1 * n} for n in range(5)] if adaptive else [],
        "forecast_errors": [{"top": 10.0 / (n + 1)} for n in range(4)] if adaptive else [],
        "failure": "solved" if passed else "incorrect relation",
    }
    return Episode(player, Outcome(slot, row, f"c{cluster}", facets), analyses if status != "error" else None)


def episodes(player: str = "someone") -> list[Episode]:
    """Originals pass from B = 4 on; counterfactuals never."""
    found = []
    for cluster in range(FAMILIES):
        for protocol in ("fixed:1", "fixed:4", "fixed:16", "adaptive"):
            passed = protocol != "fixed:1"
            found.append(episode(cluster, "original", protocol, passed=passed, player=player))
            found.append(episode(cluster, "counterfactual", protocol, passed=False, player=player))
    return found


def rows_of(protocol: str) -> Iterator[EpisodeRow]:
    """Yield the rows of one protocol."""
    for item in episodes():
        if item.protocol == protocol and item.outcome.row is not None:
            yield item.outcome.row


def test_every_analysis_has_its_section_and_its_pictures() -> None:
    """Counts, curves, cumulative success, effort, beliefs, failures and fairness, each as a picture."""
    (chapter,) = chapters(episodes())
    assert chapter.name == "discovery · historical"
    found = {section.title: section for section in chapter.sections}
    assert tuple(found) == SECTIONS
    assert all(section.pictures and section.tables for section in chapter.sections)
    assert found["Fixed budgets"].tables[0].rows[0] == [
        "someone, original, weak", "0 of 12", "–", "12 of 12", "–", "12 of 12",
    ]  # fmt: skip
    assert "someone (n = 12): 0 → 0, 4 → 1" in found["Adaptive: cumulative success"].pictures[0]
    assert "36 solved" in found["Failure categories"].pictures[0]
    assert found["Fairness"].tables[0].rows[0][-3:] == ["a figure, no test", "+4.0", "+0.0"]
    assert "No pair of these families is matched." in found["Fairness"].note


def test_figures_say_what_the_rows_say() -> None:
    """The numbers behind pictures and tables, as --json prints them, on episodes whose truth is planted."""
    found = figures(episodes())
    assert set(found) == set(chapters(episodes())[0].document()) - {"setting", "collection"}
    curve = next(r for r in found["cumulative"] if r["variant"] == "original" and r["measure"] == "weak")
    assert curve["points"] == [[0, 0.0], [1, 0.0], [2, 0.0], [3, 0.0], [4, 1.0]]
    effort = found["effort"][0]
    assert (effort["bins"]["2–4"], effort["median"], effort["solved"]) == (12, 4.0, {"n": 12, "mean": 4.0})
    trust = found["confidence"][0]
    assert [round(point["mean"], 6) for point in trust["points"]] == [0.5, 0.6, 0.7, 0.8, 0.9]
    assert trust["threshold"] == 0.9
    misses = found["forecasts"][0]["points"]
    assert [point["median"] for point in misses] == [10.0, 5.0, pytest.approx(10 / 3), 2.5]
    assert {row["counts"]["solved"] for row in found["failures"] if row["protocol"] == "adaptive"} == {12, 0}
    gaps = {row["protocol"]: row["difference"] for row in found["fairness"]}
    assert gaps == {"fixed:1": 0.0, "fixed:4": -1.0, "fixed:16": -1.0, "adaptive": -1.0}


def test_every_status_is_counted_and_only_determined_episodes_rate() -> None:
    """Invalid and missing episodes fail; undetermined, failed and owed ones are counted, and rate nothing."""
    made = [
        episode(0, "original", "prior", passed=True),
        episode(1, "original", "prior", passed=False, status="invalid"),
        episode(2, "original", "prior", passed=False, status="missing"),
        episode(3, "original", "prior", passed=False, status="undetermined"),
        episode(4, "original", "prior", passed=False, status="error"),
        episode(5, "original", "prior", passed=False, status="owed"),
    ]
    (row,) = figures(made)["counts"]
    assert set(row["statuses"].values()) == {1}
    assert (row["n"], row["weak"]["n"]) == (6, 3)
    assert row["weak"]["value"] == row["strict"]["value"] == pytest.approx(1 / 3)
    assert row["weak"]["interval"]["low"] < 1 / 3 < row["weak"]["interval"]["high"]
    picture = chapters(made)[0].sections[0].pictures[-1]
    for word in ("valid", "invalid", "missing", "undetermined", "error", "owed"):
        assert f"1 {word}" in picture


def test_what_is_left_out_is_said() -> None:
    """A page without Fixed, Adaptive or pairs says why their sections are not there."""
    (chapter,) = chapters([episode(0, "original", "prior", passed=True)])
    assert [section.title for section in chapter.sections] == [SECTIONS[0], SECTIONS[5]]
    assert [words.split()[-1] for words in chapter.absent] == ["fixed", "adaptive", "protocol"]
    assert not chapters(episodes())[0].absent


def test_one_family_has_no_interval() -> None:
    """A single pair of twins says nothing about other families, so nothing is called equivalent."""
    made = [item for item in episodes() if item.outcome.cluster == "c0"]
    assert {(row["low"], row["high"], row["equivalent"]) for row in figures(made)["fairness"]} == {
        (None, None, False)
    }
    assert "1 family" in chapters(made)[0].sections[-1].pictures[0]


def test_every_player_has_a_look_of_its_own_on_all_pictures() -> None:
    """Twenty players share neither colour and mark nor, next to each other, a dash; order decides alone."""
    names = [f"player {number:02}" for number in range(20)]
    looks = styles(names)
    assert all((a.colour, a.mark) != (b.colour, b.mark) for a, b in combinations(looks.values(), 2))
    assert len({look.colour for look in styles(names[:8]).values()}) == 8
    assert len({look.mark for look in styles(names[:8]).values()}) == 8
    sections = {s.title: s for s in chapters([e for name in names[:3] for e in episodes(name)])[0].sections}
    for title in ("Fixed budgets", "Adaptive: cumulative success", "Adaptive: beliefs and forecasts"):
        for picture in sections[title].pictures:
            assert all(looks[name].colour in picture for name in names[:3])
            assert all(looks[name].colour not in picture for name in names[3:8])


def test_pictures_are_well_formed_and_speak() -> None:
    """Each is one SVG with a role and a label, without scripts, and text from players is escaped."""
    axes = Axes("x <b>", "y", ((0.0, "0"), (1.0, "1")), SHARES, line=0.9)
    look = styles(["<script>"])["<script>"]
    series = [Series("<script>", ((0.0, 0.5, 0.4, 0.6), (1.0, 1.0, 0.9, 1.0)), look)]
    kinds = (Kind("a", "#000", code="A"), Kind("b", "#555", code="B"))
    made = [
        lines("A & B", axes, series),
        lines("A & B", axes, series, steps=True),
        bars("Why", kinds, {"<i>": {"a": 3.0, "b": 0.0}, "empty": {}}),
        grid("Rates", ["<b>"], {"<i>": [Box(0.3, "30%", "10–50")], "none": [None]}),
        intervals("Gap", [("n", -0.02, -0.08, 0.04), ("one", 0.5)], 0.1, look),
    ]
    for picture in made:
        assert picture.count("<svg") == picture.count("</svg>") == 1
        assert ElementTree.fromstring(picture).attrib["role"] == "img"  # noqa: S314 (our own text)
        assert "aria-label" in picture
        assert not re.search(r"<script|<i>|<b>|nan|inf", picture)


def test_ticks_span_their_values() -> None:
    """Axes end at or above the largest value, with few ticks and none in between."""
    for top in (0, 1, 5, 16, 17, 64, 512):
        found = ticks(top)
        assert found[0][0] == 0
        assert found[-1][0] >= max(top, 1)
        assert len(found) <= 7
    assert [text for _, text in ticks(16)] == ["0", "4", "8", "12", "16"]
    assert decades(-3.0, 2.2)[0] == (-3.0, "0.001")
    assert decades(-3.0, 2.2)[-1][0] >= 2.2


def test_differences_are_paired_by_family() -> None:
    """Every family gives one difference; the interval is of means over families drawn anew."""
    pairs = twins(rows_of("fixed:16"))
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
