"""Expression documents: trees as plain JSON, read without trusting a byte of them.

A leaf is a finite number or ``{"var": name}``; an inner node is ``{"op": name, "args": [...]}``. Limits
are checked while reading, before anything is built, and reading never recurses, so that a hostile
document exhausts neither stack nor memory.

Source: arXiv 2610.37919, appendix A.2.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from cards.canonical import JSON
from cards.errors import ExpressionError
from cards.expression import MAX_DEPTH, MAX_NODES, Apply, Number, Tree, Variable
from cards.operators import OPERATORS

MAX_CHARACTERS = 1_000_000
"""Longest text that ``loads_bounded`` reads."""
MAX_NESTING = 256
"""Deepest nesting of brackets that ``loads_bounded`` reads; a tree of depth 64 needs 130."""
MAX_VALUES = 65_536
"""Most values in one text that ``loads_bounded`` reads."""

NAME = re.compile(r"[^\W\d_]\w{0,63}")
"""What a variable may be called; ``pi`` is taken by the constant."""
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{},]', re.DOTALL)


def read_tree(document: JSON, *, variables: Collection[str] | None = None, budget: int = MAX_NODES) -> Tree:
    """Read one document.

    Args:
        document: plain JSON values as ``json.loads`` gives them.
        variables: the names that may occur; None allows every well-formed name.
        budget: how many nodes the tree may have.

    Raises:
        ExpressionError: with the path to the offending node.
    """
    return _read(document, variables, budget, "")[0]


def read_trees(
    documents: JSON, observables: Collection[str], variables: Collection[str] | None = None
) -> dict[str, Tree]:
    """Read one document per observable; all of them share one budget of 1024 nodes.

    Raises:
        ExpressionError: a missing or an extra observable, or the first offending node; its path begins
            with the observable's name.
    """
    if not isinstance(documents, Mapping):
        raise ExpressionError(
            f"a predictor is an object with one expression per observable, got {_shown(documents)}.",
            f"Give an object with exactly these keys: {', '.join(observables)}.",
        )
    extra = [name for name in documents if name not in observables]
    if extra:
        raise ExpressionError(
            f"unknown observable {_shown(extra[0])}.", _known(observables), path=_key(extra[0])
        )
    trees: dict[str, Tree] = {}
    left = MAX_NODES
    for name in observables:
        if name not in documents:
            raise ExpressionError("this observable has no expression.", "Give one for each.", path=name)
        trees[name], left = _read(documents[name], variables, left, name)
    return trees


def tree_document(tree: Tree) -> JSON:
    """Return the tree as plain JSON, the inverse of ``read_tree``."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Variable):
        return {"var": tree.name}
    return {"op": tree.op, "args": [tree_document(argument) for argument in tree.args]}


def loads_bounded(text: str | bytes, *, max_characters: int = MAX_CHARACTERS) -> JSON:
    """Parse JSON from a stranger: size, nesting and number of values are checked before parsing.

    Duplicate keys, NaN and infinities are refused.

    Raises:
        ExpressionError: what is wrong with the text.
    """
    if len(text) > max_characters:
        raise ExpressionError(f"the text has {len(text)} characters; {max_characters} are allowed.")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ExpressionError(f"the text is not UTF-8: {error.reason} at byte {error.start}.") from None
    _check_brackets(text)
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except ValueError as error:
        raise ExpressionError(f"the text is not JSON: {str(error)[:200]}.") from None


