"""Where a relation switches: the surfaces of abs, sign, step, min, max, floor and their like.

Random points miss a narrow piece (64 points miss a band of 1 % half of the time), so the surfaces
themselves are looked for: along lines through the domain a change of piece is bracketed by bisection, and
where a surface is only touched, by minimising its distance. Every piece met becomes the start of new
lines, until no line finds a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cards.domain import Domain, satisfied, stretch, unit_points
from cards.evaluate import Columns, evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, walk
from cards.operators import OPERATORS, BoolArray, FloatArray

_SEEDS = 8
_GRID = 65
_ROUNDS = 5
_SEEDS_PER_ROUND = 12
_BISECTIONS = 34
_PASSES = 4
_MOST_POINTS = 384
_MOST_PER_PIECE = 4
_EDGES = (-1e-5, -1e-9, 1e-9, 1e-5)
_TOUCH = 1e-9
_GOLDEN = 0.5 * (5**0.5 - 1)

IntArray = NDArray[np.intp]


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


def explore(found: Sequence[Surface], domain: Domain) -> dict[str, FloatArray]:
    """Return points in every piece that line scans can find, and points on both sides of each surface.

    Returns:
        Arrays of shape (n,) by input name, at most 384 points, none violating a constraint.
    """
    explorer = _Explorer(found, domain)
    unit = explorer.run()
    columns = stretch(domain, unit)
    inside = satisfied(domain, columns)
    return {name: column[inside] for name, column in columns.items()}


class _Explorer:
    """The search, in unit coordinates: points have shape (…, number of inputs)."""

    def __init__(self, found: Sequence[Surface], domain: Domain) -> None:
        self.found = found
        self.domain = domain
        self.whole = np.array([surface.whole for surface in found])

    def values(self, unit: FloatArray) -> FloatArray:
        """Return every surface's function at the points: shape (points…, surfaces), NaN if undefined."""
        flat = unit.reshape(-1, unit.shape[-1])
        columns: Columns = {**self.domain.constants, **stretch(self.domain, flat)}
        rows = [evaluate_partial(surface.tree, columns)[0] for surface in self.found]
        return np.stack(rows, axis=-1).reshape(*unit.shape[:-1], len(rows))

    def states(self, values: FloatArray) -> FloatArray:
        """Name the piece: the sign, or the integer part, of every surface's function."""
        signs = np.where(np.isnan(values), -2.0, np.sign(values))
        return np.where(self.whole, np.where(np.isnan(values), -np.inf, np.floor(values)), signs)

    def run(self) -> FloatArray:
        seeds = unit_points(self.domain, 2 * _SEEDS, seed=1)
        starts, ends = _axis_lines(seeds[:_SEEDS])
        starts, ends = np.vstack([starts, seeds[:_SEEDS]]), np.vstack([ends, seeds[_SEEDS:]])
        kept: list[FloatArray] = [np.empty((0, seeds.shape[1]))]
        seen: dict[bytes, int] = {}
        for _ in range(_ROUNDS):
            line, t = self.breaks(starts, ends)
            if not line.size:
                break
            points = _around(line, t, starts, ends)
            fresh = self.keep(points, seen, kept)
            if not fresh or sum(map(len, kept)) >= _MOST_POINTS:
                break
            starts, ends = _axis_lines(np.array(fresh[:_SEEDS_PER_ROUND]))
        return np.vstack(kept)[:_MOST_POINTS]

    def keep(self, points: FloatArray, seen: dict[bytes, int], kept: list[FloatArray]) -> list[FloatArray]:
        """Keep a few points of every piece; return one point of each piece never seen before."""
        fresh = []
        chosen = []
        for point, state in zip(points, self.states(self.values(points)), strict=True):
            key = state.tobytes()
            count = seen.get(key, 0)
            if count == 0:
                fresh.append(point)
            if count < _MOST_PER_PIECE * (1 + len(self.found)):
                chosen.append(point)
            seen[key] = count + 1
        kept.append(np.array(chosen).reshape(-1, points.shape[1]))
        return fresh

    def breaks(self, starts: FloatArray, ends: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return where the piece changes along each line: line numbers and positions t in [0, 1]."""
        grid = np.linspace(0.0, 1.0, _GRID)
        values = self.values(_on_lines(starts[:, None], ends[:, None], grid[None, :]))
        states = self.states(values)
        line, cell = np.nonzero((states[:, 1:] != states[:, :-1]).any(axis=-1))
        turning, before, closest, after, close = self.touches(starts, ends, values)
        lines = np.concatenate([line, turning, turning])
        low, high = (
            np.concatenate([grid[cell], before, closest]),
            np.concatenate([grid[cell + 1], closest, after]),
        )
        found = list(self.bisect(starts, ends, (lines, low, high)))
        found.append((turning[close], closest[close]))
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def bisect(
        self, starts: FloatArray, ends: FloatArray, segments: tuple[IntArray, FloatArray, FloatArray]
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Narrow each segment to its first change of piece; look again in what remains behind it."""
        line, low, high = segments
        for _ in range(_PASSES):
            if not line.size:
                return
            first, last = self.at(starts, ends, line, low), self.at(starts, ends, line, high)
            changed = (first != last).any(axis=-1)
            line, low, high, first, last = (a[changed] for a in (line, low, high, first, last))
            left, right = low, high
            for _ in range(_BISECTIONS):
                middle = 0.5 * (left + right)
                same = (self.at(starts, ends, line, middle) == first).all(axis=-1)
                left, right = np.where(same, middle, left), np.where(same, right, middle)
            yield line, right
            low = np.minimum(right + 1e-12, high)

    def at(self, starts: FloatArray, ends: FloatArray, line: IntArray, t: FloatArray) -> FloatArray:
        return self.states(self.values(_on_lines(starts[line], ends[line], t)))

    def touches(
        self, starts: FloatArray, ends: FloatArray, values: FloatArray
    ) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, BoolArray]:
        """Find where a surface's function turns back, perhaps after it went through a narrow piece.

        Returns:
            Lines, the grid position before, the position of closest approach, the one after, and whether
            zero is touched there.
        """
        distance = np.concatenate([np.abs(values), values, -values], axis=-1)
        wanted = np.concatenate([~self.whole, self.whole, self.whole])
        dips = (distance[:, 1:-1] <= distance[:, :-2]) & (distance[:, 1:-1] < distance[:, 2:]) & wanted
        line, cell, which = np.nonzero(dips)
        step = 1.0 / (_GRID - 1)
        before, after = cell * step, (cell + 2) * step
        low, high = before, after
        for _ in range(_BISECTIONS if line.size else 0):
            a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
            nearer = self.height(starts, ends, (line, which), a) <= self.height(
                starts, ends, (line, which), b
            )
            low, high = np.where(nearer, low, a), np.where(nearer, b, high)
        closest = 0.5 * (low + high)
        largest = np.abs(values).max(axis=1, initial=0.0)[line, which % len(self.found)]
        height = self.height(starts, ends, (line, which), closest)
        close: BoolArray = (which < len(self.found)) & (height <= _TOUCH * largest)
        return line, np.asarray(before), closest, np.asarray(after), close

    def height(
        self, starts: FloatArray, ends: FloatArray, chosen: tuple[IntArray, IntArray], t: FloatArray
    ) -> FloatArray:
        """Return the chosen distance at t: |u|, u or −u of one surface's function per point."""
        line, which = chosen
        kind, surface = np.divmod(which, len(self.found))
        u = self.values(_on_lines(starts[line], ends[line], t))[np.arange(len(line)), surface]
        return np.where(kind == 0, np.abs(u), np.where(kind == 1, u, -u))


