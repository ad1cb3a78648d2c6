"""Structural equations of the antenna games: an intact antenna emits, and what emits is found.

Source: arXiv 2607.04293, table 7; the laws of wind and raw damage, the base rate of detection, the
lethality and the gun hill are our choice where the paper is silent.
"""

from __future__ import annotations

import numpy as np

from environments.drone.components import NAMES
from environments.drone.engine import FloatArray, Model, chance, normal, poisson, split_uniform, uniform

ANTENNA_HP = 50.0


def storm(u: FloatArray, clear_share: float) -> FloatArray:
    """1 in a storm."""
    return np.where(u > clear_share, 1.0, 0.0)


def wind(storm: FloatArray, gust: FloatArray) -> FloatArray:
    """Wind in km/h: 50 to 75 in a storm, 5 to 25 in clear weather."""
    return np.where(storm > 0, 50 + 25 * gust, 5 + 20 * gust)


def raw_damage(storm: FloatArray, wind: FloatArray) -> FloatArray:
    """What the weather does to an unprotected antenna."""
    return np.where(storm > 0, wind, 0.3 * wind)


def antenna_hp(raw_damage: FloatArray, antenna: FloatArray) -> FloatArray:
    """Hit points left to the antenna by the weather."""
    return np.maximum(0.0, ANTENNA_HP - raw_damage + np.minimum(3.5 * antenna, 0.8 * raw_damage))


def emitting(antenna_hp: FloatArray) -> FloatArray:
    """1 while the antenna works: a dead one is silent."""
    return np.where(antenna_hp > 0, 1.0, 0.0)


def p_detect(emitting: FloatArray, antenna_hp: FloatArray, base_detection: float) -> FloatArray:
    """Probability of being detected."""
    loud = np.minimum(1.0, base_detection + 0.75 * antenna_hp / ANTENNA_HP)
    return np.where(emitting > 0, loud, 0.3 * base_detection)


def lethality(
    engine: FloatArray,
    cockpit: FloatArray,
    wing: FloatArray,
    body: FloatArray,
    gun: FloatArray,
    hill: float,
) -> FloatArray:
    """Probability that a detected drone is destroyed; ``hill`` is the depth of a false hill in the gun."""
    core = (engine + cockpit + wing + body) / 4
    return (1 - 0.02 * core / 50) * (1 - hill * np.maximum(0.0, 1 - ((gun - 36) / 8) ** 2))


def survival_chance(p_detect: FloatArray, lethality: FloatArray) -> FloatArray:
    """Probability of coming back, given the weather."""
    return 1 - p_detect * lethality


def detected(p_detect: FloatArray, spotting: FloatArray) -> FloatArray:
    """1 when detected."""
    return np.where(spotting < p_detect, 1.0, 0.0)


def survived(detected: FloatArray, lethality: FloatArray, shooting: FloatArray) -> FloatArray:
    """1 when the drone comes back."""
    return 1.0 - detected * np.where(shooting < lethality, 1.0, 0.0)


def hit_count(detected: FloatArray, volleys: FloatArray, strays: FloatArray) -> FloatArray:
    """How often it was hit; reported only."""
    return np.where(detected > 0, 1 + volleys, strays)


def temperature(storm: FloatArray, warmth: FloatArray) -> FloatArray:
    """Temperature in °C."""
    return np.where(storm > 0, 8.0, 18.0) + 3 * warmth


def humidity(storm: FloatArray, damp: FloatArray) -> FloatArray:
    """Relative humidity in per cent."""
    return np.clip(np.where(storm > 0, 85 + 5 * damp, 50 + 8 * damp), 0, 100)


def emission_reading(emitting: FloatArray, flip: FloatArray) -> FloatArray:
    """Whether a signal was noted, wrong for one flight in twenty."""
    return np.where(flip < 0.05, 1 - emitting, emitting)


MODEL = Model(
    name="antenna",
    exogenous=(
        split_uniform("u", "clear_share"),
        uniform("gust"),
        chance("spotting"),
        chance("shooting"),
        poisson("volleys", 3.0),
        poisson("strays", 0.2),
        normal("warmth"),
        normal("damp"),
        chance("flip"),
    ),
    design=NAMES,
    parameters={"clear_share": 0.2, "base_detection": 0.10, "hill": 0.0},
    equations=(
        storm,
        wind,
        raw_damage,
        antenna_hp,
        emitting,
        p_detect,
        lethality,
        survival_chance,
        detected,
        survived,
        hit_count,
        temperature,
        humidity,
        emission_reading,
    ),
)
