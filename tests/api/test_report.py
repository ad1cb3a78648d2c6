"""The report of runs through the real program."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from api.report import Report, render
from evaluation.one_release import choose
from tests.evaluated_workspace import almanac, make_workspace
from tests.evaluation.test_law_report import SECTIONS
from tests.evaluation.test_one_release import run as stored_run
from tests.evaluation.test_report import NOW, Tags, browse
from tests.mini_release import VERSION

PLAYERS = ("reference", "perfect-memory", "candidate-checker", "sparse-regression")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of four players each."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALMANAC_CONFIG_HOME", str(folder / "config"))
        root = make_workspace(folder / "workspace", ("kepler", "ideal_gas"))
    environment = {"ALMANAC_CONFIG_HOME": str(folder / "config")}
    for player in PLAYERS:
        words = ("evaluate", "--player", player, "--release", VERSION, "--protocol", "prior,fixed:8,adaptive")
        done = almanac(*words, "--json", workspace=root, environment=environment)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["status"]["state"] == "complete"
    return root


@pytest.fixture(scope="module")
def page(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of all runs."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    done = almanac("report", "--html", str(path), workspace=workspace)
    assert done.returncode == 0, done.stderr
    assert f"release   {VERSION}" in done.stdout
    assert "analysing episode" in done.stderr
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def figures(workspace: Path) -> Any:
    """The same as JSON."""
    done = almanac("report", "--json", workspace=workspace)
    assert done.returncode == 0, done.stderr
    assert not (workspace.parent / "report.html").exists()
    return json.loads(done.stdout)


def other_release(workspace: Path, version: str) -> Path:
    """Copy the first run as one that was played, earlier, on another release."""
    first = min((workspace / "runs").iterdir())
    copy = first.with_name(f"20200101T000000Z-{version}-abcdef")
    shutil.copytree(first, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest |= {"created": "2020-01-01T00:00:00+00:00"}
    manifest["release"] |= {"version": version, "sha256": "0" * 64}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    return copy


def test_a_report_is_one_static_page(workspace: Path, page: str) -> None:
    """It names the runs, has every analysis for both settings, and needs nothing from outside."""
    for run in (workspace / "runs").iterdir():
        assert run.name in page
    for title in SECTIONS:
        assert f"{title} · discovery" in page
        assert f"{title} · identification" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_page_can_be_read_aloud(page: str) -> None:
    """Each table has a caption and scoped headings, each picture an accessible name, each link a target."""
    tags = Tags(page)
    assert len(tags.named("table")) == len(tags.named("caption")) >= 10
    assert {attributes.get("scope") for attributes in tags.named("th")} == {"row", "col"}
    assert len(tags.named("svg")) >= 20
    assert all(attributes.get("aria-label") for attributes in tags.named("svg"))
    links = {attributes["href"] for attributes in tags.named("a")}
    assert links == {f"#{attributes['id']}" for attributes in tags.named("h3")}


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_overflows_sideways(page: str, width: int, tmp_path: Path) -> None:
    """On a phone and on a desktop nothing is cut off: neither the page nor a text inside of a picture."""
    script = (
        "const d = document.querySelector('iframe').contentDocument;"
        "d.querySelectorAll('details').forEach(e => e.open = true);"
        "const wide = [...d.querySelectorAll('body *')].filter("
        "e => e.getBoundingClientRect().right > WIDTH + 0.5);"
        "const cut = [...d.querySelectorAll('svg text')].filter(e => {"
        "const own = e.getBBox(), box = e.ownerSVGElement.viewBox.baseVal;"
        "return own.x < 0 || own.x + own.width > box.width || own.y + own.height > box.height;});"
        "document.body.dataset.wide = wide.length; document.body.dataset.cut = cut.length;"
        "document.body.dataset.said = cut.map(e => e.textContent).join('|');"
    ).replace("WIDTH", str(width))
    frame = f'<iframe srcdoc="{html.escape(page)}" style="width:{width}px;height:900px;border:0"></iframe>'
    wrapper = tmp_path / "wrapper.html"
    wrapper.write_text(f"<!doctype html><body>{frame}<script>onload = () => {{{script}}}</script>")
    dom = browse(tmp_path, wrapper, "--window-size=1400,1000", "--dump-dom")
    body = re.search(r'<body data-wide="(\d+)" data-cut="(\d+)" data-said="([^"]*)"', dom)
    assert body is not None, dom[:500]
    assert (body[1], body[2], body[3]) == ("0", "0", "")


def counted(figures: Any, player: str, setting: str, protocol: str) -> dict[str, Any]:
    """Return one player's counts by twin."""
    chapter = next(one for one in figures["chapters"] if one["setting"] == setting)
    return {
        row["variant"]: row
        for row in chapter["counts"]
        if (row["player"], row["protocol"]) == (player, protocol)
    }


