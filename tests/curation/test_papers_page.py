"""docs/papers.md: what it shows a maintainer is what the folder source and the pattern extractor read."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from cards.dates import parse_interval
from curation.arrivals import Arrivals
from curation.extract import PatternExtractor
from curation.folder_source import SUFFIXES, Metadata, collect_folder
from curation.parse_child import parse_bytes
from curation.pattern import pattern_relations
from curation.shelf import Shelf
from tests.curation.rig import paper

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_paper_of_the_page_becomes_a_card() -> None:
    """The TeX shown there gives one draft without a fault, with the domains that it prints."""
    document = parse_bytes("folder:page", "page.tex", _block("tex").encode())
    (draft,) = PatternExtractor(pattern_relations).drafts(paper(), document)
    assert draft.faults == ()
    assert draft.card is not None
    domains = {item.name: (item.low, item.high, item.unit) for item in draft.card.inputs}
    assert domains == {"rho": (800, 1200, "kg/m^3"), "v": (1, 20, "m/s"), "A": (0.01, 0.5, "m^2")}
    assert draft.card.values() == {"k": 0.47, "v_0": 0.12}


def test_the_metadata_of_the_page_pass_the_date_gate(tmp_path: Path) -> None:
    """The YAML shown there is read, and its dates make the paper eligible."""
    (tmp_path / "page.yaml").write_text(_block("yaml"), encoding="utf-8")
    (tmp_path / "page.tex").write_text(_block("tex"), encoding="utf-8")
    arrivals = Arrivals(tmp_path / "arrivals")
    collect_folder(tmp_path, arrivals, datetime(2026, 11, 20, tzinfo=UTC))
    (found,) = Shelf(arrivals, parse_interval("2026-01-01")).papers()
    assert found.verdict.outcome == "eligible"
    assert found.discipline == "engineering"


def test_the_page_names_every_field_and_ending() -> None:
    """No field of a metadata file is left out; every ending that it names is one that is taken."""
    assert all(f"`{name}`" in PAGE or f"\n{name}:" in PAGE for name in Metadata.model_fields)
    assert all(suffix in SUFFIXES for suffix in re.findall(r"`NAME(\.[a-z.]+)`", PAGE) if suffix != ".yaml")
