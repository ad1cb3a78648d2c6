"""Where a submission is undefined at a point although it is defined all around: x·(x − a)/(x − a).

Random points never hit such a point, and at fifty digits the binary neighbours of a decimal are not it. So
the functions whose zeros are poles (a denominator, the argument of a logarithm) are followed along lines;
where one goes through zero, or touches it, the relation is undefined, whatever multiplies it.
"""

from __future__ import annotations

import numpy as np

from cards.domain import Domain, satisfied, stretch, unit_points
from cards.evaluate import evaluate_partial
from cards.expression import Apply, Tree, names, walk
from cards.operators import OPERATORS, BoolArray, FloatArray
from cards.pieces import Explorer, Spend, Surface, positive
from cards.probe import Points

_NEAR, _FAR = 1e-10, 1e-7  # distances from a break, in units of a line's length
_VANISHES = 3e-3  # |f| near a zero relative to |f| far from it; a jump or a low that is no zero leaves 1
_MOVED = 1e-5  # a rounded constant puts the submission's pole this near to the truth's
_SAME = 0.1


def poles(tree: Tree, domain: Domain) -> list[Tree]:
    """Return the functions at whose zeros a tree is undefined, without those that are positive."""
    found: dict[Tree, None] = {}
    for _, node in walk(tree):
        listed = OPERATORS[node.op].poles if isinstance(node, Apply) else None
        if isinstance(node, Apply) and listed:
            found.update((f, None) for f in listed(*node.args) if names(f) and not positive(f, domain))
    return list(found)


def holes(mine: list[Tree], known: list[Tree], domain: Domain, spend: Spend) -> Points:
    """Return points inside the domain at which one of the submission's functions has a zero.

    Args:
        mine: the submission's poles.
        known: the truth's; where one of these has a zero as well the point is the truth's own removable
            point, as of sin(x)/x at 0, and is left out.
        spend: charges the work.
    """
    mentioned = frozenset[str]().union(*(names(f) for f in mine))
    part = Domain({k: v for k, v in domain.intervals.items() if k in mentioned}, (), domain.constants)
    if not part.intervals:
        return Points({name: np.empty(0) for name in domain.intervals}, domain.constants)
    explorer = Explorer([Surface(f) for f in mine], part, spend)
    lines = explorer.lines()
    line, t = explorer.breaks(lines)
    inner = (t > _FAR) & (t < 1.0 - _FAR)  # on its very edge a relation may be undefined
    line, t = line[inner], t[inner]
    offsets = np.array([0.0, -_NEAR, _NEAR, -_FAR, _FAR])
    sizes = np.abs(explorer.values(lines.at(line[:, None], t[:, None] + offsets)))
    vanishes = sizes[:, :3].max(axis=1, initial=0.0) <= _VANISHES * sizes[:, 3:].min(axis=1, initial=np.inf)
    hit = vanishes.any(axis=-1)
    line, t = line[hit], t[hit]
    around = [lines.at(line, t + offset) for offset in (0.0, -_MOVED, _MOVED)]
    at, before, after = _completed(domain, list(part.intervals), around)
    inside = satisfied(domain, at) & satisfied(domain, before) & satisfied(domain, after)
    for f in known:
        inside &= ~_meets(f, [{**domain.constants, **columns} for columns in (at, before, after)])
    return Points(at, domain.constants).take(np.flatnonzero(inside))


def _completed(domain: Domain, known: list[str], units: list[FloatArray]) -> list[dict[str, FloatArray]]:
    """Give the inputs that no function mentions the same values in every list of points."""
    order = list(domain.intervals)
    full = unit_points(domain, max(1, len(units[0])), seed=2)[: len(units[0])]
    made = []
    for unit in units:
        full[:, [order.index(name) for name in known]] = np.clip(unit, 0.0, 1.0)
        made.append(stretch(domain, full.copy()))
    return made


def _meets(tree: Tree, columns: list[dict[str, FloatArray | float]]) -> BoolArray:
    """Whether a function is as good as zero at each point, compared with points on both sides."""
    at, before, after = (np.abs(evaluate_partial(tree, where)[0]) for where in columns)
    meets: BoolArray = ~(at > _SAME * np.maximum(before, after))
    return meets