def _check_brackets(text: str) -> None:
    nesting = values = 0
    for match in _BRACKETS.finditer(text):
        mark = match.group()
        if mark == ",":
            values += 1
        elif mark in "[{":
            nesting += 1
            values += 1
        elif mark in "]}":
            nesting -= 1
        if nesting > MAX_NESTING:
            raise ExpressionError(f"the text nests more than {MAX_NESTING} brackets.")
        if values > MAX_VALUES:
            raise ExpressionError(f"the text holds more than {MAX_VALUES} values.")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _read(document: JSON, variables: Collection[str] | None, budget: int, path: str) -> tuple[Tree, int]:
    """Read a document iteratively: check every node going down, build going up.

    Returns the tree and what is left of the node budget.
    """
    todo: list[tuple[Any, str, int]] = [(document, path, 0)]
    order: list[Tree | tuple[str, int]] = []  # leaves, and (operator, number of arguments), parents first
    while todo:
        node, here, level = todo.pop()
        budget -= 1
        if budget < 0:
            raise ExpressionError(f"more than {MAX_NODES} nodes.", "Simplify the expression.", path=here)
        if level > MAX_DEPTH:
            raise ExpressionError(f"nested deeper than {MAX_DEPTH} levels.", "Flatten it.", path=here)
        if not isinstance(node, Mapping) or "op" not in node:
            order.append(_leaf(node, variables, here))
            continue
        name, args = _operation(node, here)
        if len(args) > budget:
            raise ExpressionError(f"more than {MAX_NODES} nodes.", "Simplify the expression.", path=here)
        order.append((name, len(args)))
        prefix = f"{here}." if here else ""
        todo.extend((args[i], f"{prefix}args[{i}]", level + 1) for i in reversed(range(len(args))))
    return _build(order), budget


def _build(order: list[Tree | tuple[str, int]]) -> Tree:
    """Put nodes listed parents first, left to right, together from the end."""
    built: list[Tree] = []
    for item in reversed(order):
        if isinstance(item, tuple):
            name, count = item
            args = tuple(built.pop() for _ in range(count))
            built.append(Apply(name, args))
        else:
            built.append(item)
    return built.pop()


def _operation(node: Mapping[Any, Any], path: str) -> tuple[str, list[Any] | tuple[Any, ...]]:
    name, args = node["op"], node.get("args")
    if set(node) != {"op", "args"} or not isinstance(args, list | tuple):
        raise ExpressionError(
            f"an operation has exactly the keys op and args, and args is a list; got {_shown(node)}.",
            path=path,
        )
    operator = OPERATORS.get(name) if isinstance(name, str) else None
    if operator is None:
        raise ExpressionError(f"unknown operator {_shown(name)}.", _known(OPERATORS), path=path)
    if not operator.takes(len(args)):
        raise ExpressionError(f"{name} takes {operator.arity()}, got {len(args)}.", path=path)
    return operator.name, args


def _leaf(node: JSON, variables: Collection[str] | None, path: str) -> Tree:
    if isinstance(node, Mapping):
        return _variable(node, variables, path)
    if isinstance(node, bool) or not isinstance(node, int | float):
        raise ExpressionError(
            f"expected a number, a variable or an operation, got {_shown(node)}.",
            'Write a number, {"var": name} or {"op": name, "args": [...]}.',
            path=path,
        )
    try:
        value = float(node)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ExpressionError(f"a constant must be finite, got {_shown(node)}.", path=path)
    return Number(value)


def _variable(node: Mapping[Any, Any], variables: Collection[str] | None, path: str) -> Variable:
    name = node.get("var")
    if set(node) != {"var"} or not isinstance(name, str):
        raise ExpressionError(
            f'a variable is written {{"var": name}} and nothing else, got {_shown(node)}.', path=path
        )
    if variables is not None and name not in variables:
        raise ExpressionError(f"unknown variable {_shown(name)}.", _known(variables), path=path)
    if not NAME.fullmatch(name) or name == "pi":
        raise ExpressionError(f"{_shown(name)} cannot be the name of a variable.", path=path)
    return Variable(name)


def _known(known: Collection[str]) -> str:
    return f"Known: {', '.join(sorted(known))}." if known else "None may occur here."


def _key(name: object) -> str:
    return name[:64] if isinstance(name, str) else ""


def _shown(value: object) -> str:
    """Show a value of unknown size and kind in a few characters."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 60 else value[:60] + "…", ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"an object with the keys {sorted(_key(key) for key in list(value)[:8])}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return repr(value)[:60]
