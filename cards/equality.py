"""Are two relations the same real function on a domain? Decided by program, in two steps.

1. Both trees are compared at fifty digits on low-discrepancy points of the domain and on points of every
   piece into which their switching surfaces cut it. A largest relative difference above 1e-6 means
   different, one below 1e-30 equal.
2. In between, the submission's own constants are freed and refitted to the truth from where they are. Equal
   means that the difference falls below 1e-30 and that no constant moved by more than 1e-6 of itself. So a
   rounded or folded constant passes, and an approximation, however close, does not. Where both trees are
   one form and their constants lie next to each other, these are compared one by one instead.

"Different" in the first step is relative to |truth| or to its median size on the domain, whichever is
larger: close to a root of the truth every rounded constant has a large relative effect. "Equal" is relative
to |truth| alone, so nothing hides where the truth is small. A float64 comparison looks first, but only picks
the points that fifty digits then judge. The work is counted, not timed, so that the verdict is the same on
every machine.

Points that lie within the reach of a constant's permitted move from one of the submission's own switching
surfaces tell nothing and are left out, within limits: surfaces that reach over a share of the domain excuse
nothing, and where the submission differs in a piece that has no point out of reach, so that nothing shows it
to be right there, the trees are not equal but undetermined.

A submission is different where it is undefined, even at a single point inside the domain, as
x·(x − a)/(x − a) is: such a point may be hit. The truth's own removable points are excepted.

Source: arXiv 2610.37919, section 4 (strict success); the procedure is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from cards import precise
from cards.domain import Constraint, Domain, Interval, points
from cards.evaluate import evaluate_partial
from cards.expression import Tree
from cards.operators import BoolArray, FloatArray
from cards.pieces import Surface, explore, same_piece, surfaces
from cards.poles import holes, poles
from cards.probe import IntArray, Points, Sample, UndefinedError, cost, span
from cards.refit import AGREEMENT, Fit, refit
from cards.skeleton import MOVE, Skeleton, constants_apart, skeleton, within_reach

DIFFERENCE = 1e-6
"""Largest relative difference that rounded constants may cause."""
MOST_WORK = 3_000_000
"""Most work in one decision, in operations at fifty digits of about 100 ns."""
_SCANNED = 256
_PROBED = 64
_LOOKS = 3  # suspicious points that fifty digits look at
_MOST_SEARCH = 100_000_000  # float64 work on switching surfaces, in evaluations of a node of about 10 ns
_GRADIENT = 2_000  # what a surface's derivatives cost per node, in the same units, …
_MOST_NEAR = 0.02  # share of the domain within reach of surfaces
_MOST_NEAR_OWN = 0.6  # share of the points within reach, where inputs are whole numbers
_SLIVERS = 8  # pieces within reach that are looked at
_EDGE = 1e-6
_SPARE = 32  # more points than constants, so that no fit can pass through all of them
_NEXT_TO = 1e-2  # constants of one form that are further apart may be another way to write the same
_SUSPECT = 1e-6  # a float64 difference worth a look at fifty digits


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome, why, and the largest relative difference seen (None where none was computed)."""

    outcome: Literal["equal", "different", "undetermined"]
    reason: str
    difference: float | None = None


def decide(left: Tree, right: Tree, domain: Domain) -> Verdict:
    """Decide whether a submission is the truth.

    Args:
        left: the truth.
        right: the submission; its numbers are the constants that the second step may move.
        domain: names the inputs, and the values of parameters that either tree may mention.

    Raises:
        ExpressionError: a tree mentions a name that the domain does not know.
    """
    key = tuple(domain.intervals.items()), tuple(domain.constraints), tuple(domain.constants.items())
    try:
        with np.errstate(all="ignore"):  # float64 only picks points: what overflows is no news
            truth = _truth(left, *key)
            if left == right:
                return Verdict("equal", "Both are the same tree.", 0.0)
            return _Decision(truth, right).verdict()
    except _UndecidedError as error:
        return Verdict("undetermined", str(error))


class _UndecidedError(Exception):
    """Why no verdict is possible."""


