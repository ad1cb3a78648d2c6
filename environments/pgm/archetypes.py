"""The five decision archetypes: central signature, then background.

Source: arXiv 2610.14381, section 3.2, appendix B. The strengths are chosen so that the signatures of
``validate`` are common and passive data misleads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from environments.pgm.causal_world import World
from environments.pgm.network import FloatArray
from environments.pgm.ordinal import positions
from environments.pgm.sketch import Sketch, Uniform, complete

OUTCOME, WATCHED, GROUP, COVARIATE, PROPOSED = "outcome", "watched", "group", "covariate", "proposed"
TREATMENT, MEDIATOR = "treatment", "mediator"
FEWEST_NODES = {"mediator": 8}
"""Choices need enough legal answers that a random one is rarely right: 11 nodes where not given here."""
MOST_NODES = 14
TURNED_SHARE = 0.3
"""Share of worlds whose outcome is listed from worst to best."""

MEDIATOR_KINDS = ("mediated_only", "direct_and_mediated", "not_mediator", "which_mediator")

_SUBGROUP_SPREAD = 1.6
_STRONG: Uniform = (1.6, 2.4)
_MIRAGE: Uniform = (2.2, 3.2)


def draw(archetype: str, rng: np.random.Generator, kind: str = "") -> World:
    """Draw a world of an archetype; ``kind`` is the sub-variant of a mediator world."""
    sketch = Sketch(rng)
    nodes = int(rng.integers(FEWEST_NODES.get(archetype, 11), MOST_NODES + 1))
    actions = _mediator(sketch, kind) if archetype == "mediator" else _SIGNATURES[archetype](sketch)
    outcome, covariate = sketch.find(OUTCOME), sketch.find(COVARIATE)
    complete(sketch, nodes, outcome=outcome, actions=actions, covariate=covariate)
    world = sketch.world()
    return world.turned([world.find(OUTCOME)]) if sketch.chance(TURNED_SHARE) else world


def _start(sketch: Sketch) -> tuple[int, int]:
    outcome = sketch.add(OUTCOME, 3, intervenable=False)
    return outcome, sketch.add(COVARIATE, sketch.card(), intervenable=False)


def _safety(sketch: Sketch) -> list[int]:
    outcome, covariate = _start(sketch)
    watched = sketch.add(WATCHED, 3, intervenable=False)
    safe, unsafe = sketch.add("safe", sketch.card()), sketch.add("unsafe", sketch.card())
    decoy = sketch.add("decoy", 2)
    sketch.link(safe, outcome, -sketch.uniform(1.0, 1.6))
    sketch.link(unsafe, outcome, -sketch.uniform(0.7, 1.5))
    sketch.link(decoy, outcome, -sketch.uniform(0.05, 0.25))
    sketch.link(covariate, outcome, sketch.uniform(*_STRONG))
    sketch.link(unsafe, watched, sketch.uniform(0.8, 1.6))
    sketch.link(covariate, watched, sketch.uniform(0.3, 0.8))
    if sketch.chance(0.5):
        sketch.link(covariate, unsafe, sketch.uniform(0.4, 0.9))
    elif sketch.chance(0.5):
        sketch.link(covariate, unsafe, sketch.signed(0.6, 1.4))
    return [safe, unsafe, decoy, _mirage(sketch, covariate)]


def _mirage(sketch: Sketch, covariate: int) -> int:
    """Add an action that moves with the covariate and does nothing."""
    mirage = sketch.add("mirage", 2)
    sketch.link(covariate, mirage, sketch.uniform(*_MIRAGE))
    return mirage


def _mediator(sketch: Sketch, kind: str) -> list[int]:
    outcome, covariate = _start(sketch)
    treatment = sketch.add(TREATMENT, sketch.card())
    mediator, other = sketch.add(MEDIATOR, 3), sketch.add("alternative", 3)
    u = sketch.uniform
    if kind == "not_mediator":
        sketch.link(treatment, outcome, -u(1.0, 1.7))
        sketch.link(treatment, mediator, -u(1.0, 2.0))
        sketch.link(covariate, mediator, sketch.signed(0.6, 1.4))
    elif kind == "which_mediator":
        sketch.link(treatment, mediator, -u(1.8, 2.8))
        sketch.link(mediator, outcome, u(1.4, 2.2))
        sketch.link(treatment, other, -u(1.5, 2.5))
        if sketch.chance(0.5):
            sketch.link(other, outcome, u(0.1, 0.35))
    else:
        sketch.link(treatment, mediator, -u(1.6, 2.6))
        sketch.link(mediator, outcome, u(1.2, 2.0))
        sketch.link(covariate, other, sketch.signed(0.6, 1.4))
        if kind == "direct_and_mediated":
            sketch.link(treatment, outcome, -u(0.7, 1.3))
    sketch.link(covariate, outcome, u(0.3, 0.7))
    if sketch.chance(0.5):
        sketch.link(covariate, treatment, sketch.signed(0.6, 1.4))
    return [treatment]


def _satisficing(sketch: Sketch) -> list[int]:
    outcome, covariate = _start(sketch)
    effective = int(sketch.rng.integers(1, 3))
    actions = [sketch.add(f"act{number}", sketch.card()) for number in range(4)]
    for number, action in enumerate(actions):
        strength = (1.0, 1.6) if number < effective else (0.05, 0.30)
        sketch.link(action, outcome, -sketch.uniform(*strength))
    sketch.link(covariate, outcome, sketch.uniform(*_STRONG))
    return [*actions, _mirage(sketch, covariate)]


def _subgroup(sketch: Sketch) -> list[int]:
    outcome, _ = _start(sketch)
    group = sketch.add(GROUP, 2, intervenable=False)
    share = sketch.uniform(0.4, 0.6)
    sketch.spots[group].root = (1 - share, share)
    actions = [sketch.add(role, 2) for role in ("robust", "avgbest", "bad")]
    for action in actions:
        rare = sketch.uniform(0.08, 0.22)
        sketch.spots[action].root = (1 - rare, rare)
        sketch.link(action, outcome, 0.0)
    sketch.link(group, outcome, sketch.uniform(-0.4, 0.4))
    u = sketch.uniform
    strengths = np.array([[u(0.75, 1), u(0.75, 1)], [u(2, 2.8), u(-0.1, 0.15)], [u(0.3, 0.8), -u(0.5, 1)]])
    swapped = strengths[:, ::-1] if sketch.chance(0.5) else strengths
    sketch.spots[outcome].spread = _SUBGROUP_SPREAD
    sketch.spots[outcome].by_parents = lambda cards: _by_group(cards, swapped)
    return actions


def _by_group(cards: Sequence[int], strengths: FloatArray) -> FloatArray:
    """Return -Σ e_r[g]·z_r; the first three axes are the actions, the fourth is the group."""
    score = np.zeros(tuple(cards))
    for axis, by_group in enumerate(strengths):
        shape = [1] * len(cards)
        shape[axis], shape[3] = cards[axis], cards[3]
        part = np.outer(positions(cards[axis]), by_group)
        score = score - part.reshape(shape)
    return score


def _invalid(sketch: Sketch) -> list[int]:
    outcome, covariate = _start(sketch)
    proposed = sketch.add(PROPOSED, sketch.card(), intervenable=False)
    effective, decoy = sketch.add("alternative", sketch.card()), sketch.add("decoy", sketch.card())
    sketch.link(covariate, proposed, sketch.uniform(1.6, 2.6))
    sketch.link(covariate, outcome, sketch.uniform(*_STRONG))
    sketch.link(covariate, decoy, sketch.uniform(*_MIRAGE))
    sketch.link(effective, outcome, -sketch.uniform(1.0, 1.6))
    return [effective, decoy]


_SIGNATURES: Mapping[str, Callable[[Sketch], list[int]]] = {
    "safety": _safety,
    "satisficing": _satisficing,
    "subgroup": _subgroup,
    "invalid": _invalid,
}
ARCHETYPES = ("safety", "mediator", "satisficing", "subgroup", "invalid")
