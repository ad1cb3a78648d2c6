"""Expression trees: the only form in which a relation or a predictor exists.

Source: arXiv 2610.37919, appendix A.2 (leaves, operators, limits).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

MAX_NODES = 1024
"""Nodes allowed over all observables of one submission (arXiv 2610.37919, A.2)."""
MAX_DEPTH = 64
"""Depth allowed in one tree, its root at depth 0 (arXiv 2610.37919, A.2)."""


@dataclass(frozen=True, slots=True)
class Number:
    """A finite constant."""

    value: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"a constant must be finite, got {self.value!r}")


@dataclass(frozen=True, slots=True)
class Variable:
    """A reference to an input or a parameter by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator of ``cards.operators.OPERATORS`` applied to its arguments."""

    op: str
    args: tuple[Tree, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.args)))

    def __hash__(self) -> int:
        """Return what was worked out once: a hash of the whole tree at every look-up costs as much as it."""
        return self._hash

    def __reduce__(self) -> tuple[type[Apply], tuple[str, tuple[Tree, ...]]]:
        """Build anew when unpickled: another process hashes differently."""
        return Apply, (self.op, self.args)


Tree = Number | Variable | Apply


def walk(tree: Tree, path: str = "") -> Iterator[tuple[str, Tree]]:
    """Yield every node with its path ("args[0].args[1]"), parents before children, left to right."""
    stack: list[tuple[str, Tree]] = [(path, tree)]
    while stack:
        here, node = stack.pop()
        yield here, node
        if isinstance(node, Apply):
            prefix = f"{here}." if here else ""
            stack.extend(
                (f"{prefix}args[{index}]", node.args[index]) for index in reversed(range(len(node.args)))
            )


@lru_cache(maxsize=4096)
def names(tree: Tree) -> frozenset[str]:
    """Return the names of all variables in the tree."""
    return frozenset(node.name for _, node in walk(tree) if isinstance(node, Variable))


def size(tree: Tree) -> int:
    """Return the number of nodes."""
    return sum(1 for _ in walk(tree))


def depth(tree: Tree) -> int:
    """Return the depth of the deepest node, the root at 0."""
    deepest, stack = 0, [(tree, 0)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        if isinstance(node, Apply):
            stack.extend((argument, level + 1) for argument in node.args)
    return deepest


def substitute(tree: Tree, replacements: Mapping[str, Tree]) -> Tree:
    """Return the tree with every variable named in ``replacements`` replaced (not recursively)."""
    if isinstance(tree, Variable):
        return replacements.get(tree.name, tree)
    if isinstance(tree, Apply):
        return Apply(tree.op, tuple(substitute(argument, replacements) for argument in tree.args))
    return tree


def bind(tree: Tree, values: Mapping[str, float]) -> Tree:
    """Return the tree with the named variables replaced by constants."""
    return substitute(tree, {name: Number(float(value)) for name, value in values.items()})
