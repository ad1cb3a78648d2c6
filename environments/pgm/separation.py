"""d-separation by reachability along active trails.

Source: Koller and Friedman, Probabilistic Graphical Models, algorithm 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from environments.pgm.network import Network


def separated(network: Network, one: int, other: int, given: Iterable[int] = ()) -> bool:
    """Return whether two nodes are d-separated by a set of nodes."""
    observed, opened = 0, 0
    for node in given:
        observed |= 1 << node
        opened |= 1 << node | network.ancestor_masks[node]
    goal = 1 << other
    seen_up = seen_down = 0
    up, down = 1 << one, 0
    while up or down:
        if (up | down) & goal & ~observed:
            return False
        seen_up |= up
        seen_down |= down
        next_up, next_down = _steps(network, up & ~observed, down, observed, opened)
        up, down = next_up & ~seen_up, next_down & ~seen_down
    return True


def _steps(network: Network, up: int, down: int, observed: int, opened: int) -> tuple[int, int]:
    """Go one step along every trail; ``up`` was reached from below, ``down`` from above."""
    next_up = next_down = 0
    free = up | (down & ~observed)
    while free:
        lowest = free & -free
        next_down |= network.child_masks[lowest.bit_length() - 1]
        free ^= lowest
    climbing = up | (down & opened)
    while climbing:
        lowest = climbing & -climbing
        next_up |= network.parent_masks[lowest.bit_length() - 1]
        climbing ^= lowest
    return next_up, next_down
