"""Organism players without the truth, through real sessions, and what the board says of their parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from cards.errors import InputError
from environments.family import WithRules
from environments.organism.family import ORGANISM
from environments.seeding import session_seed
from environments.session import Session
from environments.task import JSON, Record, Task
from evaluation.episode import EpisodeRow, Seat, Slot, Verdict
from evaluation.leaderboard import boards
from evaluation.organism_page import render
from evaluation.organisms import study
from evaluation.plan import Selection, make_plan
from evaluation.players import SCRIPTED, families_of, scripted_player, settings_of
from evaluation.players.scripted import options_of
from evaluation.run import Run, create_run
from evaluation.score import read_rows
from evaluation.stored import StoredRun, load_run
from tests.evaluation.test_report import NOW, browse
from tests.evaluation.toy import RELEASE

PLAYERS = ("random-guess", "heuristic", "contrast-sweep", "closer", "causal-sweep", "sweep-best", "reference")
ORGANISMS = 4


class Zoo:
    """A venue over a few organisms of each tier."""

    def __init__(self) -> None:
        built = ORGANISM.build((), {"seeds": ORGANISMS}, b"z" * 32)
        self.tasks: dict[str, Task] = {task.row.id: task for task in built}

    def open(self, slot: Slot, ticket: JSON) -> tuple[Seat, JSON]:
        task, options = self.tasks[slot.task], options_of(slot)
        seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
        return Session(ORGANISM.open(task.definition, options, seed), options), None

    def judge(self, slot: Slot, record: Record, ticket: JSON = None) -> Verdict:
        task = self.tasks[slot.task]
        return Verdict(
            score=ORGANISM.judge(task.definition, record), cluster=task.cluster, facets=task.facets
        )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StoredRun]:
    """A run of every player over everything."""
    zoo, folder = Zoo(), tmp_path_factory.mktemp("runs")
    rows = [task.row for task in zoo.tasks.values()]
    found = {}
    for name in PLAYERS:
        player = scripted_player(name, lambda _: ORGANISM, lambda task: zoo.tasks[task].definition)
        create_run(folder / name, make_plan(RELEASE, rows, player, Selection()), NOW)
        assert Run(folder / name, player, zoo, lambda: NOW).play() == "complete"
        found[name] = load_run(folder / name)
    return found


def of(run: StoredRun, setting: str) -> list[EpisodeRow]:
    return [row for row in run.rows if row.setting.startswith(setting)]


def test_sessions_are_played_to_the_end(runs: dict[str, StoredRun]) -> None:
    """Every player of sessions submits everything of every session, healthy or not, inside the budget."""
    for name in ("random-guess", "heuristic", "contrast-sweep", "causal-sweep", "sweep-best", "reference"):
        for row in (*of(runs[name], "healthy-"), *of(runs[name], "diseased-")):
            assert (row.status, row.ending) == ("scored", "completed"), (name, row.setting)
            assert row.parts["budget_used"] <= 1.0


def test_players_use_their_experiments(runs: dict[str, StoredRun]) -> None:
    """Random runs none, Heuristic one for each gene, ContrastSweep all but the one kept for the rescue."""
    counts = {
        name: {row.parts["experiments"] for row in of(runs[name], "diseased-medium")} for name in PLAYERS
    }
    assert counts["random-guess"] == {0.0}
    assert counts["heuristic"] == {20.0}
    assert max(counts["contrast-sweep"]) == 30.0
    assert {row.parts["experiments"] for row in of(runs["heuristic"], "diseased-hard")} == {17.0}


def test_what_a_player_cannot_play_is_left_open(runs: dict[str, StoredRun]) -> None:
    """Sweeps leave probes alone, and the reader of probes leaves sessions and whole logs alone."""
    assert {row.status for row in of(runs["heuristic"], "probe-")} == {"missing"}
    assert {row.status for row in of(runs["closer"], "diseased-")} == {"missing"}
    assert {row.status for row in of(runs["closer"], "probe-1")} == {"scored"}
    assert {row.status for row in of(runs["closer"], "probe-3")} == {"missing"}


def test_the_reference_wins_everything(runs: dict[str, StoredRun]) -> None:
    """Every session and every item, strictly where that is asked."""
    for row in runs["reference"].rows:
        assert row.headline == 1.0
        assert row.passed["weak"] is True
        assert row.passed.get("strict") is not False


def test_the_family_offers_the_rule_that_its_probes_replay() -> None:
    """ContrastSweep comes from the family; every organism player says that it plays organisms only."""
    assert isinstance(ORGANISM, WithRules)
    assert set(ORGANISM.rules) == {"contrast-sweep"}
    for name in PLAYERS[:-1]:
        assert families_of(name) == ("organism",)
    assert {name for name in ORGANISM.insiders if name != "reference"} <= set(SCRIPTED)
    with pytest.raises(InputError, match="sealed part"):
        scripted_player("sweep-best", lambda _: ORGANISM)


def test_the_board_shows_parts_and_the_paired_gap(runs: dict[str, StoredRun]) -> None:
    """Prediction, diagnosis graded and exact, rescue, and rescue minus diagnosis by organism; a missing
    session counts as 0, and items have Wilson intervals."""
    board = boards(list(runs.values()))[0]
    tables = {table.title: table for table in board.part_tables()}
    table = tables["organism · diseased-medium · session"]
    assert table.columns == ("prediction", "diagnosis", "exact diagnosis", "rescue", "rescue − diagnosis")
    cells = {player: texts for player, _, texts in table.rows}
    assert cells["reference"][:4] == ("1.00 [0.25, 1.00]",) * 4  # the rule of three with four organisms
    assert cells["closer"][3].startswith("0.00")
    entry = next(entry for entry in board.entries if entry.player == "heuristic")
    row = next(row for row in entry.parts if row.setting == "diseased-hard")
    figures = {figure.heading: figure for figure in row.figures}
    gap = figures["rescue − diagnosis"]
    assert gap.paired
    assert gap.value == pytest.approx(figures["rescue"].value - figures["diagnosis"].value)
    items = next(
        row
        for entry in board.entries
        if entry.player == "closer"
        for row in entry.parts
        if row.setting == "probe-1"
    )
    assert items.figures[0].interval is not None
    assert items.figures[0].interval.method == "wilson"


def test_a_study_counts_what_the_rows_say(runs: dict[str, StoredRun]) -> None:
    """The report's figures follow from rows alone: means, directions, pooled evidence, probes."""
    run = runs["contrast-sweep"]
    found, rows = study("contrast-sweep", run.rows), of(run, "diseased-")
    assert found.sessions == len(rows) == 3 * ORGANISMS
    exact = [row.parts["exact"] for row in rows]
    assert found.scores["all"]["exact"].value == pytest.approx(sum(exact) / len(exact))
    assert sum(figure.n for figure in found.directions.values()) == len(rows)
    assert sum(figure.n for figure in found.classes.values()) == len(rows)
    relevant = [row for row in rows if "chance" in row.parts]
    told = sum(row.parts["discriminating"] * row.parts["before"] for row in relevant)
    assert found.evidence["discriminating"] == pytest.approx(told / sum(r.parts["before"] for r in relevant))
    assert len(found.points) == len(relevant)
    closer = study("closer", runs["closer"].rows)
    assert closer.probes["probe-1"].value == 1.0
    assert closer.probes["probe-1/filler"].value == 0.0
    assert 0 < closer.probes["probe-2/revised on noise"].value < 1
    assert study("closer", []).sessions == 0