class _Truth:
    """The truth on a domain: what every submission is compared with, computed once."""

    def __init__(self, tree: Tree, domain: Domain) -> None:
        self.tree = tree
        self.domain = domain
        self.surfaces = surfaces(tree, domain)
        self.poles = poles(tree, domain)
        self.points = Points(points(domain, _SCANNED), domain.constants)
        self.median = 0.0
        self.values = self._scan()
        self.median = self._median()

    def _scan(self) -> FloatArray:
        """Return float64 values; NaN where float64 alone finds the truth undefined."""
        values, defined = evaluate_partial(self.tree, self.points.floats)
        for index in np.flatnonzero(~defined)[:_LOOKS]:
            self.sample(self.points.take(slice(index, index + 1)))
        return values

    def sample(self, where: Points) -> Sample:
        try:
            return Sample.of(self.tree, where, self.median)
        except UndefinedError as error:
            raise _UndecidedError(f"The truth itself is undefined at {where.shown(error.index)}.") from None

    @cached_property
    def between(self) -> Points:
        """The points, but between whole numbers as well: these often lie on a surface."""
        intervals = {
            name: replace(interval, integer=False) for name, interval in self.domain.intervals.items()
        }
        if intervals == self.domain.intervals:
            return self.points
        return Points(points(replace(self.domain, intervals=intervals), _SCANNED), self.domain.constants)

    @cached_property
    def probed(self) -> Sample:
        """The first points at fifty digits."""
        return self.sample(self.points.take(slice(_PROBED)))

    def _median(self) -> float:
        sizes = np.abs(self.values[np.isfinite(self.values)])
        typical = float(np.median(sizes)) if sizes.size else 0.0
        return typical if typical > 0 else float(np.max(sizes, initial=0.0))


@lru_cache(maxsize=128)
def _truth(
    tree: Tree,
    intervals: tuple[tuple[str, Interval], ...],
    constraints: tuple[Constraint, ...],
    constants: tuple[tuple[str, float], ...],
) -> _Truth:
    return _Truth(tree, Domain(dict(intervals), constraints, dict(constants)))


