"""The reader of expression documents: limits, paths, and hostile input."""

from __future__ import annotations

import json
import math
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from cards.canonical import canonical_json
from cards.document import loads_bounded, read_tree, read_trees, tree_document
from cards.errors import ExpressionError
from cards.expression import MAX_DEPTH, Number, Tree, Variable
from cards.infix import parse_infix
from tests.strategies import json_values, trees


def chain(length: int, leaf: object = 1.0) -> object:
    """Nest ``length`` negations around a leaf."""
    for _ in range(length):
        leaf = {"op": "neg", "args": [leaf]}
    return leaf


def refused(document: object, **options: Any) -> ExpressionError:
    """Read a document that must be refused; return the error."""
    with pytest.raises(ExpressionError) as caught:
        read_tree(document, **options)
    return caught.value


@given(trees())
def test_documents_round_trip(tree: Tree) -> None:
    """A tree written as a document and through canonical JSON reads back to the same tree."""
    assert read_tree(json.loads(canonical_json(tree_document(tree)))) == tree


@given(json_values)
def test_any_json_is_a_tree_or_a_clean_refusal(document: object) -> None:
    """Whatever JSON says, reading ends in a tree or in an ExpressionError."""
    try:
        tree = read_tree(document)
    except ExpressionError as error:
        message = str(error)
    else:
        assert read_tree(tree_document(tree)) == tree
        return
    assert 0 < len(message) < 2000


def test_limits_are_exact() -> None:
    """Depth 64 with the root at 0 and 1024 nodes pass; one more of either does not."""
    assert read_tree(chain(MAX_DEPTH))
    assert "deeper than 64" in refused(chain(MAX_DEPTH + 1)).message
    assert read_tree({"op": "add", "args": [1] * 1023})
    assert "more than 1024 nodes" in refused({"op": "add", "args": [1] * 1024}).message


def test_observables_share_one_budget() -> None:
    """1024 nodes are allowed over all observables of a submission, not for each."""
    half = {"op": "add", "args": [1] * 511}
    assert set(read_trees({"p": half, "q": half}, ["p", "q"])) == {"p", "q"}
    with pytest.raises(ExpressionError, match=r"^q.*more than 1024"):
        read_trees({"p": half, "q": {"op": "add", "args": [1] * 512}}, ["p", "q"])


@pytest.mark.parametrize(
    "document",
    [
        True, None, "1", "x", [], {}, math.nan, math.inf, -math.inf, 10**400, -(10**400),
        {"var": 1}, {"var": "x", "op": "sin"}, {"var": "x", "value": 1}, {"var": "a b"}, {"var": "pi"},
        {"var": "__import__('os')"}, {"op": "sin"}, {"op": "sin", "args": {}}, {"op": "sin", "args": "1"},
        {"op": "sin", "args": [1], "x": 1}, {"op": "sin", "args": [1, 2]}, {"op": "add", "args": [1]},
        {"op": "eval", "args": [1]}, {"op": ["add"], "args": [1, 2]}, {"op": None, "args": []},
        {"op": "sub", "args": []}, {"op": "sin", "args": [False]}, {"op": "sin", "args": ["x"]},
    ],
)  # fmt: skip
def test_what_is_not_an_expression_is_refused(document: object) -> None:
    """Booleans, strings, NaN, huge integers, unknown operators and wrong arities are refused."""
    assert refused(document).message


def test_an_integer_too_long_to_print_is_refused() -> None:
    """Python itself refuses to write 5,000 digits; the message must not try."""
    assert "bits" in refused(10**5000).message


def test_the_path_leads_to_the_offending_node() -> None:
    """An invalid predictor is reported with the path to the node (laws, section 2)."""
    document = {"op": "add", "args": [1, {"op": "mul", "args": [{"var": "x"}, {"var": "q"}]}]}
    error = refused(document, variables={"x"})
    assert error.path == "args[1].args[1]"
    assert "'q'" in str(error) or '"q"' in str(error)
    with pytest.raises(ExpressionError) as caught:
        read_trees({"p": document}, ["p"], {"x"})
    assert caught.value.path == "p.args[1].args[1]"


