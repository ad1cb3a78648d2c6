"""Hypothesis strategies for expression trees and their documents."""

from __future__ import annotations

from hypothesis import strategies as st

from cards.expression import MAX_DEPTH, Apply, Number, Tree, Variable, depth
from cards.operators import OPERATORS

NAMES = ("x", "y", "T_0", "lambda", "é1")
"""Names of variables in drawn trees: plain, with a subscript, a Python keyword, not ASCII."""

numbers = st.floats(allow_nan=False, allow_infinity=False).map(Number)
moderate = st.floats(0.01, 100).map(lambda value: Number(float(f"{value:.3g}")))
variables = st.sampled_from(NAMES).map(Variable)


def _apply(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    def args(name: str) -> st.SearchStrategy[Tree]:
        operator = OPERATORS[name]
        most = operator.max_args or 4
        return st.lists(children, min_size=operator.min_args, max_size=most).map(
            lambda found: Apply(name, tuple(found))
        )

    return st.sampled_from(sorted(OPERATORS)).flatmap(args)


def trees(leaves: st.SearchStrategy[Tree] | None = None, max_leaves: int = 20) -> st.SearchStrategy[Tree]:
    """Draw trees over the whole operator table, within the limits of a document."""
    base = leaves if leaves is not None else numbers | variables
    return st.recursive(base, _apply, max_leaves=max_leaves).filter(lambda tree: depth(tree) <= MAX_DEPTH)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["op", "args", "var", "x"]) | st.text(max_size=4), inner, max_size=4
        )
    ),
    max_leaves=25,
)
"""Anything that JSON can say, with a liking for the keys of an expression document."""