class _Decision:
    """One submission against one truth."""

    def __init__(self, truth: _Truth, tree: Tree) -> None:
        self.truth = truth
        self.tree = tree
        self.work = MOST_WORK
        self.searching = _MOST_SEARCH
        self.price = cost(tree)
        self.freed = Skeleton(tree)
        self.blurs: dict[bool, bool] = {}
        self.seen = 0.0  # the largest difference so far, of those that may decide "different"

    def verdict(self) -> Verdict:
        try:
            self.freed = skeleton(self.tree)
        except UndefinedError:
            return Verdict("different", "A constant part of the submission is undefined.")
        scanned = self.scan(self.truth.points, self.truth.values)
        scanned = scanned or self.undefined()
        if scanned is not None:
            return scanned
        pieces = self.pieces()
        values, defined = evaluate_partial(self.truth.tree, pieces.floats)
        pieces = pieces.take(np.flatnonzero(defined))
        if len(pieces):
            scanned = self.scan(pieces, values[defined]) or self.slivers(pieces, values[defined])
            if scanned is not None:
                return scanned
        return self.probe(pieces)

    @cached_property
    def surfaces(self) -> list[Surface]:
        return surfaces(self.tree, self.truth.domain)

    def undefined(self) -> Verdict | None:
        """Look for single points at which the submission is undefined and the truth is not."""
        mine = [pole for pole in poles(self.tree, self.truth.domain) if pole not in self.truth.poles]
        found = holes(mine, self.truth.poles, self.truth.domain, self.search)
        if not len(found):
            return None
        return Verdict("different", f"The submission is undefined at {found.shown(0)}.")

    def pieces(self) -> Points:
        """Return points in every piece and beside every surface of both trees."""
        found = list(dict.fromkeys(self.truth.surfaces + self.surfaces))
        if not found:
            return self.truth.points.take(slice(0))
        return Points(explore(found, self.truth.domain, self.search), self.truth.domain.constants)

    def scan(self, where: Points, truth: FloatArray) -> Verdict | None:
        """Look with float64 for points that fifty digits then find different or undefined."""
        wrong = self.wrong(where, truth)
        suspects = np.argsort(-np.nan_to_num(wrong, nan=0.0), kind="stable")[:_LOOKS]
        suspects = suspects[wrong[suspects] > _SUSPECT]
        if not suspects.size:
            return None
        looked_at = where.take(suspects)
        return self.compare(self.sample(looked_at.take(self.clear(looked_at))))[1]

    def wrong(self, where: Points, truth: FloatArray) -> FloatArray:
        """Return differences in float64, infinite where the submission is undefined."""
        values, defined = evaluate_partial(self.tree, where.floats)
        with np.errstate(all="ignore"):
            wrong = np.abs(values - truth) / np.maximum(np.abs(truth), self.truth.median)
        return np.where(defined & np.isfinite(truth), wrong, np.where(defined, 0.0, np.inf))

    def slivers(self, where: Points, truth: FloatArray) -> Verdict | None:
        """Look at pieces in which the submission differs and of which only points within reach are known.

        A rounded constant moves the border between pieces, so each piece agrees with the truth further in. A
        piece that lies within reach altogether may be the work of rounding, or of a band around a point.
        """
        wrong = self.wrong(where, truth)
        suspects = np.flatnonzero(wrong > _SUSPECT)
        if not suspects.size or self.blurred():
            return None
        suspects = suspects[self.near(where.take(suspects))]
        for index in suspects[np.argsort(-wrong[suspects], kind="stable")][:_SLIVERS]:
            point = where.take(slice(index, index + 1))
            if np.isinf(wrong[index]) and self.on_edge(point):
                continue
            inside = same_piece(self.surfaces, self.truth.domain, point, self.search)
            inside = inside.take(self.clear(inside))
            if not len(inside):
                reason = "They differ in a piece too narrow to tell from the move of a constant"
                return Verdict("undetermined", f"{reason}, at {point.shown(0)}.")
            verdict = self.scan(inside, evaluate_partial(self.truth.tree, inside.floats)[0])
            if verdict is not None:
                return verdict
        return None

    def on_edge(self, point: Points) -> bool:
        """Whether a point lies on the very edge of the domain, where a relation may be undefined."""
        for name, interval in self.truth.domain.intervals.items():
            at, width = float(point.columns[name][0]), interval.high - interval.low
            if min(at - interval.low, interval.high - at) <= _EDGE * width:
                return True
        return False

    def clear(self, where: Points, *, touching: bool = False) -> IntArray:
        """Return the numbers of points at which the submission can be told from the truth."""
        near = self.near(where, touching=touching)
        excused = near.any() and not self.blurred(touching=touching)
        return np.flatnonzero(~near) if excused else np.arange(len(where))

    def near(self, where: Points, *, touching: bool = False) -> BoolArray:
        self.search(self.reaching * (2 * len(where) + _GRADIENT))
        return within_reach(self.freed, where.floats, self.truth.domain, touching=touching, spend=self.spend)

    @cached_property
    def reaching(self) -> int:
        return sum(span(surface.tree) for surface in self.surfaces)

    def blurred(self, *, touching: bool = False) -> bool:
        """Surfaces that a constant's move would carry over a share of the domain excuse nothing.

        So do those that are a share of the domain, as ``min(x, x) - x`` is, and those that most of the points
        lie on because these are whole numbers.
        """
        if touching not in self.blurs:
            between = np.mean(self.near(self.truth.between, touching=touching))
            own = np.mean(self.near(self.truth.points, touching=touching))
            self.blurs[touching] = bool(between > _MOST_NEAR or own > _MOST_NEAR_OWN)
        return self.blurs[touching]

    def sample(self, where: Points) -> Sample:
        self.spend(cost(self.truth.tree) * len(where))
        return self.truth.sample(where)

    def compare(self, sample: Sample) -> tuple[float, Verdict | None]:
        """Return the largest strict difference at fifty digits, and the verdict if one decides."""
        self.spend(self.price * len(sample))
        try:
            strict = sample.differences(self.tree)
        except UndefinedError as error:
            return math.inf, Verdict(
                "different", f"The submission is undefined at {sample.points.shown(error.index)}."
            )
        typical = np.abs(strict) * sample.scale.weight
        largest = float(np.max(typical, initial=0.0))
        self.seen = max(self.seen, largest)
        if largest > DIFFERENCE:
            at = sample.points.shown(int(np.argmax(typical)))
            return math.inf, Verdict(
                "different", f"They differ by {largest:.3g} of the truth at {at}.", largest
            )
        return float(np.max(np.abs(strict), initial=0.0)), None

    def probe(self, pieces: Points) -> Verdict:
        """Compare at fifty digits; refit when the trees are neither clearly different nor clearly equal."""
        sample = self.truth.probed
        sample = sample.take(self.clear(sample.points))
        largest, verdict = self.compare(sample)
        if verdict is None and len(pieces):
            inside = self.sample(pieces.take(self.clear(pieces)))
            more, verdict = self.compare(inside)
            largest, sample = max(largest, more), sample.joined(inside)
        if verdict is not None:
            return verdict
        if largest >= AGREEMENT:
            return self.refit(sample)
        return Verdict("equal", f"They agree at {len(sample)} points to {precise.DIGITS} digits.", self.seen)

    def refit(self, sample: Sample) -> Verdict:
        """Free the submission's constants and fit them, unless they are the truth's own or next to them."""
        apart = constants_apart(self.truth.tree, self.tree)
        if apart is not None and apart <= _NEXT_TO:
            moved = f"a constant is {apart:.3g} of itself from the truth's"
            if apart <= MOVE:
                return Verdict("equal", f"They are one form, and at most {moved}.", self.seen)
            return Verdict("different", f"They are one form, and {moved}; {MOVE:g} is allowed.", self.seen)
        count = len(self.freed.constants)
        if count == 0:
            reason = f"They differ by {self.seen:.3g} and the submission has no constant that could move."
            return Verdict("different", reason, self.seen)
        sample = sample.take(self.clear(sample.points, touching=True))
        if len(sample) < count + _SPARE:
            domain = self.truth.domain
            more = Points(points(domain, count + _SPARE, seed=1), domain.constants)
            sample = sample.joined(self.sample(more.take(self.clear(more, touching=True))))
        if not len(sample):
            raise _UndecidedError("Every point lies within reach of a constant's move.")
        try:
            fit = refit(self.freed, sample, self.work // max(1, self.price))
        except UndefinedError:
            raise _UndecidedError("With its constants freed the submission leaves float64's range.") from None
        return _judged(fit, count, self.seen)

    def search(self, work: int) -> None:
        self.searching -= work
        if self.searching < 0:
            count = len(set(self.truth.surfaces + self.surfaces))
            noun = "surface" if count == 1 else "surfaces"
            raise _UndecidedError(
                f"The trees switch on {count} {noun}, more than the allowed work can search."
            )

    def spend(self, work: int) -> None:
        self.work -= work
        if self.work < 0:
            raise _UndecidedError("Comparing the trees at fifty digits takes more work than is allowed.")


def _judged(fit: Fit, count: int, largest: float) -> Verdict:
    noun = "constant" if count == 1 else "constants"
    if fit.ended == "work":
        return Verdict("undetermined", f"A refit of {count} {noun} takes more work than is allowed.", largest)
    if fit.ended == "stuck":
        reason = f"After a refit of {count} {noun} they still differ by {fit.difference:.3g} of the truth."
        return Verdict("different", reason, largest)
    if fit.moved > MOVE:
        reason = f"They agree only when a constant moves by {fit.moved:.3g} of itself; {MOVE:g} is allowed."
        return Verdict("different", reason, largest)
    reason = f"They agree to {precise.DIGITS} digits once {count} {noun} move by at most {fit.moved:.2g}."
    return Verdict("equal", reason, largest)
