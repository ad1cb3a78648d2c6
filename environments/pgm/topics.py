"""The vocabulary: eight topics with their settings, concepts and sentence frames; and scales of states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

TOPIC_NAMES = (
    "criminal_justice",
    "education",
    "hospital_data",
    "labor_policy",
    "screening_diagnosis",
    "social_science",
    "treatment_effectiveness",
    "user_behavior",
)


@dataclass(frozen=True)
class Concept:
    """A kind of variable; ``scale`` gives its states, ``about`` its description with a {stem}."""

    name: str
    scale: str
    about: str


@dataclass(frozen=True)
class Setting:
    """One place of a topic; ``stems`` are words that start its variables' names, and no other's."""

    place: str
    people: str
    stems: tuple[str, ...]


@dataclass(frozen=True)
class Topic:
    """One topical domain of the benchmark."""

    name: str
    openings: tuple[str, ...]
    middles: tuple[str, ...]
    closings: tuple[str, ...]
    levers: tuple[Concept, ...]
    measures: tuple[Concept, ...]
    attributes: tuple[Concept, ...]
    settings: tuple[Setting, ...]


@cache
def topics() -> tuple[Topic, ...]:
    """Return all topics in the order of their names."""
    return tuple(_topic(name) for name in TOPIC_NAMES)


@cache
def scales() -> dict[str, dict[int, tuple[str, ...]]]:
    """Return ordered states by scale and number of states."""
    groups = _load("scales")
    return {
        name: {int(card): tuple(states) for card, states in by_card.items()}
        for group in groups.values()
        for name, by_card in group.items()
    }


def _topic(name: str) -> Topic:
    raw = _load(name)
    concepts = {
        kind: tuple(Concept(*item) for item in raw[kind]) for kind in ("levers", "measures", "attributes")
    }
    return Topic(
        name=raw["name"],
        openings=tuple(raw["openings"]),
        middles=tuple(raw["middles"]),
        closings=tuple(raw["closings"]),
        settings=tuple(Setting(place, people, tuple(stems)) for place, people, stems in raw["settings"]),
        **concepts,
    )


def _load(name: str) -> dict[str, Any]:
    text = files("environments.pgm").joinpath("topics", f"{name}.yaml").read_text("utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded
