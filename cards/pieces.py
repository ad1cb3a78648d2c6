"""Where a relation switches: the surfaces of abs, sign, step, min, max, floor and their like.

Random points miss a narrow piece (64 points miss a band of 1 % half of the time), so the surfaces
themselves are looked for: along lines through the domain a change of piece is bracketed by bisection, and
where a surface is only touched, by minimising its distance. Every piece met becomes the start of new
lines, until no line finds a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from cards.domain import Domain, satisfied, stretch, unit_points
from cards.evaluate import Columns, evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, names, walk
from cards.operators import OPERATORS, BoolArray, FloatArray
from cards.probe import IntArray, Points, span

_SEEDS = 8
_GRID = 65
_ROUNDS = 5
_SEEDS_PER_ROUND = 12
_REFINEMENTS = 10
_FRACTIONS = np.linspace(0.0, 1.0, 17)
_STEP_PAST = 1e-12
_PASSES = 4
_MOST_POINTS = 384
_MOST_PER_PIECE = 2
_ATTEMPTS = 4
_INSIDE = 1e-9  # a relation may be undefined on the very edge of its domain
_EDGES = (-1e-5, -1e-9, 1e-9, 1e-5)
_TOUCH = 1e-9
_CALL = 1000  # what evaluating a node costs beside its points, in points
_WALK = 0.5 ** np.arange(1, 41)


@dataclass(frozen=True, slots=True)
class Surface:
    """The zero set of ``tree``; for ``whole`` all points at which it is an integer.

    ``singular`` surfaces do not switch: an operator is undefined or not smooth there.
    """

    tree: Tree
    whole: bool = False


def surfaces(tree: Tree, domain: Domain) -> list[Surface]:
    """Return the surfaces that may cut the domain into pieces, each once.

    Left out are those whose function is positive by the signs of its parts.
    """
    found: dict[Surface, None] = {}
    for _, node in walk(tree):
        if isinstance(node, Apply):
            operator = OPERATORS[node.op]
            for listed in (operator.switching, operator.singular):
                for function in listed(*node.args) if listed else ():
                    if operator.whole or not positive(function, domain):
                        found[Surface(function, operator.whole)] = None
    return list(found)


def positive(tree: Tree, domain: Domain) -> bool:
    """Return True when the signs of the parts show that the tree is > 0 on the whole domain."""
    if isinstance(tree, Number):
        return tree.value > 0
    if isinstance(tree, Variable):
        interval = domain.intervals.get(tree.name)
        return interval.low > 0 if interval else domain.constants.get(tree.name, 0.0) > 0
    if tree.op in ("exp", "cosh"):
        return True
    if tree.op == "pow":
        return positive(tree.args[0], domain)
    if tree.op in ("add", "mul", "div", "sqrt", "cbrt", "min", "abs", "atan", "sinh", "tanh"):
        return all(positive(argument, domain) for argument in tree.args)
    return tree.op == "max" and any(positive(argument, domain) for argument in tree.args)


Spend = Callable[[int], None]
"""Charges work, in evaluations of one node at one point, and raises when there is none left."""


def explore(found: Sequence[Surface], domain: Domain, spend: Spend) -> dict[str, FloatArray]:
    """Return points in every piece that line scans can find, and points on both sides of each surface.

    Returns:
        Arrays of shape (n,) by input name, at most 384 points, none violating a constraint.
    """
    mentioned = frozenset[str]().union(*(names(surface.tree) for surface in found))
    part = Domain({k: v for k, v in domain.intervals.items() if k in mentioned}, (), domain.constants)
    unit = Explorer(found, part, spend).run() if part.intervals else np.empty((0, 0))
    return _completed(domain, list(part.intervals), unit)


def _completed(domain: Domain, known: list[str], unit: FloatArray) -> dict[str, FloatArray]:
    """Give the inputs that no surface mentions values too, such that the constraints hold, where some do."""
    order = list(domain.intervals)
    left = np.ones(len(unit), dtype=np.bool_)
    parts = []
    for attempt in range(_ATTEMPTS):
        full = unit_points(domain, max(1, len(unit)), seed=2 + attempt)[: len(unit)]
        full[:, [order.index(name) for name in known]] = unit
        columns = stretch(domain, full)
        inside = satisfied(domain, columns) & left
        parts.append({name: column[inside] for name, column in columns.items()})
        left &= ~inside
        if not left.any():
            break
    return {name: np.concatenate([part[name] for part in parts]) for name in order}


def same_piece(found: Sequence[Surface], domain: Domain, point: Points, spend: Spend) -> Points:
    """Walk from one point along each axis, nearer and nearer; return what lies in the same piece."""
    columns = {
        name: np.full(2 * len(_WALK) * len(domain.intervals), column[0])
        for name, column in point.columns.items()
    }
    away = np.concatenate([_WALK, -_WALK])
    for i, (name, interval) in enumerate(domain.intervals.items()):
        if interval.scale == "log":
            walked = columns[name][0] * (interval.high / interval.low) ** away
        else:
            walked = columns[name][0] + (interval.high - interval.low) * away
        walked = np.rint(walked) if interval.integer else walked
        columns[name][i * len(away) : (i + 1) * len(away)] = np.clip(walked, interval.low, interval.high)
    walk_points = Points(columns, domain.constants)
    spend(sum(span(surface.tree) for surface in found) * (len(walk_points) + _CALL))
    here = _states(found, _values(found, point.floats))
    same = (_states(found, _values(found, walk_points.floats)) == here).all(axis=-1)
    return walk_points.take(np.flatnonzero(same & satisfied(domain, columns)))


def _values(found: Sequence[Surface], columns: Columns) -> FloatArray:
    """Return every surface's function at n points: shape (n, surfaces), NaN if undefined."""
    return np.stack([evaluate_partial(surface.tree, columns)[0] for surface in found], axis=-1)


