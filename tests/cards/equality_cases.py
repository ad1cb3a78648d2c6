"""Random trees with a sound rewriting or a planted change, from a seed; the right answer is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from cards.domain import Domain, Interval, points
from cards.evaluate import evaluate_partial
from cards.expression import Apply, Number, Tree, Variable, names, substitute, walk
from cards.infix import parse_infix
from tests.cards.equality_corpus import Expected, Labelled
from tests.environments.law.rewriting import shifted

DOMAIN = Domain({"x": Interval(0.5, 2), "y": Interval(1, 3), "z": Interval(-1, 1)})
_SAMPLE = 256
_UNARY = ("exp", "log", "sqrt", "sin", "cos", "tanh", "atan", "abs", "neg", "cbrt")
_BINARY = ("add", "sub", "mul", "div", "add", "mul", "min", "max")
_RULES = {
    "add": ("b + a", "a - (-b)", "(a + b)*1", "log(exp(a/9)*exp(b/9))*9"),
    "sub": ("-(b - a)", "a + (-1)*b"),
    "mul": ("b*a", "a*(2*b)/2", "((a + b)^2 - (a - b)^2)/4"),
    "div": ("a*(1/b)", "a*b^(-1)", "(2*a)/(b + b)"),
    "exp": ("1/exp(-a)", "exp(a/2)^2", "cosh(a) + sinh(a)"),
    "log": ("-log(1/a)", "2*log(sqrt(a))", "log10(a)*log(10)"),
    "sqrt": ("a^0.5", "sqrt(4*a)/2"),
    "sin": ("-sin(-a)", "2*sin(a/2)*cos(a/2)", "cos(1.5707963267948966 - a)"),
    "cos": ("cos(-a)", "1 - 2*sin(a/2)^2", "cos(a/2)^2 - sin(a/2)^2"),
    "tanh": ("sinh(a)/cosh(a)", "1 - 2/(exp(2*a) + 1)"),
    "atan": ("-atan(-a)", "atan2(a, 1)", "asin(a/sqrt(1 + a^2))"),
    "abs": ("sqrt(a^2)", "max(a, -a)", "abs(-a)"),
    "neg": ("0 - a", "(-1)*a"),
    "cbrt": ("-cbrt(-a)", "cbrt(8*a)/2"),
    "min": ("min(b, a)", "-max(-a, -b)"),
    "max": ("max(b, a)", "(a + b + abs(a - b))/2"),
}
_NEAR_ZERO = 1e-2
_SHOWS = 1.5e-6
"""A relative difference that no permitted move of a constant explains."""


@dataclass(frozen=True)
class _Draw:
    rng: np.random.Generator

    def tree(self, depth: int) -> Tree:
        """Return a random tree."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.15:
            if self.rng.random() < 0.3:
                return Number(float(f"{self.rng.uniform(0.1, 10):.3g}"))
            return Variable("xyz"[int(self.rng.integers(3))])
        if kind < 0.45:
            return Apply(_UNARY[int(self.rng.integers(len(_UNARY)))], (self.tree(depth - 1),))
        op = _BINARY[int(self.rng.integers(len(_BINARY)))]
        return Apply(op, (self.tree(depth - 1), self.tree(depth - 1)))

    def rewritten(self, tree: Tree) -> Tree:
        """Rewrite about half of the nodes by rules that hold for all real arguments in range."""
        if not isinstance(tree, Apply):
            return tree
        done = Apply(tree.op, tuple(self.rewritten(argument) for argument in tree.args))
        if self.rng.random() < 0.5:
            return done
        rule = _RULES[tree.op][int(self.rng.integers(len(_RULES[tree.op])))]
        return substitute(parse_infix(rule), dict(zip("ab", done.args, strict=False)))

    def changed(self, tree: Tree, size: float) -> tuple[str, Tree]:
        """Plant one change."""
        kind = int(self.rng.integers(5))
        if kind == 0:
            paths = [path for path, node in walk(tree) if isinstance(node, Number)]
            if paths:
                path = paths[int(self.rng.integers(len(paths)))]
                return "constant", shifted(tree, path, 1 + float(self.rng.choice([3e-6, -4e-6, 1e-4, 0.01])))
        if kind == 1:
            a = float(self.rng.uniform(0.6, 1.9))
            band = parse_infix(f"step(x - {a!r})*step({a + 0.004!r} - x)")
            return "band", Apply("add", (tree, Apply("mul", (Number(0.001 * size), band))))
        if kind == 2:
            ripple = parse_infix("sin(7*x + 3*y + z)")
            height = size * 10 ** float(self.rng.uniform(-10, -4))
            return "ripple", Apply("add", (tree, Apply("mul", (Number(height), ripple))))
        if kind == 3:
            return "half", Apply("mul", (tree, parse_infix("1 + 0.0001*step(y - 2)")))
        return "sign", Apply("neg", (tree,))


def cases(count: int, seed: int = 7) -> Iterator[Labelled]:
    """Yield labelled cases, half of them equal."""
    draw = _Draw(np.random.default_rng(seed))
    sample = _sample()
    made = 0
    while made < count:
        tree = draw.tree(int(draw.rng.integers(2, 5)))
        values = _tame(tree, sample)
        if values is None or not names(tree):
            continue
        if made % 2 == 0:
            label, other = "rewritten", draw.rewritten(tree)
            expected: Expected = "equal"
        else:
            label, other = draw.changed(tree, float(np.median(np.abs(values))))
            expected = "different"
        seen = _tame(other, sample)
        if seen is None or (label == "constant" and not _shows(values, seen)):
            continue
        made += 1
        yield Labelled(f"{made} {label}", tree, other, DOMAIN, expected)


def _sample() -> dict[str, np.ndarray]:
    """Return low-discrepancy points, the corners, and points at which inputs are zero, one or equal.

    A relation that is undefined somewhere in the domain would be no card's; most poles pass through these.
    """
    special = np.array(list(product((0.5, 1.0, 2.0), (1.0, 2.0, 3.0), (-1.0, 0.0, 0.5, 1.0))))
    inside = points(DOMAIN, _SAMPLE, seed=3)
    return {name: np.concatenate([column, special[:, i]]) for i, (name, column) in enumerate(inside.items())}


def _tame(tree: Tree, sample: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return the values of a tree that is defined and of moderate size everywhere, else None."""
    found, defined = evaluate_partial(tree, sample)
    values = np.broadcast_to(found, sample["x"].shape)
    good = np.all(defined) and np.all(np.abs(values) < 1e6) and np.median(np.abs(values)) > 1e-3
    return values if good and not _has_pole(tree, sample) else None


def _has_pole(tree: Tree, sample: dict[str, np.ndarray]) -> bool:
    """Whether a denominator, or what a logarithm is taken of, comes near to zero or changes its sign."""
    for _, node in walk(tree):
        if isinstance(node, Apply) and node.op in ("div", "log", "log10", "pow"):
            base = node.args[1] if node.op == "div" else node.args[0]
            values = evaluate_partial(base, sample)[0]
            if node.op == "pow" and isinstance(node.args[1], Number) and node.args[1].value > 0:
                continue
            if np.min(np.abs(values)) < _NEAR_ZERO or np.min(values) * np.max(values) < 0:
                return True
    return False


def _shows(first: np.ndarray, second: np.ndarray) -> bool:
    scale = np.maximum(np.abs(first), np.median(np.abs(first)))
    return bool(np.max(np.abs(first - second) / scale) > _SHOWS)
