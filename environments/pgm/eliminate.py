"""Exact inference under interventions and evidence, by factor elimination.

Source: arXiv 2610.14381, section 3.3 (gold answers are computed from the model); Koller and Friedman,
Probabilistic Graphical Models, chapter 9 (variable elimination) and 21.3 (interventions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cards.errors import InputError
from environments.pgm.network import FloatArray, Network, mask_of, nodes_in

MAX_FACTOR = 1 << 20
"""Entries that an intermediate factor may have."""

Factor = tuple[int, tuple[int, ...], FloatArray]
"""Scope as a mask, the axes in order, the array."""


class EliminationSizeError(InputError):
    """A query that would need an intermediate factor above the cap."""


def respond(
    network: Network,
    outcome: Sequence[int],
    *,
    do: Mapping[int, int] | None = None,
    vary: Sequence[int] = (),
    given: Mapping[int, int] | None = None,
    cap: int = MAX_FACTOR,
) -> FloatArray:
    """Return P(outcome | do, given), exactly.

    Args:
        network: the world.
        outcome: nodes whose joint distribution is asked for.
        do: intervened nodes with the state that each is set to.
        vary: further intervened nodes, each at all its states.
        given: observed nodes with their states.
        cap: the largest number of entries of an intermediate factor.

    Returns:
        shape (cards of ``vary`` …, cards of ``outcome`` …); sums to one over the outcome's axes.

    Raises:
        EliminationSizeError: above the cap.
        ValueError: a node in two places, or evidence of probability zero.
    """
    fixed = {**(do or {}), **(given or {})}
    kept = (*vary, *outcome)
    if len({*kept, *fixed}) != len(kept) + len(do or {}) + len(given or {}):
        raise ValueError("a node is asked for, set or given more than once")
    cut = mask_of(do or ()) | mask_of(vary)
    relevant = _relevant(network, mask_of((*outcome, *(given or ()))), cut)
    factors = _factors(network, relevant & ~cut, fixed)
    joint = _eliminate(factors, network.cards, mask_of(kept), kept, cap)
    total = joint.sum(axis=tuple(range(len(vary), len(kept))), keepdims=True)
    if not total.all():
        raise ValueError("the evidence has probability zero")
    answer: FloatArray = joint / total
    return answer


def _relevant(network: Network, goal: int, cut: int) -> int:
    """Return the goal and its ancestors in the graph without the edges into ``cut``."""
    found, frontier = goal, goal
    while frontier:
        above = 0
        for node in nodes_in(frontier & ~cut):
            above |= network.parent_masks[node]
        frontier = above & ~found
        found |= above
    return found


def _factors(network: Network, mask: int, fixed: Mapping[int, int]) -> list[Factor]:
    held = mask_of(fixed)
    factors: list[Factor] = []
    for node in nodes_in(mask):
        scope = network.parent_masks[node] | 1 << node
        axes, table = (*network.parents[node], node), network.tables[node]
        if scope & held:
            table = table[tuple(fixed.get(axis, slice(None)) for axis in axes)]
            axes = tuple(axis for axis in axes if axis not in fixed)
            scope &= ~held
        factors.append((scope, axes, table))
    return factors


def _eliminate(
    factors: list[Factor], cards: Sequence[int], kept: int, order: tuple[int, ...], cap: int
) -> FloatArray:
    """Sum out every node but those kept, the one with the smallest resulting factor first."""
    whole = 0
    for scope, _, _ in factors:
        whole |= scope
    waiting = {node: _union(factors, node) for node in nodes_in(whole & ~kept)}
    sizes = {node: _size(mask, cards) for node, mask in waiting.items()}
    while sizes:
        node = min(sizes, key=sizes.__getitem__)
        scope, size = waiting.pop(node), sizes.pop(node)
        if size > cap:
            raise EliminationSizeError(
                f"eliminating a node needs a factor of {size} entries; the cap is {cap}.",
                "Use a smaller or sparser world.",
            )
        used = [factor for factor in factors if factor[0] >> node & 1]
        factors = [factor for factor in factors if not factor[0] >> node & 1]
        axes = tuple(nodes_in(scope))
        factors.append((scope, axes, _contract(used, axes)))
        for other in axes:
            if other in sizes:
                waiting[other] = _union(factors, other)
                sizes[other] = _size(waiting[other], cards)
    return _join(factors, cards, order, cap)


def _union(factors: Sequence[Factor], node: int) -> int:
    mask = 0
    for scope, _, _ in factors:
        if scope >> node & 1:
            mask |= scope
    return mask & ~(1 << node)


def _size(mask: int, cards: Sequence[int]) -> int:
    size = 1
    while mask:
        lowest = mask & -mask
        size *= cards[lowest.bit_length() - 1]
        mask ^= lowest
    return size


def _contract(factors: Sequence[Factor], axes: tuple[int, ...]) -> FloatArray:
    """Multiply factors and sum over every axis that is not in ``axes``, with one einsum."""
    labels: dict[int, int] = {}
    operands: list[object] = []
    for _, scope, table in factors:
        operands.append(table)
        operands.append([labels.setdefault(axis, len(labels)) for axis in scope])
    result: FloatArray = np.einsum(*operands, [labels[axis] for axis in axes])  # type: ignore[call-overload]
    return result


def _join(factors: Sequence[Factor], cards: Sequence[int], order: tuple[int, ...], cap: int) -> FloatArray:
    """Multiply what is left into one array with the axes of ``order``."""
    size = _size(mask_of(order), cards)
    if size > cap:
        raise EliminationSizeError(
            f"the answer has {size} entries; the cap is {cap}.", "Ask for fewer nodes."
        )
    missing = [node for node in order if not any(scope >> node & 1 for scope, _, _ in factors)]
    ones: list[Factor] = [(1 << node, (node,), np.ones(cards[node])) for node in missing]
    return _contract([*factors, *ones], order)