def _states(found: Sequence[Surface], values: FloatArray) -> FloatArray:
    """Name the piece: the sign, or the integer part, of every surface's function."""
    whole = np.array([surface.whole for surface in found])
    named = np.where(whole, np.floor(values), np.sign(values))
    return np.where(np.isnan(values), -np.inf, named)


class Explorer:
    """The search, in unit coordinates of the inputs that the surfaces mention: shape (…, inputs)."""

    def __init__(self, found: Sequence[Surface], domain: Domain, spend: Spend) -> None:
        self.found = found
        self.spend = spend
        self.size = sum(span(surface.tree) for surface in found)
        self.domain = domain
        self.whole = np.array([surface.whole for surface in found])

    def values(self, unit: FloatArray) -> FloatArray:
        """Return every surface's function at the points: shape (points…, surfaces), NaN if undefined."""
        flat = unit.reshape(-1, unit.shape[-1])
        self.spend(self.size * (len(flat) + _CALL))
        columns: Columns = {**self.domain.constants, **stretch(self.domain, flat)}
        return _values(self.found, columns).reshape(*unit.shape[:-1], len(self.found))

    def states(self, values: FloatArray) -> FloatArray:
        return _states(self.found, values)

    def lines(self) -> Lines:
        """Return the first lines: along the axes, between seeds, and to corners in other pieces."""
        count = _SEEDS if len(self.domain.intervals) > 1 else 1  # lines along a single axis are all the same
        seeds = unit_points(self.domain, 2 * count, seed=1)
        lines = _axis_lines(seeds[:count])
        if count > 1:
            lines = lines.joined(Lines(seeds[:count], seeds[count:])).joined(self.to_corners(seeds))
        return lines

    def run(self) -> FloatArray:
        """Return points in every piece found, shape (n, inputs)."""
        lines = self.lines()
        kept: list[FloatArray] = []
        seen: set[bytes] = set()
        for _ in range(_ROUNDS):
            groups = _around(lines, *self.breaks(lines))
            fresh = [point for points in groups for point in self.keep(points, seen, kept)]
            if not fresh or len(kept) >= _MOST_POINTS:
                break
            lines = _axis_lines(np.array(fresh[:_SEEDS_PER_ROUND]))
        return np.array(kept[:_MOST_POINTS]).reshape(-1, len(self.domain.intervals))

    def to_corners(self, seeds: FloatArray) -> Lines:
        """Return lines from the cube's centre to corners in pieces that no seed lies in."""
        corners = np.array(list(product((0.0, 1.0), repeat=seeds.shape[1])))
        met = {state.tobytes() for state in self.states(self.values(seeds))}
        other: dict[bytes, FloatArray] = {}
        for corner, state in zip(corners, self.states(self.values(corners)), strict=True):
            if state.tobytes() not in met:
                other.setdefault(state.tobytes(), corner)
        ends = np.array(list(other.values())[:_SEEDS_PER_ROUND]).reshape(-1, seeds.shape[1])
        return Lines(np.full_like(ends, 0.5), ends)

    def keep(self, points: FloatArray, seen: set[bytes], kept: list[FloatArray]) -> Iterator[FloatArray]:
        """Keep a few points of every piece; yield one point of each piece never seen before."""
        if not len(points):
            return
        states, piece = np.unique(self.states(self.values(points)), axis=0, return_inverse=True)
        order = np.argsort(piece, kind="stable")
        starts = np.searchsorted(piece[order], np.arange(len(states)))
        for state, members in zip(states, np.split(order, starts[1:]), strict=True):
            kept.extend(points[members[: _MOST_PER_PIECE + len(self.found)]])
            key = state.tobytes()
            if key not in seen:
                yield points[members[0]]
            seen.add(key)

    def breaks(self, lines: Lines) -> tuple[IntArray, FloatArray]:
        """Return where the piece changes along each line: line numbers and positions t in [0, 1]."""
        grid = np.linspace(0.0, 1.0, _GRID)
        every = np.repeat(np.arange(len(lines.starts)), _GRID)
        values = self.values(lines.at(every, np.tile(grid, len(lines.starts))))
        values = values.reshape(-1, _GRID, len(self.found))
        states = self.states(values)
        line, cell = np.nonzero((states[:, 1:] != states[:, :-1]).any(axis=-1))
        turning, around, closest, touched = self.turns(lines, values)
        found = self.narrow(
            lines,
            np.concatenate([line, turning, turning]),
            np.concatenate([grid[cell], grid[around], closest]),
            np.concatenate([grid[cell + 1], closest, grid[around + 2]]),
        )
        parts = [*found, (turning[touched], closest[touched])]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def narrow(
        self, lines: Lines, line: IntArray, low: FloatArray, high: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Narrow each segment to its first change of piece; look again in what remains behind it."""
        for _ in range(_PASSES):
            first = self.states(self.values(lines.at(line, low)))
            last = self.states(self.values(lines.at(line, high)))
            changed = (first != last).any(axis=-1)
            line, low, high, first = line[changed], low[changed], high[changed], first[changed]
            if not line.size:
                return
            left, right = low, high
            for _ in range(_REFINEMENTS):
                t = left[:, None] + (right - left)[:, None] * _FRACTIONS
                states = self.states(self.values(lines.at(line[:, None], t)))
                same = (states == first[:, None]).all(axis=-1)
                cell = np.argmin(same, axis=1)  # the first position beyond the change; the last always is
                rows = np.arange(len(line))
                right = np.where(same.all(axis=1), right, t[rows, cell])
                left = np.where(cell > 0, t[rows, cell - 1], left)
            yield line, right
            low = np.minimum(right + _STEP_PAST, high)

    def turns(self, lines: Lines, values: FloatArray) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
        """Find where a surface's function turns back near a surface, perhaps beyond it and back again.

        Returns:
            Lines, the grid cell before, the position of closest approach, and whether it ends on zero.
        """
        heights = np.concatenate([values, -values], axis=-1)  # lows of u from above, lows of −u from below
        whole = np.concatenate([self.whole, self.whole])
        before, here, after = heights[:, :-2], heights[:, 1:-1], heights[:, 2:]
        dips = (here <= before) & (here < after) & (whole | (here > 0))
        # Two grid cells' worth of change must reach the surface, or nothing can have happened between.
        above = np.where(whole, here - np.floor(here), here)
        dips &= above <= 2.0 * np.maximum(before - here, after - here)
        line, around, which = np.nonzero(dips)
        low, high = around / (_GRID - 1), (around + 2) / (_GRID - 1)
        for _ in range(_REFINEMENTS if line.size else 0):
            t = low[:, None] + (high - low)[:, None] * _FRACTIONS
            cell = np.argmin(self.height(lines, line, which, t), axis=1)
            rows = np.arange(len(line))
            low, high = t[rows, np.maximum(cell - 1, 0)], t[rows, np.minimum(cell + 1, len(_FRACTIONS) - 1)]
        closest = 0.5 * (low + high)
        largest = np.abs(heights).max(axis=1, initial=0.0)[line, which]
        lowest = np.abs(self.height(lines, line, which, closest[:, None])[:, 0])
        touched: BoolArray = ~whole[which] & (lowest <= _TOUCH * largest)
        return line, around, closest, touched

    def height(self, lines: Lines, line: IntArray, which: IntArray, t: FloatArray) -> FloatArray:
        """Return u or −u of one surface's function per line, at positions t of shape (lines, k)."""
        below, surface = np.divmod(which, len(self.found))
        values = self.values(lines.at(line[:, None], t))
        u = np.take_along_axis(values, surface[:, None, None], axis=-1)[..., 0]
        return np.where(below[:, None] == 1, -u, u)


@dataclass(frozen=True, slots=True)
class Lines:
    """Straight lines in the unit cube, from ``starts`` to ``ends``, both of shape (lines, inputs)."""

    starts: FloatArray
    ends: FloatArray

    def at(self, line: IntArray, t: FloatArray) -> FloatArray:
        """Return the points at positions t of the numbered lines."""
        starts, ends = self.starts[line], self.ends[line]
        points: FloatArray = starts + t[..., None] * (ends - starts)
        return points

    def joined(self, other: Lines) -> Lines:
        return Lines(np.vstack([self.starts, other.starts]), np.vstack([self.ends, other.ends]))


def _axis_lines(seeds: FloatArray) -> Lines:
    """Return lines through each seed, parallel to each axis, from face to face of the unit cube."""
    n, d = seeds.shape
    starts, ends = np.repeat(seeds, d, axis=0), np.repeat(seeds, d, axis=0)
    rows, axis = np.arange(n * d), np.tile(np.arange(d), n)
    starts[rows, axis] = 0.0
    ends[rows, axis] = 1.0
    return Lines(starts, ends)


def _around(lines: Lines, line: IntArray, t: FloatArray) -> list[FloatArray]:
    """Return the middles between neighbouring breaks of a line, and points at each distance beside them."""
    touched = np.unique(line)
    owner = np.concatenate([touched, line, touched])
    cuts = np.concatenate([np.zeros(len(touched)), t, np.ones(len(touched))])
    order = np.lexsort((cuts, owner))
    owner, cuts = owner[order], cuts[order]
    same = owner[1:] == owner[:-1]
    middles = lines.at(owner[1:][same], _inside(0.5 * (cuts[1:] + cuts[:-1])[same]))
    beside = [lines.at(line, _inside(t + offset)) for offset in _EDGES]
    return [middles, *beside]


def _inside(t: FloatArray) -> FloatArray:
    return np.clip(t, _INSIDE, 1.0 - _INSIDE)