def test_the_figures_of_players_whose_truth_is_known(figures: Any) -> None:
    """The reference is strict everywhere; memory wins Originals, and half of Identification unseen."""
    assert figures["release"]["version"] == VERSION
    for setting in ("discovery", "identification"):
        for protocol in ("prior", "fixed:8", "adaptive"):
            rows = counted(figures, "reference", setting, protocol)
            assert {row["strict"]["value"] for row in rows.values()} == {1.0}
            assert {row["prediction"]["value"] for row in rows.values()} == {1.0}
    known = counted(figures, "perfect-memory", "discovery", "prior")
    assert known["original"]["strict"]["value"] == 1.0
    assert known["counterfactual"]["strict"]["value"] == 0.0
    guessed = counted(figures, "perfect-memory", "identification", "prior")
    assert sum(row["strict"]["value"] for row in guessed.values()) / 2 == 0.5
    assert counted(figures, "candidate-checker", "discovery", "prior") == {}
    asked = next(one for one in figures["chapters"] if one["setting"] == "identification")["cumulative"]
    checker = [row for row in asked if row["player"] == "candidate-checker" and row["measure"] == "weak"]
    assert [row["points"] for row in checker] == [[[0, 0.0], [1, 1.0]]] * 2


def test_memory_fails_counterfactuals_for_the_right_reason(figures: Any) -> None:
    """With readings it contradicts what it saw; without any its relation is just another one."""
    chapter = next(one for one in figures["chapters"] if one["setting"] == "discovery")
    found = {
        row["protocol"]: {kind for kind, count in row["counts"].items() if count}
        for row in chapter["failures"]
        if (row["player"], row["variant"]) == ("perfect-memory", "counterfactual")
    }
    assert "evidence misreading" not in found["prior"]
    assert found["fixed:8"] <= {"evidence misreading", "parameter error"}
    assert not any("solved" in kinds for kinds in found.values())


def test_a_report_is_about_one_release(workspace: Path, tmp_path: Path) -> None:
    """Runs of another release are left out and named; naming runs of two is refused until one is chosen."""
    other = other_release(workspace, "2020.1.0")
    try:
        page = tmp_path / "x.html"
        done = almanac("report", "--html", str(page), workspace=workspace)
        assert done.returncode == 0, done.stderr
        assert f"left out  {other.name}: release 2020.1.0" in done.stdout
        assert f"{other.name}: release 2020.1.0" in page.read_text(encoding="utf-8")
        named = [run.name for run in (workspace / "runs").iterdir()]
        mixed = almanac("report", *named, "--html", str(tmp_path / "y.html"), workspace=workspace)
        assert (mixed.returncode, "2 releases" in mixed.stderr) == (2, True)
        asked = almanac("report", *named, "--release", VERSION, "--json", workspace=workspace)
        assert json.loads(asked.stdout)["left_out"] == [{"run": other.name, "reason": "release 2020.1.0"}]
        never = almanac("report", "--release", "2019.1.0", workspace=workspace)
        assert (never.returncode, VERSION in never.stderr) == (2, True)
        assert not (tmp_path / "y.html").exists()
    finally:
        shutil.rmtree(other)


def test_a_run_that_does_not_exist_is_an_error(workspace: Path, tmp_path: Path) -> None:
    """The message names the run, nothing is written."""
    done = almanac("report", "nobody", "--html", str(tmp_path / "x.html"), workspace=workspace)
    assert done.returncode == 2
    assert "nobody" in done.stderr
    assert not (tmp_path / "x.html").exists()


def test_an_episode_to_be_played_again_is_not_counted_as_played() -> None:
    """Its row says that it failed; the run is resumable."""
    chosen = choose([stored_run(1, "2026.11.0", status="error"), stored_run(2, "2026.11.0")], "law")
    assert chosen is not None
    page = render(Report(chosen, {}, []), NOW)
    assert re.findall(r"\d of \d", page) == ["0 of 1", "1 of 1"]


@pytest.mark.parametrize(("left", "folded"), [(0, False), (3, False), (4, True)])
def test_a_long_list_of_runs_left_out_is_folded(left: int, folded: bool) -> None:
    """So that it does not push the results down."""
    others = [stored_run(1 + number, "2026.10.0") for number in range(left)]
    chosen = choose([*others, stored_run(9, "2026.11.0")], "law")
    assert chosen is not None
    page = render(Report(chosen, {}, []), NOW)
    assert page.count(": release 2026.10.0</li>") == left
    assert (f"<details><summary>Left out: {left} runs" in page) == folded
    assert ("<p>Left out:</p>" in page) == (left == 3)
