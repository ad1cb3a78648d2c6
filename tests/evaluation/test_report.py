"""The static page, in a real browser."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evaluation.leaderboard import boards
from evaluation.report import render
from evaluation.run import Run, create_run
from evaluation.stored import load_run
from tests.evaluation.toy import BisectingPlayer, ToyVenue, saying, toy_plan

NOW = datetime(2026, 11, 30, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script> & a name that goes on and on without any place to break_" + "x" * 60
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with three players, one of a hostile name, and a cell without a row."""
    runs = tmp_path_factory.mktemp("runs")
    venue = ToyVenue(clusters=12)
    for number, player in enumerate((saying(3), BisectingPlayer(), saying(4, HOSTILE))):
        create_run(runs / str(number), toy_plan(venue, player), NOW)
        venue.broken = {venue.rows[0].id} if number == 2 else set()
        Run(runs / str(number), player, venue, lambda: NOW).play()
    return render(boards([load_run(path) for path in sorted(runs.iterdir())]), NOW)


def browse(folder: Path, page: Path, *options: str) -> str:
    """Run headless chromium on a file and return what it prints."""
    assert CHROMIUM, "chromium is needed: install the package chromium"
    switches = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=4000"
    )
    command = [CHROMIUM, *switches.split(), f"--user-data-dir={folder / 'profile'}", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_overflows_sideways(page: str, width: int, tmp_path: Path) -> None:
    """On a phone 375 px wide and on a desktop the page needs no sideways scrolling.

    A frame stands in for the screen, because the browser's own window is never narrower than 500 px.
    """
    script = (
        "const d = document.querySelector('iframe').contentDocument.documentElement;"
        "const right = e => e.getBoundingClientRect().right;"
        "const wide = [...d.querySelectorAll('body *')].filter(e => right(e) > WIDTH + 0.5);"
        "document.body.dataset.scroll = d.scrollWidth; document.body.dataset.wide = wide.length;"
        "document.body.dataset.tall = d.scrollHeight;"
    ).replace("WIDTH", str(width))
    frame = f'<iframe srcdoc="{html.escape(page)}" style="width:{width}px;height:900px;border:0"></iframe>'
    wrapper = tmp_path / "wrapper.html"
    wrapper.write_text(f"<!doctype html><body>{frame}<script>onload = () => {{{script}}}</script>")
    dom = browse(tmp_path, wrapper, "--window-size=1400,1000", "--dump-dom")
    body = re.search(r'<body data-scroll="(\d+)" data-wide="(\d+)" data-tall="(\d+)"', dom)
    assert body is not None, dom[:500]
    assert int(body[1]) <= width
    assert int(body[2]) == 0
    assert int(body[3]) > 900


def test_the_page_is_drawn(page: str, tmp_path: Path) -> None:
    """The browser paints the page: a screenshot of its head is not blank."""
    path = tmp_path / "page.html"
    path.write_text(page)
    shot = tmp_path / "shot.png"
    browse(tmp_path, path, "--window-size=1280,900", f"--screenshot={shot}")
    import matplotlib.image

    pixels = matplotlib.image.imread(shot)
    assert pixels.shape[:2] == (900, 1280)
    assert float(pixels.std()) > 0.05


def test_the_page_stands_alone(page: str) -> None:
    """It opens from disk: no script, no outside asset, no address to be fetched."""
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:|#)", page)
    assert not re.findall(r"url\(|@import|https?://", page)
    assert len(page) < 400_000


def test_names_are_text(page: str) -> None:
    """A player's name is shown, never run."""
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


class Tags(HTMLParser):
    """Collects start tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_tables_and_pictures_can_be_read_aloud(page: str) -> None:
    """Each table has a caption and scoped headings, each picture an accessible name."""
    tags = Tags(page)
    assert len(tags.named("table")) == len(tags.named("caption")) >= 2
    assert {attributes.get("scope") for attributes in tags.named("th")} == {"row", "col"}
    assert all(attributes.get("aria-label") for attributes in tags.named("svg"))
    assert tags.named("html")[0]["lang"] == "en"
    assert tags.named("meta")[1]["name"] == "viewport"


def test_the_page_shows_what_a_board_must(page: str) -> None:
    """Intervals, n per status, window, manifest digest, gaps, and cells without a row."""
    for words in (
        "12 scored",
        "100% [75, 100]",
        "ab" * 32,
        "papers public after",
        "Counterfactual gap",
        "No row",
    ):
        assert words in page


def test_an_empty_board_says_so() -> None:
    """Without a run the page is still a page."""
    assert "There is no run yet" in render([], NOW)
