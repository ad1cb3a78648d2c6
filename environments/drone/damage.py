"""What is left of each part after a flight, drawn given the outcome and never feeding back.

Our choice, made so that no record contradicts its outcome: a survivor has hit points on every critical
part, a lost drone has none on at least one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from environments.drone.components import Component
from environments.drone.engine import Columns, FloatArray
from environments.seeding import derive, generator

RAW_HIT = 70.0
MOST_REDRAWS = 400


def hit_points(
    parts: Sequence[Component],
    flights: Columns,
    storm: str | None,
    seed: bytes,
    given: str | None = None,
) -> FloatArray:
    """Return the hit points left, shape (n, parts).

    Args:
        parts: the drone's parts.
        flights: columns of the parts' DEF, ``survived``, ``hit_count``, and those named here.
        storm: the column that is 1 in a storm; None where there is no weather.
        seed: from which all draws derive.
        given: the column that holds the antenna's hit points where the model itself has them.
    """
    rng = generator(derive(seed, "damage"))
    n = len(flights["survived"])
    defence = np.stack([flights[part.name] for part in parts], axis=1)
    left = np.tile([part.hp for part in parts], (n, 1)).astype(np.float64)
    if storm is not None:
        left -= _storm_damage(parts, defence, rng) * flights[storm][:, None]
    if given is not None:
        left[:, [part.name for part in parts].index("antenna")] = flights[given]
    critical = np.array([part.critical for part in parts])
    hits = flights["hit_count"].astype(np.intp)
    survived = flights["survived"] > 0
    weights = np.array([part.hit_weight for part in parts])
    result = left - _hit_damage(weights, defence, hits, rng)
    for _ in range(MOST_REDRAWS):
        wrong = np.flatnonzero(survived & (result[:, critical] <= 0).any(axis=1))
        if not len(wrong):
            break
        result[wrong] = left[wrong] - _hit_damage(weights, defence[wrong], hits[wrong], rng)
    else:
        # So many hits that hardly any draw spares all critical parts: the others took them.
        result[wrong] = left[wrong] - _hit_damage(weights * ~critical, defence[wrong], hits[wrong], rng)
    return np.maximum(_brought_down(result, survived, critical), 0.0)


def _brought_down(left: FloatArray, survived: np.ndarray, critical: np.ndarray) -> FloatArray:
    """Set the most damaged critical part of a lost drone to nothing, unless one is at nothing already."""
    standing = np.flatnonzero(~survived & (left[:, critical] > 0).all(axis=1))
    worst = np.flatnonzero(critical)[np.argmin(left[standing][:, critical], axis=1)]
    left[standing, worst] = 0.0
    return left


def _storm_damage(parts: Sequence[Component], defence: FloatArray, rng: np.random.Generator) -> FloatArray:
    low = np.array([part.storm_damage[0] for part in parts])
    high = np.array([part.storm_damage[1] for part in parts])
    return _mitigated(low + (high - low) * rng.random(defence.shape), defence)


def _hit_damage(
    weights: FloatArray, defence: FloatArray, hits: np.ndarray, rng: np.random.Generator
) -> FloatArray:
    """Return the damage of all hits, each on a part drawn by weight; shape as ``defence``."""
    rows = np.repeat(np.arange(len(hits)), hits)
    steps = np.cumsum(weights / weights.sum())
    places = np.minimum(np.searchsorted(steps, rng.random(len(rows)), side="right"), len(weights) - 1)
    raw = RAW_HIT * rng.uniform(0.7, 1.3, len(rows))
    damage = np.zeros(defence.shape)
    np.add.at(damage, (rows, places), _mitigated(raw, defence[rows, places]))
    return damage


def _mitigated(raw: FloatArray, defence: FloatArray) -> FloatArray:
    """Return damage behind armour: raw minus min(0.9 DEF, 0.65 raw), at least 1."""
    return np.maximum(raw - np.minimum(0.9 * defence, 0.65 * raw), 1.0)
