"""Review: a second model judges field by field; what it cannot quote it has not seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cards.review import FieldVerdict, Review
from curation.desk import prompt
from curation.draft import Draft
from curation.extract import judge
from curation.review import Reviewer, ReviewReply, claims, contradictions, is_numeric, review_draft
from tests.curation.rig import QUOTE, benches, document, paper, relation
from tests.fakes.model_server import Ask, ModelServer


def draft() -> Draft:
    return judge(
        relation(), paper(), document(), Draft(key="folder:dust#0", paper="folder:dust", extractor="m")
    )


def answer(changes: dict[str, Any]) -> str:
    """Return verdicts that support every field, save for ``changes``."""
    card = draft().card
    assert card is not None
    right = {"verdict": "supported", "quote": QUOTE, "comment": ""}
    asked = {field: changes.get(field, {}) for field in claims(card)}
    verdicts = [{"field": field, **right, **change} for field, change in asked.items() if change is not None]
    return json.dumps({"verdicts": verdicts, "originality": "new", "originality_quote": "we find"})


@contextmanager
def asked(tmp_path: Path, rule: Callable[[Ask], str]) -> Iterator[tuple[Reviewer, ModelServer]]:
    """Yield a reviewer whose model answers by ``rule``."""
    with ModelServer(rule) as server, benches(tmp_path, server.base_url) as (buying, _):
        yield Reviewer("referee", prompt("review"), buying.models["review"].structured), server


def reviewed(tmp_path: Path, **changes: Any) -> tuple[Review, Ask]:
    renamed = {name.replace("__", "."): change for name, change in changes.items()}
    with (
        ModelServer(lambda ask: answer(renamed)) as server,
        benches(tmp_path, server.base_url) as (buying, _),
    ):
        reviewer = Reviewer("referee", prompt("review"), buying.models["review"].structured)
        return reviewer.review(draft(), paper(), document()), server.asks[0]


def test_every_field_gets_a_verdict(tmp_path: Path) -> None:
    """Relation, units, domains, values and conditions are all asked about."""
    review, ask = reviewed(tmp_path)
    assert {verdict.verdict for verdict in review.verdicts} == {"supported"}
    assert {verdict.field for verdict in review.verdicts} == {
        "relation",
        "observables.A.unit",
        "inputs.r.unit",
        "inputs.r.domain",
        "parameters.A_0.value",
        "parameters.r_0.value",
        "parameters.p.value",
        "conditions[0]",
    }
    assert "p, exponent, is -1.8" in ask.text


def test_the_reviewer_does_not_see_the_extractors_quotes(tmp_path: Path) -> None:
    """Blind: claims and paper, no reasons."""
    _, ask = reviewed(tmp_path)
    listed = ask.text.rpartition("<claims>")[2]
    assert "as the exponent" not in listed
    assert "where $A$" not in listed


def test_a_verdict_without_a_real_quote_counts_as_absent(tmp_path: Path) -> None:
    """Support that cannot be found in the paper is no support, and a missing verdict is none either."""
    trust_me = {"quote": "the exponent is -1.8, trust me"}
    review, _ = reviewed(tmp_path, parameters__p__value=trust_me, inputs__r__domain=None)
    assert review.fields("absent") == ("inputs.r.domain", "parameters.p.value")


def test_contradictions_become_findings_with_the_papers_words() -> None:
    """The extractor is told what the paper says instead."""
    says = {"verdict": "contradicted", "quote": "to 120 kpc", "comment": "not 1000"}
    verdict = FieldVerdict.model_validate({"field": "inputs.r.domain", **says})
    review = Review(card_id="abc", model="m", verdicts=(verdict,))
    assert [finding.path for finding in contradictions(review)] == ["inputs.r.domain"]
    assert "to 120 kpc" in contradictions(review)[0].message


def test_numbers_are_domains_and_values() -> None:
    """Only a missing number forbids acceptance by itself."""
    assert is_numeric("inputs.r.domain")
    assert is_numeric("parameters.p.value")
    assert not is_numeric("conditions[0]")


def test_without_a_reviser_a_contradiction_stands(tmp_path: Path) -> None:
    """The offline extractor cannot look again: one review, no revision."""
    change = {"parameters.p.value": {"verdict": "contradicted"}}
    with asked(tmp_path, lambda ask: answer(change)) as (reviewer, server):
        seen = review_draft(draft(), paper(), document(), reviewer, None)
        assert (len(seen.reviews), server.requests) == (1, 1)


def test_an_unusable_review_is_recorded(tmp_path: Path) -> None:
    """A reviewer that never answers in form leaves the draft to a person."""
    with asked(tmp_path, lambda ask: "fine by me") as (reviewer, _):
        seen = review_draft(draft(), paper(), document(), reviewer, None)
    assert seen.reviews == ()
    assert "no usable answer" in seen.trouble


def test_the_wire_schema_of_a_review_is_strict() -> None:
    """Every field is required."""
    schema = ReviewReply.model_json_schema()
    for definition in [schema, *schema["$defs"].values()]:
        assert set(definition["required"]) == set(definition["properties"])
