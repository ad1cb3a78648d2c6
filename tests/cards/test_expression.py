"""Trees: walking, measuring, substituting."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from cards.expression import Apply, Number, Tree, Variable, bind, depth, names, size, substitute, walk
from cards.infix import parse_infix
from tests.strategies import trees


def test_a_constant_is_finite() -> None:
    """A leaf is a finite number (laws, section 2)."""
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="finite"):
            Number(value)


def test_walk_yields_parents_first_with_paths() -> None:
    """Messages carry the path to a node, so every node must have one."""
    tree = parse_infix("a + sin(b)*2")
    assert [path for path, _ in walk(tree)] == [
        "", "args[0]", "args[1]", "args[1].args[0]", "args[1].args[0].args[0]", "args[1].args[1]",
    ]  # fmt: skip
    assert next(walk(tree, "p"))[0] == "p"


@given(trees())
def test_a_path_leads_to_its_node(tree: Tree) -> None:
    """Following a path from the root ends at the node that it was given for."""
    for path, node in walk(tree):
        here = tree
        for part in filter(None, path.split(".")):
            assert isinstance(here, Apply)
            here = here.args[int(part[5:-1])]
        assert here is node


@given(trees())
def test_measures_agree_with_the_walk(tree: Tree) -> None:
    """Size counts nodes and depth the longest path, the root at 0: the limits depend on both."""
    paths = [path for path, _ in walk(tree)]
    assert size(tree) == len(paths)
    assert depth(tree) == max(path.count("args[") for path in paths)


def test_substitution_is_not_recursive() -> None:
    """A replacement that mentions the replaced name is not replaced again."""
    assert substitute(parse_infix("x + y"), {"x": parse_infix("x*y")}) == parse_infix("x*y + y")


def test_bind_turns_names_into_constants() -> None:
    """Parameters of a card become numbers, other names stay."""
    bound = bind(parse_infix("n*R*T/V"), {"R": 8.314462618})
    assert names(bound) == {"n", "T", "V"}
    assert Number(8.314462618) in [node for _, node in walk(bound)]
    assert bind(Variable("x"), {"x": 2}) == Number(2.0)
