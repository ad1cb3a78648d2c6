"""Conditional tables of ordered states: a cumulative logit on a score of the parents.

Source: arXiv 2610.14381, section 3.2 (controlled central tables, strong background tables).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from environments.pgm.network import FloatArray

UNIT = 1_000_000
"""Tables are kept in whole millionths, so that a definition is exact on every machine."""
ROOT_CONCENTRATION = 4.0

Millionths = NDArray[np.int64]


def positions(card: int) -> FloatArray:
    """Return z of each state: evenly spaced from -1 to 1, shape (card,)."""
    z: FloatArray = 2.0 * np.arange(card) / (card - 1) - 1.0
    return z


def linear_score(cards: Sequence[int], betas: Sequence[float], shift: float) -> FloatArray:
    """Return shift + Σ beta·z over the parents, shape ``cards`` (one axis a parent)."""
    score = np.full(tuple(cards), shift)
    for axis, (card, beta) in enumerate(zip(cards, betas, strict=True)):
        shape = [1] * len(cards)
        shape[axis] = card
        score = score + beta * positions(card).reshape(shape)
    return score


def ordinal_table(card: int, score: FloatArray, spread: float) -> Millionths:
    """Return P(V = j | parents) with P(V ≤ j - 1) = σ(θ_j - score), θ_j = (j - card/2)·spread.

    A higher score moves the node to higher states.

    Returns:
        shape (…score's shape, card), in millionths.
    """
    limits = (np.arange(1, card) - card / 2) * spread
    below = 1.0 / (1.0 + np.exp(score[..., None] - limits))
    ends = np.concatenate([np.zeros((*score.shape, 1)), below, np.ones((*score.shape, 1))], axis=-1)
    return millionths(np.diff(ends, axis=-1))


def root_table(card: int, rng: np.random.Generator) -> Millionths:
    """Return the distribution of a root: Dirichlet(4, …, 4), shape (card,)."""
    return millionths(rng.dirichlet(np.full(card, ROOT_CONCENTRATION)))


def millionths(shares: FloatArray) -> Millionths:
    """Round rows of shares to whole millionths, at least one each, that sum to a million exactly."""
    whole = np.maximum(1, np.rint(shares * UNIT).astype(np.int64))
    largest = np.expand_dims(whole.argmax(axis=-1), -1)
    rest = UNIT - whole.sum(axis=-1, keepdims=True)
    np.put_along_axis(whole, largest, np.take_along_axis(whole, largest, -1) + rest, -1)
    return whole
