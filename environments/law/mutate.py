"""Mutations of a relation: what changes, and the parametric tree that holds both twins.

A mutation acts on a quantity (an input, a hidden parameter, or the only observable as a whole) and
replaces it wherever it occurs, in every observable's relation:

- coefficient: another value of a hidden parameter, or q → k·q with k = 1 in the original;
- exponent: v → v·(v/v_ref)^d, d = 0 in the original;
- transform: q → q·(1 + c·f(π)), π a dimensionless group, c = 0 in the original;
- interaction: q → q·(1 + c·(u/u_ref)·(w/w_ref)^±1), c = 0 in the original;
- correction: q → q + k·f(π), k in the unit of q and 0 in the original.

Reference values are the exact middle of the printed domain, so that a player can name them. Parameters
that depend on others are written out before anything is changed, so that they follow by themselves.

Source: arXiv 2610.37919, section 3.2 and appendix C.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from cards.card import Card, Input
from cards.expression import Apply, Number, Tree, Variable, substitute
from environments.law.definition import Constant, Mutation
from environments.law.groups import Group
from environments.law.shapes import SHAPES

NEUTRAL = {"coefficient": 1.0, "exponent": 0.0, "transform": 0.0, "interaction": 0.0, "correction": 0.0}
"""The value of a mutation's constant that leaves the relation as it was, by kind."""
_LETTER = {"coefficient": "k", "exponent": "d", "transform": "c", "interaction": "c", "correction": "k"}


@dataclass(frozen=True)
class Change:
    """A mutation before its constant has a name: the kind, the quantity, what it needs and the strength."""

    kind: str
    target: str
    value: float
    inputs: tuple[str, ...] = ()
    sign: int = 1
    shape: str = ""
    group: Group | None = None


@dataclass(frozen=True)
class Form:
    """Parametric trees, their constants in both twins, and the mutations that made them."""

    relations: Mapping[str, Tree]
    constants: tuple[Constant, ...]
    mutations: tuple[Mutation, ...]


def written_out(card: Card) -> dict[str, Tree]:
    """Return the relations with every hidden dependent parameter replaced by what it depends on."""
    dependent = {p.name: p.relation for p in card.parameters if p.relation is not None and not p.told}
    trees = {item.name: item.relation for item in card.observables}
    for _ in dependent:  # as often as one may lead to another
        trees = {name: substitute(tree, dependent) for name, tree in trees.items()}
    return trees


def hidden_values(card: Card) -> dict[str, float]:
    """Return the independent hidden parameters by name."""
    return {p.name: p.value for p in card.parameters if not p.told and p.relation is None}


def apply(card: Card, changes: Sequence[Change]) -> Form:
    """Return the parametric form of a card under some changes, all made at once.

    A change that names a hidden parameter as a coefficient gives it another value; every other
    change adds a correction whose original value is neutral.
    """
    names = _Names(card)
    hidden = hidden_values(card)
    changed = dict(hidden)
    corrections: list[Constant] = []
    factors: dict[str, list[Tree]] = {}
    terms: dict[str, list[Tree]] = {}
    mutations: list[Mutation] = []
    for change in changes:
        if change.kind == "coefficient" and change.target in hidden:
            changed[change.target] = change.value
            mutations.append(_mutation(change, change.target))
            continue
        name = names.new(_LETTER[change.kind])
        corrections.append(_correction(card, name, change))
        if change.kind == "correction":
            term = Apply("mul", (Variable(name), _shaped(change, names)))
            terms.setdefault(change.target, []).append(term)
        else:
            factors.setdefault(change.target, []).append(_factor(change, name, names))
        mutations.append(_mutation(change, name))
    units = {p.name: p.unit for p in card.parameters}
    constants = [
        Constant(name=n, unit=units[n], role="hidden", original=hidden[n], counterfactual=changed[n])
        for n in hidden
    ]
    relations = _relations(card, factors, terms)
    return Form(relations, (*constants, *corrections, *names.pivots(card)), tuple(mutations))


def _relations(
    card: Card, factors: Mapping[str, Sequence[Tree]], terms: Mapping[str, Sequence[Tree]]
) -> dict[str, Tree]:
    def changed(name: str, tree: Tree) -> Tree:
        product = Apply("mul", (tree, *factors[name])) if name in factors else tree
        return Apply("add", (product, *terms[name])) if name in terms else product

    replaced = {name: changed(name, Variable(name)) for name in (*factors, *terms)}
    return {
        name: changed(name, substitute(tree, {n: t for n, t in replaced.items() if n != name}))
        for name, tree in written_out(card).items()
    }


def _factor(change: Change, constant: str, names: _Names) -> Tree:
    strength = Variable(constant)
    if change.kind == "coefficient":
        return strength
    if change.kind == "exponent":
        return Apply("pow", (names.ratio(change.inputs[0]), strength))
    if change.kind == "transform":
        return Apply("add", (Number(1.0), Apply("mul", (strength, _shaped(change, names)))))
    first, second = change.inputs
    group = (names.ratio(first), names.ratio(second, inverse=change.sign < 0))
    return Apply("add", (Number(1.0), Apply("mul", (strength, *group))))


def _shaped(change: Change, names: _Names) -> Tree:
    assert change.group is not None, "a transformation or a correction acts on a group"
    return SHAPES[change.shape].build(_product(change.group, names))


def _product(group: Group, names: _Names) -> Tree:
    def power(name: str, exponent: int) -> Tree:
        base = Variable(name) if group.bare else names.ratio(name)
        return base if exponent == 1 else Apply("pow", (base, Number(float(exponent))))

    above = [power(name, exponent) for name, exponent in group.powers if exponent > 0]
    below = [power(name, -exponent) for name, exponent in group.powers if exponent < 0]
    top = _multiplied(above)
    return Apply("div", (top, _multiplied(below))) if below else top


def _multiplied(parts: Sequence[Tree]) -> Tree:
    if not parts:
        return Number(1.0)
    return parts[0] if len(parts) == 1 else Apply("mul", tuple(parts))


def _correction(card: Card, name: str, change: Change) -> Constant:
    neutral, unit = NEUTRAL[change.kind], "1"
    if change.kind == "correction":
        units = {item.name: item.unit for item in card.inputs}
        units |= {item.name: item.unit for item in card.parameters}
        units |= {item.name: item.unit for item in card.observables}
        unit = units[change.target]
    return Constant(name=name, unit=unit, role="correction", original=neutral, counterfactual=change.value)


def _mutation(change: Change, constant: str) -> Mutation:
    group = change.group
    return Mutation.model_validate(
        {
            "kind": change.kind,
            "target": change.target,
            "constant": constant,
            "value": change.value,
            "inputs": change.inputs,
            "sign": change.sign,
            "shape": change.shape,
            "group": dict(group.powers) if group else {},
            "bare": bool(group and group.bare),
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