def _on_lines(starts: FloatArray, ends: FloatArray, t: FloatArray) -> FloatArray:
    result: FloatArray = starts + t[..., None] * (ends - starts)
    return result


def _axis_lines(seeds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return lines through each seed, parallel to each axis, from face to face of the unit cube."""
    n, d = seeds.shape
    starts, ends = np.repeat(seeds, d, axis=0), np.repeat(seeds, d, axis=0)
    axis = np.tile(np.arange(d), n)
    starts[np.arange(n * d), axis] = 0.0
    ends[np.arange(n * d), axis] = 1.0
    return starts, ends


def _around(line: IntArray, t: FloatArray, starts: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the middles between neighbouring breaks of a line, then points beside each break."""
    touched = np.unique(line)
    lines = np.concatenate([touched, line, touched])
    cuts = np.concatenate([np.zeros(len(touched)), t, np.ones(len(touched))])
    order = np.lexsort((cuts, lines))
    lines, cuts = lines[order], cuts[order]
    same = lines[1:] == lines[:-1]
    between = (lines[1:][same], 0.5 * (cuts[1:] + cuts[:-1])[same])
    beside = [(line, np.clip(t + offset, 0.0, 1.0)) for offset in _EDGES]
    parts = [between, *beside]
    where = np.concatenate([part[0] for part in parts])
    at = np.concatenate([part[1] for part in parts])
    return _on_lines(starts[where], ends[where], at)
