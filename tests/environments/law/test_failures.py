"""Every category of failure that a program decides, by example."""

from __future__ import annotations

import pytest

from cards.document import tree_document
from cards.infix import parse_infix
from environments.law.analyses import analyses
from environments.law.definition import LawDefinition
from environments.law.failures import CATEGORIES, failure
from environments.law.family import LAW
from environments.task import Record, Score
from tests.environments.examples import KEY, SPRING, completion, open_session, options

TASK = next(
    task
    for task in LAW.build([SPRING], {}, KEY)
    if task.facets["variant"] == "original" and task.row.setting == "discovery"
)


def played(text: str, *, protocol: str = "fixed:4", confidence: float = 0.95) -> Record:
    """Return the record of a session that reads what it can and submits one relation for F = 12 x."""
    session = open_session(TASK, options(protocol))
    if protocol.startswith("fixed"):
        session.call("read_observations", {}, "a")
    predictor = {"F": tree_document(parse_infix(text))}
    session.call("complete", completion(predictor, confidence=confidence), "b")
    return session.record()


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("12*x", "solved"),
        ("log(x - 1)", "no usable answer"),
        ("12*x + 1e-7*x^2", "symbolically not recovered"),
        ("11*x", "parameter error"),
        ("9*x + 1", "parameter error"),
        ("12*x^2", "evidence misreading"),
    ],
)
def test_the_first_definition_that_holds_is_the_category(text: str, category: str) -> None:
    """Each definition of the table, on a spring of twelve newtons a metre."""
    record = played(text)
    definition = LawDefinition.model_validate(TASK.definition)
    assert failure(definition, record) == category
    assert analyses(definition, record)["failure"] == category
    assert category in CATEGORIES


def test_without_readings_another_form_is_an_incorrect_relation() -> None:
    """Nothing was misread where nothing could be read."""
    assert (
        failure(LawDefinition.model_validate(TASK.definition), played("12*x^2", protocol="prior"))
        == "incorrect relation"
    )


def test_a_right_answer_below_the_threshold_broke_the_stopping_rule() -> None:
    """All errors are small, but the confidence was too."""
    record = played("12*x", protocol="adaptive", confidence=0.6)
    assert failure(LawDefinition.model_validate(TASK.definition), record) == "stopping rule"


def test_no_completion_is_no_usable_answer() -> None:
    """A session that ends open."""
    record = open_session(TASK, options("prior")).record()
    assert failure(LawDefinition.model_validate(TASK.definition), record) == "no usable answer"


@pytest.mark.parametrize(("numbers", "category"), [(16, "parameter error"), (17, "evidence misreading")])
def test_a_relation_of_too_many_numbers_is_no_form(numbers: int, category: str) -> None:
    """Sixteen numbers for one observable may be a form with wrong numbers; more are taken for a table."""
    text = "11*x" + "*1" * (numbers - 1)
    assert failure(LawDefinition.model_validate(TASK.definition), played(text)) == category


def test_a_refit_is_kept_for_further_records_of_a_world() -> None:
    """Equal submissions to one world are refitted once; what is kept is taken, per submission."""
    definition = LawDefinition.model_validate(TASK.definition)
    kept: dict[str, bool] = {}
    assert failure(definition, played("11*x"), refits=kept) == "parameter error"
    assert failure(definition, played("12*x^2"), refits=kept) == "evidence misreading"
    assert sorted(kept.values()) == [False, True]
    kept.update(dict.fromkeys(kept, False))
    assert failure(definition, played("11*x"), refits=kept) == "evidence misreading"


def test_a_known_score_is_not_judged_again() -> None:
    """The category follows from the stored score."""
    definition = LawDefinition.model_validate(TASK.definition)
    score = Score(status="scored", passed={"weak": True, "strict": False}, parts={"max_e": 0.5})
    assert failure(definition, played("9*x"), score) == "symbolically not recovered"
