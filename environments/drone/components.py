"""The parts of a drone, and the modules that one can carry.

Source: arXiv 2607.04293, table 10; hit weights are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_DEF = 50.0


@dataclass(frozen=True)
class Component:
    """A part: hit points (never shown), default armour, whether a drone is lost without it."""

    name: str
    hp: float
    default: float
    critical: bool
    hit_weight: float
    storm_damage: tuple[float, float]
    """The range of raw damage that a storm does to it."""


_SOFT, _EXPOSED = (10.0, 25.0), (15.0, 35.0)
COMPONENTS = (
    Component("engine", 100, 20, True, 1.5, _SOFT),
    Component("cockpit", 100, 20, True, 1.5, _SOFT),
    Component("wing", 80, 15, True, 1.2, _SOFT),
    Component("body", 80, 15, True, 1.0, _SOFT),
    Component("antenna", 50, 10, False, 0.8, _SOFT),
    Component("camera", 20, 5, False, 0.5, _EXPOSED),
    Component("gun", 30, 5, False, 0.5, _EXPOSED),
)
SHIELD = Component("shield", 30, 0, False, 1.0, _SOFT)
NAMES = tuple(item.name for item in COMPONENTS)
"""The seven parts that every drone has; a shield is extra."""

MODULES = ("radar_boost", "thermal_shield", "power_core", "stealth_coating", "signal_filter")
FILTER = 1 + MODULES.index("signal_filter")
"""Index of the filter among the modules; 0 is none."""
