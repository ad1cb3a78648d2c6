"""Structural equations of the deployment-zone games: interference, not altitude, loses drones.

Source: arXiv 2607.04293, table 7; interference by zone, the share lost otherwise and the payload limit
are our choice where the paper is silent.
"""

from __future__ import annotations

import numpy as np

from environments.drone.components import FILTER, MODULES, NAMES
from environments.drone.engine import FloatArray, Model, category, chance, normal, poisson


def low_zone(zone: FloatArray) -> FloatArray:
    """1 in the two low zones."""
    return np.where(zone < 2, 1.0, 0.0)


def mission_zone(zone: FloatArray) -> FloatArray:
    """Number of the zone, lowest first."""
    return zone


def altitude(zone: FloatArray, height: FloatArray, floors: FloatArray) -> FloatArray:
    """Altitude in m; nothing depends on it."""
    index = zone.astype(np.intp)
    floor: FloatArray = floors[index]
    step: FloatArray = np.diff(floors)[index]
    return floor + step * height


def emi(zone: FloatArray, interference: FloatArray) -> FloatArray:
    """Electromagnetic interference of the zone."""
    level: FloatArray = interference[zone.astype(np.intp)]
    return level


def emi_effective(emi: FloatArray, shield: FloatArray, module: FloatArray, relief: FloatArray) -> FloatArray:
    """Interference that reaches the receiver behind shield and module."""
    filtered: FloatArray = relief[np.asarray(module).astype(np.intp)]
    kept_out: FloatArray = np.minimum(0.015 * shield + filtered, 0.95)
    return emi * (1 - kept_out)


def p_fail(emi_effective: FloatArray) -> FloatArray:
    """Probability that communication fails."""
    return np.clip(1.5 * (emi_effective - 0.1), 0, 1)


def payload(
    engine: FloatArray,
    cockpit: FloatArray,
    wing: FloatArray,
    body: FloatArray,
    antenna: FloatArray,
    camera: FloatArray,
    gun: FloatArray,
    shield: FloatArray,
    overload: float,
) -> FloatArray:
    """Share of performance left under the weight of all armour; ``overload`` is the largest loss."""
    weight = engine + cockpit + wing + body + antenna + camera + gun + shield
    return 1 - overload * np.clip((weight - 250) / 150, 0, 1)


def soundness(payload: FloatArray, reliability: float) -> FloatArray:
    """Probability that nothing but communication loses the drone."""
    return reliability * payload


def survival_chance(p_fail: FloatArray, soundness: FloatArray) -> FloatArray:
    """Probability of coming back from this zone."""
    return (1 - p_fail) * soundness


def other_loss(soundness: FloatArray, accident: FloatArray) -> FloatArray:
    """1 when the drone is lost for another reason."""
    return np.where(accident < soundness, 0.0, 1.0)


def survived(p_fail: FloatArray, other_loss: FloatArray, contact: FloatArray) -> FloatArray:
    """1 when the drone comes back."""
    return np.where(contact < p_fail, 0.0, 1.0) * (1 - other_loss)


def hit_count(other_loss: FloatArray, volleys: FloatArray, strays: FloatArray) -> FloatArray:
    """How often it was hit; reported only."""
    return np.where(other_loss > 0, 1 + volleys, strays)


def temperature(altitude: FloatArray, warmth: FloatArray) -> FloatArray:
    """Temperature in °C."""
    return 16 - 0.0065 * altitude + 2 * warmth


def emi_reading(emi: FloatArray, hiss: FloatArray) -> FloatArray:
    """Interference as measured, within 5 per cent."""
    return emi * (1 + 0.05 * hiss)


def link_reading(p_fail: FloatArray, crackle: FloatArray) -> FloatArray:
    """Quality of the link as measured."""
    return np.clip(1 - p_fail + 0.05 * crackle, 0, 1)


def has_filter(module: FloatArray) -> FloatArray:
    """1 when the drone carries the filter; for archives and their statistics."""
    return np.where(np.asarray(module) == FILTER, 1.0, 0.0)


MODEL = Model(
    name="zone",
    exogenous=(
        category("zone", "zone_shares"),
        chance("height"),
        chance("contact"),
        chance("accident"),
        poisson("volleys", 3.0),
        poisson("strays", 0.2),
        normal("warmth"),
        normal("hiss"),
        normal("crackle"),
    ),
    design=(*NAMES, "shield", "module"),
    parameters={
        "zone_shares": (0.15, 0.25, 0.35, 0.10, 0.15),
        "floors": (50.0, 150.0, 300.0, 500.0, 800.0, 1200.0),
        "interference": (0.85, 0.50, 0.25, 0.10, 0.05),
        "relief": (0.0,) * len(MODULES) + (0.55,),
        "reliability": 0.805,
        "overload": 0.0,
    },
    equations=(
        low_zone,
        mission_zone,
        altitude,
        emi,
        emi_effective,
        p_fail,
        payload,
        soundness,
        survival_chance,
        other_loss,
        survived,
        hit_count,
        temperature,
        emi_reading,
        link_reading,
        has_filter,
    ),
)
