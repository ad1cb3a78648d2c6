"""From papers to a release, on real protocol from end to end: Atom, Crossref and a model server on loopback.

The model answers by rule from the text it is shown (rule_model.py); no table says what becomes of which
paper.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from curation.arrivals import Arrivals
from curation.buy import buy
from curation.folder_source import collect_folder
from curation.rows import read_rows
from environments.release import Release
from tests.curation.rig import NOW, benches, read_all
from tests.fakes.atom_server import AtomServer, Preprint
from tests.fakes.crossref_server import CrossrefServer, article
from tests.fakes.model_server import ModelServer
from tests.scenarios.rule_model import answer
from tests.small_project import Project, copy_project, git

PAPERS = Path(__file__).parent / "papers"
VERSION, DUE = "2026.11.0", "2026-11-30T12:00:00Z"
CATEGORY = "physics.flu-dyn"
CHAIN = {
    # name: (arXiv id, submitted, issued)
    "settling": ("2604.00101", datetime(2026, 4, 2, 8, 0, tzinfo=UTC), [2026, 8, 3]),
    "early": ("2603.30001", datetime(2026, 3, 31, 9, 0, tzinfo=UTC), [2026, 7, 1]),
    "units": ("2604.00102", datetime(2026, 4, 2, 9, 0, tzinfo=UTC), [2026, 7, 14]),
    "words": ("2604.00103", datetime(2026, 4, 1, 7, 30, tzinfo=UTC), [2026, 9]),
    "digits": ("2604.00104", datetime(2026, 4, 1, 23, 59, tzinfo=UTC), [2026, 6, 20]),
}


def title_of(name: str) -> str:
    """Return the title that a chain paper's TeX carries."""
    tex = (PAPERS / "chain" / f"{name}.tex").read_text()
    return tex.partition("\\title{")[2].partition("}")[0]


@dataclass(frozen=True)
class House:
    """A workspace that reads papers, and the servers that it asks."""

    project: Project
    root: Path
    atom: AtomServer
    crossref: CrossrefServer
    model: ModelServer

    @property
    def store(self) -> Path:
        return self.root.with_name(f"{self.root.name}.store")

    def cut(self, *arguments: str, version: str = VERSION) -> str:
        """Cut a release and return what was printed."""
        order = ("cut", "--version", version, "--at", DUE, *arguments, "--workspace", str(self.root))
        return self.project.run(*order)

    def release(self, version: str = VERSION) -> Release:
        return Release.open(self.store / "releases" / version)

    def public(self, name: str, version: str = VERSION) -> list[dict[str, Any]]:
        return read_rows(self.store / "releases" / version / "public" / f"{name}.jsonl")

    def sealed_cards(self, version: str = VERSION) -> list[dict[str, Any]]:
        rows = read_rows(self.store / "releases" / version / "sealed" / "cards.jsonl")
        return [row["card"] for row in rows if row["card"]["collection"] == "temporal"]


@contextmanager
def house(folder: Path) -> Iterator[House]:
    """Make a workspace with models and sources configured, and start the servers."""
    preprints, records = [], {}
    for name, (identifier, submitted, issued) in CHAIN.items():
        tex, doi = (PAPERS / "chain" / f"{name}.tex").read_text(), f"10.5555/{name}"
        preprints.append(Preprint.of_tex(identifier, title_of(name), submitted, tex, doi))
        records[doi] = article(doi, title_of(name), "Journal of Tanks", issued=issued)
    with AtomServer(preprints) as atom, CrossrefServer(records) as crossref, ModelServer(answer) as model:
        variables = {
            "ALMANAC_ARXIV_URL": atom.base_url,
            "ALMANAC_ARXIV_SECONDS": "0",
            "ALMANAC_CROSSREF_URL": crossref.base_url,
            "ALMANAC_BASE_URL": model.base_url,
            "ALMANAC_API_KEY": "key",
            "ALMANAC_CONTACT": "desk@example.org",
        }
        project = replace(copy_project(folder), variables=variables)
        root = folder / "workspace"
        project.run("init", str(root))
        configure(root)
        yield House(project, root, atom, crossref, model)


