"""Checks of an extracted relation against its paper, each shown to fail on what it is for."""

from __future__ import annotations

from typing import Any

import pytest

from cards.expression import Variable, substitute
from cards.store import historical
from curation.assemble import assemble, step_below
from curation.checks import CHECKS, duplicate_of, paper_findings
from curation.draft import Draft
from curation.extract import judge
from curation.printed import numbers_in, value_of
from curation.wire import RelationWire, ScatterWire
from tests.curation.rig import TEX, document, paper, relation, with_parameter


def found(item: RelationWire, tex: str = TEX) -> set[str]:
    return {finding.check for finding in paper_findings(item, document(tex))}


def judged(item: RelationWire, tex: str = TEX) -> Draft:
    made = Draft(key="folder:dust#0", paper="folder:dust", extractor="test")
    return judge(item, paper(), document(tex), made)


def with_input(**changes: Any) -> RelationWire:
    right = relation()
    return right.model_copy(update={"inputs": [right.inputs[0].model_copy(update=changes)]})


def test_a_right_relation_has_no_finding() -> None:
    """Quotes, values and domain of the right relation all hold, and its card is accepted."""
    assert found(relation()) == set()
    draft = judged(relation())
    assert draft.faults == ()
    assert draft.card is not None
    assert draft.card.source.dates.journal_online == "2026-06-12"


def test_evidence_points_into_the_document() -> None:
    """Every quote of the card is found again at its offsets."""
    card = judged(relation()).card
    assert card is not None
    text = document().text
    assert {span.field for span in card.evidence} >= {"relation", "inputs.r.domain", "parameters.p.value"}
    assert all(text[span.start : span.end].split() == span.quote.split() for span in card.evidence)


@pytest.mark.parametrize(
    ("item", "check"),
    [
        (with_parameter("p", value=None, printed=""), "value_absent"),
        (with_parameter("p", value=None, low=-2.2, high=-1.4), "interval_value"),
        (with_parameter("p", quote=""), "value_without_quote"),
        (with_parameter("p", quote="slope -1.8"), "value_without_quote"),
        (with_parameter("p", quote="the exponent is -1.8, as everybody knows"), "quote_absent"),
        (with_parameter("p", printed="1.8"), "value_printed"),
        (with_parameter("p", value=-1.7, printed="-1.7"), "value_quoted"),
        (with_parameter("r_0", role="unit"), "value_printed"),
        (relation(expression="0.13*(r/r_0)^p"), "bare_constant"),
        (with_input(low=None), "no_domain"),
        (with_input(quote=""), "no_domain"),
        (with_input(high=1000.0, high_printed="1000"), "value_quoted"),
        (relation(equation_quote="A = B"), "quote_absent"),
        (relation(conditions=[{"text": "any", "quote": "valid everywhere in the Universe"}]), "quote_absent"),
    ],
)
def test_each_check_finds_what_it_is_for(item: RelationWire, check: str) -> None:
    """One fault, one finding of the right name; the table explains it."""
    assert found(item) == {check}
    assert CHECKS[check].what


@pytest.mark.parametrize(
    ("item", "check"),
    [
        (relation(expression="A_0*(r/r_0"), "expression"),
        (relation(conditions=[]), "card_shape"),
        (relation(expression="A_0*(r/r_0)^p + r"), "unit_dimension"),
        (relation(expression="A_0*(r/r_0)^p*x"), "name_undeclared"),
        (
            relation(observable={"name": "A", "symbol": "A", "unit": "kmag", "description": "extinction"}),
            "unit_scale",
        ),
        (with_input(low=120.0, low_printed="120", high=10.0, high_printed="10"), "domain"),
        (relation(background="The extinction follows a power law."), "giveaway"),
    ],
)
def test_a_bad_relation_makes_no_accepted_card(item: RelationWire, check: str) -> None:
    """What the paper cannot settle, the acceptance of the card does."""
    assert check in {finding.check for finding in judged(item).faults}