@pytest.mark.parametrize("width", [375, 1280])
def test_the_report_fits_its_screen(runs: dict[str, StoredRun], width: int, tmp_path: Path) -> None:
    """Hostile names make no script and no sideways scrolling, and the page asks for nothing outside."""
    hostile = "<script>alert(1)</script>" + "x" * 80
    studies = [study(name, run.rows) for name, run in runs.items()] + [study(hostile, runs["heuristic"].rows)]
    page = render(studies, "2026.11.0", NOW)
    assert "<script>" not in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert page.count("<svg") == 5
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    frame = tmp_path / "frame.html"
    frame.write_text(
        f"<iframe src='page.html' style='width:{width}px;height:900px;border:0'></iframe><script>"
        "onload=()=>{const d=document.querySelector('iframe').contentDocument.documentElement;"
        "document.body.dataset.scroll=d.scrollWidth}</script>"
    )
    out = browse(tmp_path, frame, "--allow-file-access-from-files", "--window-size=1400,1000", "--dump-dom")
    assert f'data-scroll="{width}"' in out


def test_an_empty_report_says_so() -> None:
    """Without any run the page still stands."""
    assert "No run has played an organism yet" in render([], "none", NOW)


def test_rows_come_back_from_disk(runs: dict[str, StoredRun], tmp_path: Path) -> None:
    """A study of a stored run equals that of its rows in memory (nothing but rows is needed)."""
    run = runs["heuristic"]
    log = tmp_path / "episodes.jsonl"
    log.write_text("".join(row.model_dump_json() + "\n" for row in run.rows), encoding="utf-8")
    assert study("heuristic", read_rows(tmp_path)) == study("heuristic", run.rows)


def test_players_are_seated_where_they_answer() -> None:
    """Every setting that the table gives a player has at least one answer of it, and no other has."""
    zoo = Zoo()
    rows = [task.row for task in zoo.tasks.values()]
    every = {row.setting for row in rows}
    for name, entry in SCRIPTED.items():
        if "organism" not in entry.families:
            continue
        player = scripted_player(name, lambda _: ORGANISM, lambda task: zoo.tasks[task].definition)
        answered = set()
        for row in rows:
            slot = Slot(
                key=row.id,
                task=row.id,
                family="organism",
                setting=row.setting,
                protocol=row.protocols[0],
                repetition=0,
            )
            seat, _ = zoo.open(slot, None)
            hand = player.sit(slot, None)  # type: ignore[arg-type]
            hand.start(seat.brief, seat.tools)
            if hand.act(None) is not None:
                answered.add(row.setting)
        assert answered == (set(settings_of(name, rows)) or every), name