def configure(root: Path) -> None:
    """Set window, category and models in params.yaml, and push it to the hub."""
    path = root / "params.yaml"
    params = yaml.safe_load(path.read_text())
    params["window"]["after"] = "2026-03-31"
    params["sources"] = {"categories": [CATEGORY], "journals": ["Journal of Tanks"]}
    params["extract"]["model"] = "reader"
    params["review"]["model"] = "referee"
    path.write_text(yaml.safe_dump(params, sort_keys=False))
    git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-am", "Settings")
    git(root, "push", "--quiet")


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The five papers of the chain, listed, read and cut once."""
    with house(tmp_path_factory.mktemp("chain")) as made:
        made.cut("--from", "2026-03-31", "--to", "2026-04-02")
        yield made


def test_exactly_the_right_card_is_released(chain: House) -> None:
    """Of five papers one becomes a card, with its relation, its constants and its dates."""
    (card,) = chain.sealed_cards()
    assert card["source"]["title"] == title_of("settling")
    assert card["source"]["dates"] == {"first_preprint": "2026-04-02", "journal_online": "2026-08-03"}
    assert {item["name"]: item["value"] for item in card["parameters"]} == {"v_0": 2.3, "d_0": 0.5, "n": 1.4}
    assert (card["inputs"][0]["low"], card["inputs"][0]["high"]) == (0.1, 2.0)
    (source,) = chain.public("sources")
    assert source["doi"] == "10.5555/settling"
    assert "v_0" not in json.dumps(chain.public("sources"))


def test_every_other_paper_is_listed_with_stage_and_reason(chain: House) -> None:
    """Before the window; wrong units; an invented quote; a changed constant."""
    rows = {row["doi"]: (row["stage"], row["reason"]) for row in chain.public("rejected")}
    assert rows == {
        "10.5555/early": ("date_gate", "before_window"),
        "10.5555/units": ("check", "unit_scale"),
        "10.5555/words": ("check", "quote_absent"),
        "10.5555/digits": ("check", "value_quoted"),
    }
    assert sum(chain.release().manifest.rejects.values()) == 4


def test_the_model_is_never_asked_about_a_paper_before_the_window(chain: House) -> None:
    """Neither its text nor its title ever left, and its source was never fetched."""
    assert not any("rubbed beads" in ask.text or "charge of a bead" in ask.text for ask in chain.model.asks)
    assert not any("2603.30001" in path for path in chain.atom.requests if path.startswith("/src/"))


def test_the_paper_makes_a_whole_family_of_tasks(chain: House) -> None:
    """Four tasks come of the card, and the release passes every check."""
    (card,) = chain.sealed_cards()
    linked = [task for task in chain.release().tasks() if task.link.get("card") == card["id"]]
    assert len(linked) == 4
    verify = ("verify", VERSION, "--json", "--workspace", str(chain.root))
    report = json.loads(chain.project.run(*verify))
    assert report["passed"]


def test_no_word_of_a_paper_is_published(chain: House) -> None:
    """No quote, no formula and no sentence of any paper stands in a public byte."""
    phrases = [
        "single flakes in a still tank",
        "seven tenths",
        "From three summers at sea",
        "\\left(\\frac{d}",
    ]
    folder = chain.store / "releases" / VERSION / "public"
    for path in folder.iterdir():
        text = path.read_text()
        assert not [phrase for phrase in phrases if phrase in text], path.name


def test_a_second_cut_buys_nothing_and_changes_nothing(chain: House) -> None:
    """The version is there: it is printed, nobody is asked, and no byte moves."""
    before = (len(chain.model.asks), len(chain.atom.requests), len(chain.crossref.requests))
    digest = chain.release().manifest_sha256
    assert "published already" in chain.cut("--from", "2026-03-31", "--to", "2026-04-02")
    assert (len(chain.model.asks), len(chain.atom.requests), len(chain.crossref.requests)) == before
    assert chain.release().manifest_sha256 == digest


RECORDS = {
    "r1": ("accepted", "", ""),
    "r2": ("accepted", "", ""),
    "r3": ("rejected", "check", "interval_value"),
    "r4": ("rejected", "check", "value_without_quote"),
    "r5": ("needs_person", "review", "assumed_relation"),
    "r6": ("rejected", "extract", "no_relation"),
    "r7": ("rejected", "date_gate", "earlier_preprint"),
}
"""What becomes of the seven records, in their order."""


def test_the_seven_records_end_as_their_traps_say(tmp_path: Path) -> None:
    """Each record of 2026 ends where its trap leads: accepted, refused, or before a person.

    The first is accepted after one revision (an abstract that lost the sign of an exponent), the second at
    once. The seventh, whose first preprint is of 2020, is never shown to a model.
    """
    root = tmp_path / "clone"
    collect_folder(PAPERS / "records", Arrivals(root / "data" / "arrivals"), NOW)
    with ModelServer(answer) as model, benches(root, model.base_url) as (buying, replay):
        assert read_all(buying, replay, buy) == []
        cards = {row["paper"]["key"]: row for row in read_rows(replay.private("cards.jsonl"))}
        rejects = read_rows(replay.private("rejects.jsonl"))
        assert not any("logarithmic profile" in ask.text for ask in model.asks)
    found = {row["paper"]: (row["outcome"], row["stage"], row["reason"]) for row in rejects}
    found |= dict.fromkeys(cards, ("accepted", "", ""))
    assert found == {f"folder:{name}": end for name, end in RECORDS.items()}
    assert {key: row["revised"] for key, row in cards.items()} == {"folder:r1": True, "folder:r2": False}
    assert "10^{-10}" in cards["folder:r1"]["card"]["conditions"][0]


def test_the_next_release_holds_the_old_card_and_buys_only_what_is_new(chain: House) -> None:
    """A later cut of the same papers and the seven records asks about the records alone.

    Both record cards become families, as does the old one, whose windows and replies are on record.
    """
    before = (len(chain.atom.requests), len(chain.crossref.requests), len(chain.model.asks))
    order = ("--from", "2026-03-31", "--to", "2026-04-02", "--source", str(PAPERS / "records"))
    chain.cut(*order, version="2026.12.0")
    assert len(chain.atom.requests) == before[0]
    assert not any("single flakes" in ask.text for ask in chain.model.asks[before[2] :])
    assert chain.model.bought_twice == []
    cards = {card["source"]["doi"]: card for card in chain.sealed_cards("2026.12.0")}
    assert set(cards) == {"10.5555/settling", "10.5555/record.1", "10.5555/record.2"}
    assert cards["10.5555/settling"] == chain.sealed_cards()[0]
    refused = {name for name, end in RECORDS.items() if end[0] == "rejected"}
    dois = {row["doi"] for row in chain.public("rejected", "2026.12.0")}
    assert dois == {f"10.5555/{name}" for name in CHAIN if name != "settling"} | {
        f"10.5555/record.{name[1]}" for name in refused
    }