def test_a_value_picked_from_an_interval_is_found() -> None:
    """A reader that silently takes one end of an interval is caught by the quote itself."""
    tex = TEX.replace("$p = -1.8 \\pm 0.4$ is", "$p$ between 1.4 and 2.2 is")
    quote = document(tex).text.partition("$$\n")[2].partition(". The fit")[0].strip()
    assert found(with_parameter("p", value=1.4, printed="1.4", quote=quote), tex) >= {"interval_value"}


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("0.12 \\pm 0.04", 0.12),
        ("−1.8", -1.8),
        ("1.59 \\times 10^{-10}", 1.59e-10),
        ("(1.59 \\pm 0.10) * 10^-10", 1.59e-10),
        ("1.2 \\times 10^{+10}", 1.2e10),
        ("10^{-4}", 1e-4),
        ("4 × 10^-4", 4e-4),
        ("1,000", 1000.0),
        ("1/3", 1 / 3),
        ("6.3e21", 6.3e21),
        ("about two", None),
        ("", None),
        ("1/0", None),
    ],
)
def test_printed_numbers_have_their_value(printed: str, value: float | None) -> None:
    """A number is read as papers print it; words are none."""
    assert value_of(printed) == value


def test_indices_are_no_numbers_and_ends_of_intervals_no_values() -> None:
    """a_{00} holds no zero, s^-1 no one, and 6.3--9.5 no single value."""
    values = {number.value for number in numbers_in("$a_{00} = 2.5$ m s^-1 and x^{2}")}
    assert values == {2.5}
    ends = numbers_in("(6.3--9.5) \\times 10^{21} cm")
    assert [(number.value, number.end_of_interval) for number in ends] == [(6.3e21, True), (9.5e21, True)]


@pytest.mark.parametrize(
    ("scatter", "share"),
    [
        (None, 0.02),
        (ScatterWire(printed="1", value=1.0, unit="%", quote="q"), 0.02),
        (ScatterWire(printed="15", value=15.0, unit="%", quote="q"), 0.15),
        (ScatterWire(printed="0.1", value=0.1, unit="dex", quote="q"), 0.26),
    ],
)
def test_the_tolerance_is_two_percent_or_the_stated_scatter(
    scatter: ScatterWire | None, share: float
) -> None:
    """The larger of 0.02 and the scatter that the paper states; 0.1 dex is a factor of 1.26."""
    made = Draft(key="folder:dust#0", paper="folder:dust", extractor="test")
    card, _ = assemble(relation(scatter=scatter), paper(), document(), made)
    assert card is not None
    assert card.relative_tolerance == share


def test_steps_are_one_two_or_five() -> None:
    """The resolution is the largest 1, 2, 5 × 10^k that is not too coarse."""
    assert [step_below(limit) for limit in (1.0, 1.9, 4.99, 0.051, 7e-5)] == [1.0, 1.0, 2.0, 0.05, 5e-5]


@pytest.mark.parametrize("count", [1, 2])
def test_a_duplicate_is_recognised_under_other_names(count: int) -> None:
    """The same relation with other names and another order of inputs is the same law."""
    original = next(c for c in historical() if len(c.observables) == count and len(c.inputs) >= 2)
    renamed = {item.name: f"v{number}" for number, item in enumerate(original.inputs)}
    observable = original.observables[0]
    tree = substitute(observable.relation, {name: Variable(new) for name, new in renamed.items()})
    twin = original.model_copy(
        update={
            "id": "twin",
            "inputs": tuple(
                item.model_copy(update={"name": renamed[item.name]}) for item in reversed(original.inputs)
            ),
            "observables": (observable.model_copy(update={"relation": tree}),),
            "constraints": (),
        }
    )
    assert duplicate_of(twin, historical()) == original


def test_another_relation_is_no_duplicate() -> None:
    """A new relation, or an old form with other constants, is a family of its own."""
    card = judged(relation()).card
    assert card is not None
    assert duplicate_of(card, historical()) is None
    other = judged(with_parameter("p", value=-1.7)).card
    assert other is not None
    assert duplicate_of(other.model_copy(update={"id": "other"}), [card]) is None