@pytest.mark.parametrize("documents", [{}, {"p": 1}, {"p": 1, "q": 1, "r": 1}, [1, 2], None, {1: 2}])
def test_missing_and_extra_observables_are_refused(documents: object) -> None:
    """A predictor has one expression for each observable, no more and no fewer."""
    with pytest.raises(ExpressionError):
        read_trees(documents, ["p", "q"])


def test_leaves_are_read_as_they_stand() -> None:
    """Integers become floats; names are taken literally."""
    assert read_tree(3) == Number(3.0)
    assert read_tree({"var": "x"}) == Variable("x")
    assert read_tree(-0.0) == Number(-0.0)


def million_leaves() -> object:
    return {"op": "add", "args": [1.0] * 1_000_000}


def million_wide_tree() -> object:
    row = {"op": "add", "args": [{"var": "x"}] * 1000}
    return {"op": "add", "args": [row] * 1000}


def self_containing() -> object:
    node: dict[str, Any] = {"op": "neg", "args": []}
    node["args"].append(node)
    return node


@pytest.mark.parametrize("make", [lambda: chain(100_000), million_leaves, million_wide_tree, self_containing])
def test_hostile_objects_are_refused_at_once(make: Callable[[], object]) -> None:
    """Nesting of 100,000, a million nodes or a cycle cost neither time, stack nor memory."""
    document = make()
    tracemalloc.start()
    try:
        start = time.process_time()
        refused(document)
        assert time.process_time() - start < 1.0
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
        unnest(document)


def unnest(document: object) -> None:
    """Take a deep document apart, so that freeing it does not recurse."""
    while isinstance(document, dict) and len(document["args"]) == 1:
        document = document["args"].pop()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"op":"neg","args":[' * 100_000,
        '{"op":"neg","args":[' * 40_000 + "1" + "]}" * 40_000,
        '{"op":"add","args":[' + "1," * 450_000 + "1]}",
        '{"op":"add","args":[' + "1," * 1_000_000 + "1]}",
        '"' + '\\"' * 400_000,
        "1" * 999_999,
        '{"a":' * 900,
    ],
    ids=["lists", "open", "chain", "leaves", "long", "escapes", "digits", "objects"],
)
def test_hostile_text_is_refused_at_once(text: str) -> None:
    """Raw text is bounded before the JSON parser may recurse or build anything."""
    tracemalloc.start()
    try:
        start = time.process_time()
        with pytest.raises(ExpressionError):
            loads_bounded(text)
        assert time.process_time() - start < 1.0
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    ["NaN", "[Infinity]", "-Infinity", '{"a":1,"a":2}', "", "{", "nul", "[1]]", "[1,]", b"\xff", "]" * 9],
)
def test_text_that_is_not_strict_json_is_refused(text: str | bytes) -> None:
    """Only JSON is read: no NaN, no duplicate keys, no repair."""
    with pytest.raises(ExpressionError):
        loads_bounded(text)


def test_brackets_inside_strings_do_not_count() -> None:
    """A long explanation full of brackets is no nesting."""
    text = json.dumps({"explanation": '[{"' * 1000 + "\\" * 7})
    assert loads_bounded(text) == json.loads(text)


@given(json_values)
def test_bounded_reading_agrees_with_json(document: object) -> None:
    """What passes the bounds is what json.loads gives."""
    text = json.dumps(document)
    if "NaN" in text or "Infinity" in text:
        return
    assert loads_bounded(text) == json.loads(text)
    assert loads_bounded(text.encode()) == json.loads(text)


def test_a_tree_of_full_depth_passes_the_text_bounds() -> None:
    """The text bounds leave room for every legal document."""
    text = json.dumps({"args": {"predictor": {"p": chain(MAX_DEPTH)}}})
    document = loads_bounded(text)["args"]["predictor"]
    assert read_trees(document, ["p"])["p"] == parse_infix("-(" * 62 + "-(-(1))" + ")" * 62)
