"""Identification: the family of candidates G(x; s) = (1 − s)·g(x) + s·g′(x).

Source: arXiv 2610.37919, section 3.3, equation 1.
"""

from __future__ import annotations

from collections.abc import Collection

from cards.document import tree_document
from cards.expression import MAX_DEPTH, MAX_NODES, Apply, Number, Tree, Variable, depth, size
from cards.infix import print_infix
from environments.law.definition import LawDefinition
from environments.task import JSON

_ONE = Number(1.0)


def mixing_name(taken: Collection[str]) -> str:
    """Return the name of the unknown: ``s``, or ``s_mix`` (``s_mix_`` …) when a quantity has it."""
    name = "s"
    while name in taken:
        name = "s_mix" if name == "s" else name + "_"
    return name


def mixtures(definition: LawDefinition) -> dict[str, Tree]:
    """Return G by observable, constants as numbers, told parameters as names.

    Raises:
        ValueError: when G does not fit the limits of a submission.
    """
    s = Variable(mixing_name(definition.names()))
    original, counterfactual = definition.truth("original"), definition.truth("counterfactual")
    trees: dict[str, Tree] = {}
    for item in definition.observables:
        first = Apply("mul", (Apply("sub", (_ONE, s)), original[item.name]))
        second = Apply("mul", (s, counterfactual[item.name]))
        trees[item.name] = Apply("add", (first, second))
    nodes = sum(size(tree) for tree in trees.values())
    deepest = max(depth(tree) for tree in trees.values())
    if nodes > MAX_NODES or deepest > MAX_DEPTH:
        raise ValueError(f"the candidates have {nodes} nodes and depth {deepest}, more than may be submitted")
    return trees


def candidates(definition: LawDefinition) -> JSON:
    """Return what an Identification brief says of the candidates."""
    name = mixing_name(definition.names())
    trees = mixtures(definition)
    return {
        "unknown": name,
        "intermediate_values_allowed": False,
        "statement": (
            "Each observable is given below as a function of the inputs and of one unknown number "
            f"{name}, the same for all observables and all inputs. It is exactly 0 or exactly 1; "
            f"intermediate values do not occur. Find which, and submit the relation without {name}."
        ),
        "expressions": {key: tree_document(tree) for key, tree in trees.items()},
        "formulas": {key: print_infix(tree) for key, tree in trees.items()},
    }
