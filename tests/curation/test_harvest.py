"""Harvest: windows that are complete or pending, arrivals recorded whole, requests made politely."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cards.dates import parse_interval
from cards.errors import InputError
from curation.arrivals import Arrivals
from curation.arxiv_source import ArxivSource
from curation.crossref import Crossref
from curation.folder_source import collect_folder
from curation.harvest import Collection, CollectReport, collect
from curation.polite import PoliteSession
from curation.shelf import Shelf
from tests.curation.rig import NOW, TEX, polite
from tests.fakes.atom_server import Answer, AtomServer, Preprint
from tests.fakes.crossref_server import CrossrefServer, article

DAY = datetime(2026, 6, 1, 9, 30, tzinfo=UTC)
AFTER = parse_interval("2026-03-31")


def preprint(number: int, **changes: Any) -> Preprint:
    """Return the n-th paper of the day, with a journal DOI."""
    fields: dict[str, Any] = {
        "id": f"2606.{number:05d}",
        "title": f"Paper {number}",
        "published": DAY + timedelta(minutes=number),
        "source": TEX.encode(),
        "doi": f"10.5555/tank.{number}",
    }
    return Preprint(**(fields | changes))


def registered(*numbers: int) -> dict[str, dict[str, Any]]:
    """Return journal records of September 2026 for these papers."""
    dois = {number: f"10.5555/tank.{number}" for number in numbers}
    return {doi: article(doi, f"Paper {number}", "J", issued=[2026, 9]) for number, doi in dois.items()}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[PoliteSession]:
    with polite(tmp_path) as session:
        yield session


def run(
    tmp_path: Path,
    session: PoliteSession,
    server: AtomServer,
    crossref: CrossrefServer | None = None,
    **changes: Any,
) -> tuple[CollectReport, Arrivals]:
    """Collect the one day and category of these tests."""
    arrivals = Arrivals(tmp_path / "arrivals")
    source = ArxivSource(server.base_url, session, **changes)
    registry = Crossref(crossref.base_url, session, "desk@example.org") if crossref else None
    day = date(2026, 6, 1)
    job = Collection(arrivals, NOW, AFTER, source, registry, ("physics.flu-dyn",), day, day)
    return collect(job), arrivals


def test_a_complete_window_is_recorded_whole_and_never_asked_for_again(
    tmp_path: Path, session: PoliteSession
) -> None:
    """Pages are kept raw; a second run over a finished window and its papers costs no request."""
    records = {
        f"10.5555/tank.{n}": article(f"10.5555/tank.{n}", f"Paper {n}", "J", issued=[2026, 9])
        for n in (1, 2, 3)
    }
    with AtomServer([preprint(n) for n in (1, 2, 3)]) as server, CrossrefServer(records) as crossref:
        report, arrivals = run(tmp_path, session, server, crossref, page_size=2)
        assert (report.complete, report.pending, report.fetched) == (1, [], 3)
        first = (len(server.requests), len(crossref.requests))
        assert first == (2 + 3, 3)
        again, _ = run(tmp_path, session, server, crossref, page_size=2)
        assert again.fetched == 0
        assert (len(server.requests), len(crossref.requests)) == first
    record = next(iter(arrivals.windows()))
    assert all(b"<feed" in arrivals.get(page) for page in record["pages"])
    assert arrivals.rows("dates")[0]["reply"]["DOI"] == "10.5555/tank.1"
    assert len(record["pages"]) == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(body=b"Rate exceeded."), "not XML"),
        (Answer(body=b"<html><body>busy</body></html>"), "not an Atom feed"),
        (Answer(body=b""), "not XML"),
        (Answer(body=b'<feed xmlns="http://www.w3.org/2005/Atom"></feed>'), "does not announce its total"),
        (Answer(body=b"<!DOCTYPE x [<!ENTITY a 'aa'>]><feed/>"), "document type"),
        (
            Answer(
                body=b'<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/">'
                b"<o:totalResults>1</o:totalResults><entry><id>http://arxiv.org/api/errors#x</id>"
                b"<summary>malformed id</summary></entry></feed>"
            ),
            "reports an error",
        ),
        (Answer(status=503), "status 503"),
        (Answer(close=True), "attempts"),
    ],
)
def test_what_is_not_a_listing_leaves_the_window_pending(
    tmp_path: Path, session: PoliteSession, answer: Answer, words: str
) -> None:
    """A 200 answer that is no listing, an error entry or a cut connection never passes for an empty day."""
    with AtomServer([preprint(1)]) as server:
        server.inject([answer] * 3)
        report, arrivals = run(tmp_path, session, server)
        assert report.complete == 0
        assert words in report.pending[0]
        assert Shelf(arrivals, AFTER).papers() == []
        retried, arrivals = run(tmp_path, session, server)
        assert retried.complete == 1
        assert [paper.key for paper in Shelf(arrivals, AFTER).papers()] == ["arxiv:2606.00001v1"]


def test_one_bad_answer_is_asked_for_again(tmp_path: Path, session: PoliteSession) -> None:
    """A passing fault does not cost the window; an empty first page counts as one."""
    empty = (
        b'<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/">'
        b"<o:totalResults>1</o:totalResults></feed>"
    )
    with AtomServer([preprint(1)]) as server:
        server.inject([Answer(status=429, headers={"Retry-After": "0"}), Answer(body=empty)])
        report, _ = run(tmp_path, session, server)
    assert report.complete == 1


def test_a_window_with_a_missing_entry_stays_pending(tmp_path: Path, session: PoliteSession) -> None:
    """The number of unique ids must equal the announced total."""
    with AtomServer([preprint(n) for n in (1, 2, 3)]) as server:
        server.hidden.add("2606.00002")
        report, _ = run(tmp_path, session, server, page_size=10)
        assert "2 unique entries of 3" in report.pending[0] or "empty page" in report.pending[0]
        server.hidden.clear()
        assert run(tmp_path, session, server, page_size=10)[0].complete == 1


def test_a_large_window_is_split(tmp_path: Path, session: PoliteSession) -> None:
    """A window that announces too many entries is listed in parts, and is complete when all parts are."""
    with AtomServer([preprint(n) for n in range(1, 12)]) as server:
        report, arrivals = run(tmp_path, session, server, window_limit=4)
        assert report.complete == 1
        assert len(Shelf(arrivals, AFTER).papers()) == 11


def test_a_day_that_is_not_over_stays_pending(tmp_path: Path, session: PoliteSession) -> None:
    """Papers may still arrive for today; what is listed now must not pass for the whole day."""
    with AtomServer([]) as server:
        source = ArxivSource(server.base_url, session)
        arrivals = Arrivals(tmp_path)
        day = NOW.date()
        job = Collection(arrivals, NOW, AFTER, source, None, ("physics.flu-dyn",), day, day)
        assert "may still grow" in collect(job).pending[0]


def test_ids_stay_text_and_the_newest_version_counts(tmp_path: Path, session: PoliteSession) -> None:
    """2606.10 keeps its zero, an old-style id its slash, and v2 takes the place of v1."""
    papers = [
        preprint(1, id="2606.10000"),
        preprint(2, id="physics/0606010"),
        preprint(3, id="2606.00003", version=2, updated=DAY + timedelta(days=9)),
    ]
    with AtomServer(papers) as server:
        _, arrivals = run(tmp_path, session, server)
    keys = [paper.key for paper in Shelf(arrivals, AFTER).papers()]
    assert keys == ["arxiv:2606.00003v2", "arxiv:2606.10000v1", "arxiv:physics/0606010v1"]


def test_only_papers_that_pass_the_gate_have_their_source_fetched(
    tmp_path: Path, session: PoliteSession
) -> None:
    """No journal record, no source; a withdrawn paper is no candidate; a missing source is said."""
    papers = [
        preprint(1),
        preprint(2, doi=None),
        preprint(3, comment="This paper has been withdrawn by the authors"),
        preprint(4, source=None),
    ]
    records = {
        f"10.5555/tank.{n}": article(f"10.5555/tank.{n}", f"Paper {n}", "J", issued=[2026, 9])
        for n in (1, 3, 4)
    }
    with AtomServer(papers) as server, CrossrefServer(records) as crossref:
        _, arrivals = run(tmp_path, session, server, crossref)
        fetched = [path for path in server.requests if path.startswith("/src/")]
    assert fetched == ["/src/2606.00001v1", "/src/2606.00004v1"]
    verdicts = {paper.key: paper.verdict for paper in Shelf(arrivals, AFTER).papers()}
    found = {key: (verdict.outcome, verdict.reason) for key, verdict in verdicts.items()}
    assert found == {
        "arxiv:2606.00001v1": ("eligible", "in_window"),
        "arxiv:2606.00002v1": ("awaiting_journal", "no_journal_record"),
        "arxiv:2606.00003v1": ("rejected", "withdrawn"),
        "arxiv:2606.00004v1": ("rejected", "no_source"),
    }


def test_dois_are_encoded_and_a_record_is_found_by_title(tmp_path: Path, session: PoliteSession) -> None:
    """A DOI with a slash and brackets reaches the registry whole; without one the title is searched."""
    odd = "10.1002/(SICI)1097<1::AID>3.0.CO;2-6"
    papers = [preprint(1, doi=odd), preprint(2, doi=None)]
    records = {odd: article(odd, "Paper 1", "J", issued=[2026, 9])}
    records["10.5555/x"] = article("10.5555/x", "PAPER 2!", "Journal of Tanks", published_online=[2026, 8, 1])
    records["10.5555/y"] = article("10.5555/y", "Paper 2 and more", "J", issued=[2019])
    with AtomServer(papers) as server, CrossrefServer(records) as crossref:
        _, arrivals = run(tmp_path, session, server, crossref)
        assert "mailto=desk%40example.org" in crossref.requests[0]
    found = Shelf(arrivals, AFTER, ["journal of tanks"]).papers()
    assert [paper.verdict.outcome for paper in found] == ["eligible", "eligible"]
    assert found[1].track == "journal"


def test_a_record_of_another_author_with_the_same_title_is_not_the_paper(
    tmp_path: Path, session: PoliteSession
) -> None:
    """An old editorial must not make a new paper of the same title look old."""
    records = {"10.5555/old": article("10.5555/old", "Paper 1", "J", issued=[1990])}
    records["10.5555/old"]["author"] = [{"family": "Somebody"}]
    records["10.5555/new"] = article("10.5555/new", "Paper 1", "J", issued=[2026, 9])
    records["10.5555/new"]["author"] = [{"family": "Writer"}]
    with AtomServer([preprint(1, doi=None)]) as server, CrossrefServer(records) as crossref:
        _, arrivals = run(tmp_path, session, server, crossref)
    assert Shelf(arrivals, AFTER).papers()[0].verdict.outcome == "eligible"


def test_a_service_that_is_down_is_not_asked_for_every_paper(tmp_path: Path, session: PoliteSession) -> None:
    """After three papers in a row the rest waits for the next run, and nothing is lost."""
    with AtomServer([preprint(n) for n in range(1, 9)]) as server:
        _, arrivals = run(tmp_path, session, server)
    session.requests = 0
    registry = Crossref("http://127.0.0.1:9", session)
    report = collect(Collection(arrivals, NOW, AFTER, crossref=registry))
    assert session.requests == 3 * 3
    assert "every later paper" in report.pending[-1]
    assert arrivals.rows("dates") == []


def test_an_awaiting_paper_is_asked_for_again_after_a_week(tmp_path: Path, session: PoliteSession) -> None:
    """No journal record yet: the dates are looked up again, but not before seven days have passed."""
    with AtomServer([preprint(1)]) as server, CrossrefServer({}) as crossref:
        _, arrivals = run(tmp_path, session, server, crossref)
        run(tmp_path, session, server, crossref)
        assert len(crossref.requests) == 1
        registry = Crossref(crossref.base_url, session)
        crossref.records["10.5555/tank.1"] = article("10.5555/tank.1", "Paper 1", "J", issued=[2026, 11])
        collect(Collection(arrivals, NOW + timedelta(days=8), AFTER, crossref=registry))
        assert len(crossref.requests) == 2
    assert Shelf(arrivals, AFTER).papers()[0].verdict.reason == "source_pending"


def _ask(folder: str, url: str) -> None:
    with polite(Path(folder), interval=0.15) as session:
        for _ in range(3):
            session.get(f"{url}/src/none")


def test_all_processes_of_a_workspace_share_one_pace(tmp_path: Path) -> None:
    """Two processes together keep the interval between requests (tolerance 10 ms for the clock)."""
    spawn = multiprocessing.get_context("spawn")
    with AtomServer([]) as server:
        workers = [spawn.Process(target=_ask, args=(str(tmp_path), server.base_url)) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        times = sorted(server.times)
    assert len(times) == 6
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.14


def test_requests_name_a_contact(tmp_path: Path, session: PoliteSession) -> None:
    """The user agent says who asks and where to write."""
    with AtomServer([preprint(1)]) as server:
        run(tmp_path, session, server)
        assert server.agents[0] == "almanac-bench (mailto:desk@example.org)"


def write_paper(folder: Path, name: str, metadata: str, tex: str = TEX) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.tex").write_text(tex)
    (folder / f"{name}.yaml").write_text(metadata)


def test_a_folder_is_a_source_and_is_recorded_once(tmp_path: Path) -> None:
    """Papers that are not on arXiv take the same path; mail addresses are not stored."""
    folder = tmp_path / "papers"
    write_paper(
        folder,
        "dust",
        "title: Dust\nauthors: ['A. Writer <a@b.org>']\narxiv: 2606.10\njournal: Journal of Tanks\n"
        "dates:\n  - {kind: issued, date: 2026-06, record_type: journal-article}\n",
    )
    arrivals = Arrivals(tmp_path / "arrivals")
    assert collect_folder(folder, arrivals, NOW) == ["folder:dust"]
    assert collect_folder(folder, arrivals, NOW) == ["folder:dust"]
    assert len(arrivals.rows("sources")) == 1
    paper = Shelf(arrivals, AFTER, ["Journal of Tanks"]).papers()[0]
    assert (paper.verdict.outcome, paper.track, paper.arxiv) == ("eligible", "journal", "2606.10")
    assert paper.authors == ("A. Writer",)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ("title: [unclosed", "not YAML"),
        ("authors: [A]\n", "title"),
        ("title: T\nsurprise: 1\n", "surprise"),
        ("title: T\ndates:\n  - {kind: birthday, date: 2026}\n", "no kind of date"),
        ("title: T\ndates:\n  - {kind: issued, date: 2026-13}\n", "2026-13"),
    ],
)
def test_a_bad_metadata_file_is_named_and_loses_nothing(tmp_path: Path, metadata: str, words: str) -> None:
    """A metadata file that cannot be used is refused by name; what was recorded before stays."""
    folder = tmp_path / "papers"
    write_paper(folder, "bad", metadata)
    arrivals = Arrivals(tmp_path / "arrivals")
    with pytest.raises(InputError, match=words):
        collect_folder(folder, arrivals, NOW)
    assert arrivals.rows("sources") == []


def test_a_folder_without_papers_is_an_error(tmp_path: Path) -> None:
    """A mistyped --source says what is missing."""
    arrivals = Arrivals(tmp_path / "arrivals")
    with pytest.raises(InputError, match="not a folder"):
        collect_folder(tmp_path / "none", arrivals, NOW)
    with pytest.raises(InputError, match="no metadata"):
        collect_folder(tmp_path, arrivals, NOW)
    (tmp_path / "lonely.yaml").write_text("title: T\n")
    with pytest.raises(InputError, match=r"lonely\.yaml describes no paper"):
        collect_folder(tmp_path, arrivals, NOW)
