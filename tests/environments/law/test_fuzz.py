"""Fuzzing: hostile documents, texts, units and submissions end in an answer or a clean refusal, in time.

500 cases of each kind in the suite; ``HYPOTHESIS_PROFILE=nightly`` makes 10,000 of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cards.document import loads_bounded, read_tree, tree_document
from cards.domain import points
from cards.errors import AlmanacError
from cards.evaluate import evaluate
from cards.expression import MAX_DEPTH, MAX_NODES, depth, size
from cards.infix import parse_infix, print_infix
from cards.operators import OPERATORS
from cards.units import parse_unit
from environments.law.definition import LawDefinition
from environments.law.family import LAW
from environments.law.judge import normalised_errors, read_predictor
from environments.task import Task
from tests.environments.examples import BEAM, KEY, completion, open_session, options
from tests.strategies import json_values, trees

MOST_SECONDS = 1.0
CASES = settings(
    max_examples=10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 500,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
SIGNS = st.text(alphabet="xyw q0123456789.eE+-*/^(),[]{}:\"'\\\n\tπ²µ°Ωsincoxplgabqrtmdvunhf", max_size=60)
UNITS = st.text(alphabet="kmgsJKPaWHzNmolcdAVCTF0123456789^*/.()-−·µ°%Ω ²³⁻¹{}_\\☉", max_size=24)


def in_time(call: Callable[..., Any], *args: Any) -> Any:
    """Call; AlmanacError is a clean refusal; anything slow fails."""
    start = time.process_time()
    try:
        return call(*args)
    except AlmanacError:
        return None
    finally:
        assert time.process_time() - start < MOST_SECONDS


@cache
def tasks() -> list[Task]:
    """The tasks of one small card with two observables."""
    return [task for task in LAW.build([BEAM], {}, KEY) if task.row.setting == "discovery"]


nested = st.integers(1, 3000).map(lambda n: "[" * n + "]" * n) | st.integers(1, 3000).map(
    lambda n: '{"op":"neg","args":[' * n + "1" + "]}" * n
)
brackets = st.integers(1, 5000).map(lambda n: "(" * n + "x")
documents = json_values | trees().map(tree_document)
"""Anything in JSON's words, and sound documents."""


@CASES
@given(documents)
def test_a_document_is_read_or_refused(document: Any) -> None:
    """What is accepted keeps the limits and says the same when written down again."""
    tree = in_time(read_tree, document)
    if tree is not None:
        assert size(tree) <= MAX_NODES
        assert depth(tree) <= MAX_DEPTH
        assert read_tree(tree_document(tree)) == tree


@CASES
@given(SIGNS | nested | st.text(max_size=40))
def test_json_text_is_read_or_refused(text: str) -> None:
    """Deep nesting and broken text are refused before any recursion."""
    document = in_time(loads_bounded, text)
    if document is not None:
        in_time(read_tree, document)


@CASES
@given(
    SIGNS
    | st.text(max_size=60)
    | trees().map(print_infix)
    | st.integers(1, 5000).map(lambda n: "(" * n + "x")
)
def test_infix_text_is_read_or_refused(text: str) -> None:
    """What is accepted prints to a text that reads as the same tree."""
    tree = in_time(parse_infix, text)
    if tree is not None:
        assert parse_infix(print_infix(tree)) == tree


@CASES
@given(UNITS | st.text(max_size=30) | st.sampled_from(["9**9**9**9", "m" * 500, "10^400 m", "m^1e9"]))
def test_a_unit_is_read_or_refused(text: str) -> None:
    """What is accepted has a finite positive scale."""
    unit = in_time(parse_unit, text)
    if unit is not None:
        assert np.isfinite(unit.scale)
        assert unit.scale > 0


leaves = st.sampled_from([{"var": "w"}, {"var": "q"}, {"var": "g"}]) | st.floats(-1e6, 1e6)
operators = st.sampled_from(sorted(OPERATORS))
expressions = st.recursive(
    leaves,
    lambda inner: st.fixed_dictionaries({"op": operators, "args": st.lists(inner, max_size=3)}),
    max_leaves=12,
)
anything = expressions | json_values
predictors = st.fixed_dictionaries({"b": anything, "p": anything}) | st.dictionaries(
    st.sampled_from(["b", "p", "z"]), expressions, max_size=3
)


@CASES
@given(predictors)
def test_a_submission_gets_a_score_or_a_reason(predictor: dict[str, Any]) -> None:
    """No crash and no hang; a predictor that is accepted has a finite value at every hidden input."""
    task = tasks()[0]
    definition = LawDefinition.model_validate(task.definition)
    start = time.process_time()
    session = open_session(task, options())
    session.call("complete", completion(predictor), "k")
    score = LAW.judge(task.definition, session.record())
    assert time.process_time() - start < 2 * MOST_SECONDS
    assert score.status in ("scored", "invalid", "undetermined", "missing")
    if score.status == "scored":
        read = read_predictor(definition, predictor)
        columns = definition.columns(definition.eval_inputs)
        for tree in read.values():
            assert np.all(np.isfinite(evaluate(tree, {**columns, **definition.told_values()})))
        assert np.all(np.isfinite(normalised_errors(definition, read)))
        assert 0.0 <= (score.headline or 0.0) <= 1.0
    elif score.status == "invalid":
        assert score.findings


@CASES
@given(trees(max_leaves=10))
def test_what_evaluates_is_finite(tree: Any) -> None:
    """Evaluation returns finite numbers or names the node at which there are none."""
    columns: dict[str, Any] = {name: np.linspace(-3, 3, 17) for name in ("x", "y", "T_0", "lambda", "é1")}
    values = in_time(evaluate, tree, columns)
    if values is not None:
        assert np.all(np.isfinite(values))


def test_the_domain_of_the_fuzzed_task_is_sound() -> None:
    """The card that submissions are thrown at has a finite truth everywhere."""
    definition = LawDefinition.model_validate(tasks()[0].definition)
    assert definition.respond(points(definition.domain(), 64))
