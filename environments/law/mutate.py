"""Mutations of a relation: what changes, and the parametric tree that holds both twins.

A mutation acts on a quantity (an input, a hidden parameter, or the only observable as a whole) and
replaces it wherever it occurs, in every observable's relation:

- exponent: v → v·(v/v_ref)^d, d = 0 in the original;
- interaction: q → q·(1 + c·(u/u_ref)·(w/w_ref)^±1), c = 0 in the original;
- coefficient: another value of a hidden parameter, or q → k·q with k = 1 in the original.

Reference values are the exact middle of the printed domain, so that a player can name them.

Source: arXiv 2610.37919, section 3.2 and appendix C.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from cards.card import Card, Input
from cards.expression import Apply, Number, Tree, Variable, substitute
from environments.law.definition import Constant, Mutation

NEUTRAL = {"coefficient": 1.0, "exponent": 0.0, "interaction": 0.0}
"""The value of a correction that leaves the relation as it was."""
_LETTER = {"coefficient": "k", "exponent": "d", "interaction": "c"}


@dataclass(frozen=True)
class Change:
    """A mutation before its constant has a name: the kind, the quantity, its inputs and the strength."""

    kind: str
    target: str
    value: float
    inputs: tuple[str, ...] = ()
    sign: int = 1


@dataclass(frozen=True)
class Form:
    """Parametric trees, their constants in both twins, and the mutations that made them."""

    relations: Mapping[str, Tree]
    constants: tuple[Constant, ...]
    mutations: tuple[Mutation, ...]


def apply(card: Card, changes: Sequence[Change]) -> Form:
    """Return the parametric form of a card under some changes, all made at once.

    A change that names a hidden parameter as a coefficient gives it another value; every other
    change adds a correction whose original value is neutral.
    """
    names = _Names(card)
    hidden = {p.name: p.value for p in card.parameters if not p.told}
    changed = dict(hidden)
    corrections: list[Constant] = []
    factors: dict[str, list[Tree]] = {}
    mutations: list[Mutation] = []
    for change in changes:
        if change.kind == "coefficient" and change.target in hidden:
            changed[change.target] = change.value
            mutations.append(_mutation(change, change.target))
            continue
        name = names.new(_LETTER[change.kind])
        corrections.append(_correction(name, change))
        factors.setdefault(change.target, []).append(_factor(change, name, names))
        mutations.append(_mutation(change, name))
    units = {p.name: p.unit for p in card.parameters}
    constants = [
        Constant(name=n, unit=units[n], role="hidden", original=hidden[n], counterfactual=changed[n])
        for n in hidden
    ]
    return Form(_relations(card, factors), (*constants, *corrections, *names.pivots(card)), tuple(mutations))


def _relations(card: Card, factors: Mapping[str, Sequence[Tree]]) -> dict[str, Tree]:
    replaced = {name: Apply("mul", (Variable(name), *more)) for name, more in factors.items()}
    relations: dict[str, Tree] = {}
    for item in card.observables:
        tree = substitute(item.relation, {n: t for n, t in replaced.items() if n != item.name})
        whole = factors.get(item.name, ())
        relations[item.name] = Apply("mul", (tree, *whole)) if whole else tree
    return relations


def _factor(change: Change, constant: str, names: _Names) -> Tree:
    strength = Variable(constant)
    if change.kind == "coefficient":
        return strength
    if change.kind == "exponent":
        return Apply("pow", (names.ratio(change.inputs[0]), strength))
    first, second = change.inputs
    group = (names.ratio(first), names.ratio(second, inverse=change.sign < 0))
    return Apply("add", (Number(1.0), Apply("mul", (strength, *group))))


def _correction(name: str, change: Change) -> Constant:
    neutral = NEUTRAL[change.kind]
    return Constant(name=name, unit="1", role="correction", original=neutral, counterfactual=change.value)


def _mutation(change: Change, constant: str) -> Mutation:
    return Mutation.model_validate(
        {
            "kind": change.kind,
            "target": change.target,
            "constant": constant,
            "value": change.value,
            "inputs": change.inputs,
            "sign": change.sign,
        }
    )


def middle(item: Input) -> float:
    """Return the exact middle of the printed domain: arithmetic, or geometric for a log scale.

    Computed on the printed decimals, so that it is the number that a player would write.
    """
    low, high = Decimal(repr(item.low)), Decimal(repr(item.high))
    return float((low * high).sqrt() if item.scale == "log" else (low + high) / 2)


class _Names:
    """Names of new constants that no quantity of the card has, and the pivots asked for so far."""

    def __init__(self, card: Card) -> None:
        self._taken = {item.name for item in card.inputs}
        self._taken |= {item.name for item in card.parameters}
        self._taken |= {item.name for item in card.observables}
        self._pivots: dict[str, str] = {}

    def new(self, letter: str) -> str:
        """Return ``c1``, ``c2`` … whichever is free."""
        return self._claim(f"{letter}{number}" for number in range(1, len(self._taken) + 2))

    def ratio(self, quantity: str, *, inverse: bool = False) -> Tree:
        """Return quantity / pivot, or pivot / quantity."""
        if quantity not in self._pivots:
            tail = ("" if number == 0 else str(number) for number in range(len(self._taken) + 1))
            self._pivots[quantity] = self._claim(f"{quantity}_ref{end}" for end in tail)
        pair = (Variable(quantity), Variable(self._pivots[quantity]))
        return Apply("div", pair[::-1] if inverse else pair)

    def pivots(self, card: Card) -> list[Constant]:
        """Return the pivots, in the order of the inputs."""
        return [
            Constant(
                name=self._pivots[item.name],
                unit=item.unit,
                role="pivot",
                original=middle(item),
                counterfactual=middle(item),
            )
            for item in card.inputs
            if item.name in self._pivots
        ]

    def _claim(self, choices: Iterable[str]) -> str:
        name = next(choice for choice in choices if choice not in self._taken)
        self._taken.add(name)
        return name
