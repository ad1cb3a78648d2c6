"""Structural equations of the weather game: what the antenna needs turns round with the weather.

Source: arXiv 2607.04293, table 7; the sign assignment, the scaling of the engine term and the payload
term are our choice where the paper is silent or contradicts itself.
"""

from __future__ import annotations

import numpy as np

from environments.drone.components import NAMES
from environments.drone.engine import FloatArray, Model, chance, normal, poisson, split_uniform


def storm(u: FloatArray, clear_share: float) -> FloatArray:
    """1 in a storm."""
    return np.where(u > clear_share, 1.0, 0.0)


def handling(storm: FloatArray, antenna: FloatArray) -> FloatArray:
    """How well the antenna's armour suits the weather."""
    return (antenna / 30 - 0.5) * 8 * np.where(storm > 0, 1.0, -1.0)


def payload(
    engine: FloatArray,
    cockpit: FloatArray,
    wing: FloatArray,
    body: FloatArray,
    antenna: FloatArray,
    camera: FloatArray,
    gun: FloatArray,
) -> FloatArray:
    """Share of performance left under the weight of all armour."""
    weight = engine + cockpit + wing + body + antenna + camera + gun
    return 1 - 0.35 * np.clip((weight - 120) / 130, 0, 1)


def survival_chance(handling: FloatArray, engine: FloatArray, payload: FloatArray) -> FloatArray:
    """Probability of coming back in this weather."""
    return np.minimum(1.0, 1 / (1 + np.exp(-handling)) + 0.15 * engine / 50) * payload


def survived(survival_chance: FloatArray, fortune: FloatArray) -> FloatArray:
    """1 when the drone comes back."""
    return np.where(fortune < survival_chance, 1.0, 0.0)


def hit_count(survived: FloatArray, volleys: FloatArray, strays: FloatArray) -> FloatArray:
    """How often it was hit; reported only."""
    return np.where(survived > 0, strays, 1 + volleys)


def wind(storm: FloatArray, gust: FloatArray) -> FloatArray:
    """Wind in km/h."""
    return np.where(storm > 0, 50 + 25 * gust, 5 + 20 * gust)


def rain(storm: FloatArray, shower: FloatArray) -> FloatArray:
    """Rain in mm/h."""
    return np.maximum(0.0, np.where(storm > 0, 12 + 4 * shower, 0.5 + 0.5 * shower))


def pressure(storm: FloatArray, barometer: FloatArray) -> FloatArray:
    """Air pressure in hPa."""
    return np.where(storm > 0, 995 + 6 * barometer, 1018 + 5 * barometer)


MODEL = Model(
    name="weather",
    exogenous=(
        split_uniform("u", "clear_share"),
        chance("fortune"),
        poisson("volleys", 3.0),
        poisson("strays", 0.2),
        chance("gust"),
        normal("shower"),
        normal("barometer"),
    ),
    design=NAMES,
    parameters={"clear_share": 0.7},
    equations=(
        storm,
        handling,
        payload,
        survival_chance,
        survived,
        hit_count,
        wind,
        rain,
        pressure,
    ),
)
