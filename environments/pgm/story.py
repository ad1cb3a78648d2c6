"""Words for a world: names, states, descriptions and a scenario, none of which knows the graph.

What a variable is called depends only on whether it may be set and whether it is an outcome, both of
which a player is told anyway.

Source: arXiv 2610.14381, section 3.2 (the readable surface is separate from the formal world).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cards.errors import InputError
from environments.pgm.causal_world import World
from environments.pgm.definition import Variable
from environments.pgm.leakage import leaks, spaced
from environments.pgm.topics import Concept, Setting, Topic, scales, topics

NAMING_DRAWS = 500
MOST_USES = 2
"""Worlds of one set that may share a setting or a variable's name."""
LEVER_SHARE, ATTRIBUTE_SHARE = 0.7, 0.7


@dataclass(frozen=True)
class Outline:
    """What a writer is given: nothing that tells how the world works."""

    topic: str
    place: str
    people: str
    variables: tuple[Variable, ...]
    opening: str
    middle: str
    closing: str


@dataclass(frozen=True)
class Telling:
    """What a writer returns: a scenario, and descriptions by variable name."""

    scenario: str
    descriptions: Mapping[str, str]


Writer = Callable[[Outline], Telling]
"""Turns an outline into prose; a model can be one. What it writes is checked like everything else."""


@dataclass(frozen=True)
class Story:
    """The words of one world."""

    topic: str
    scenario: str
    variables: tuple[Variable, ...]


@dataclass
class Shelf:
    """What has been used in one set, so that words repeat as little as the rules ask."""

    names: Counter[str] = field(default_factory=Counter)
    settings: Counter[str] = field(default_factory=Counter)
    outcomes: set[tuple[str, str]] = field(default_factory=set)
    topics: Counter[str] = field(default_factory=Counter)


def by_frames(outline: Outline) -> Telling:
    """Write a scenario from the topic's sentence frames; the writer that needs no model."""
    words = {"place": outline.place, "people": outline.people}
    words["Place"] = outline.place[:1].upper() + outline.place[1:]
    sentences = [outline.opening, outline.middle, outline.closing]
    scenario = " ".join(sentence.format(**words) for sentence in sentences)
    return Telling(scenario, {variable.name: variable.description for variable in outline.variables})


def tell(
    world: World, outcomes: Sequence[int], rng: np.random.Generator, shelf: Shelf, writer: Writer = by_frames
) -> Story:
    """Find words for a world and note on the shelf what was used.

    Args:
        world: the formal world.
        outcomes: nodes whose states have a good end: the outcome first, then what is watched.
        rng: the source of chance.
        shelf: what the set has used so far.
        writer: who writes the prose. Prose that leaks is thrown away for the frames'.

    Raises:
        InputError: when the set has used up the topic's words.
    """
    topic = _pick_topic(rng, shelf)
    for _ in range(NAMING_DRAWS):
        setting = _pick_setting(topic, rng, shelf)
        variables = _variables(world, outcomes, (topic, setting), rng)
        key = (setting.place, variables[outcomes[0]].name)
        full = any(shelf.names[variable.name] >= MOST_USES for variable in variables)
        if key not in shelf.outcomes and not full:
            break
    else:
        message = f"the words of the topic {topic.name!r} are used up by this set."
        raise InputError(message, "Build a smaller set, or add settings to the topic.")
    shelf.outcomes.add(key)
    shelf.settings[setting.place] += 1
    shelf.topics[topic.name] += 1
    shelf.names.update(variable.name for variable in variables)
    frames = [str(rng.choice(pool)) for pool in (topic.openings, topic.middles, topic.closings)]
    outline = Outline(topic.name, setting.place, setting.people, variables, *frames)
    return _written(outline, writer)


def _written(outline: Outline, writer: Writer) -> Story:
    telling = writer(outline)
    names = [variable.name for variable in outline.variables]
    texts = [telling.scenario, *telling.descriptions.values()]
    if set(telling.descriptions) != set(names) or any(leaks(texts, names)):
        telling = by_frames(outline)
    variables = tuple(
        variable.model_copy(update={"description": telling.descriptions[variable.name]})
        for variable in outline.variables
    )
    return Story(outline.topic, telling.scenario, variables)


def _pick_topic(rng: np.random.Generator, shelf: Shelf) -> Topic:
    fewest = min(shelf.topics[topic.name] for topic in topics())
    open_topics = [topic for topic in topics() if shelf.topics[topic.name] == fewest]
    return open_topics[int(rng.integers(len(open_topics)))]


def _pick_setting(topic: Topic, rng: np.random.Generator, shelf: Shelf) -> Setting:
    fewest = min(shelf.settings[setting.place] for setting in topic.settings)
    free = [setting for setting in topic.settings if shelf.settings[setting.place] == fewest]
    return free[int(rng.integers(len(free)))]


def _variables(
    world: World, outcomes: Sequence[int], where: tuple[Topic, Setting], rng: np.random.Generator
) -> tuple[Variable, ...]:
    topic, setting = where
    taken: set[str] = set()
    variables = []
    for node, card in enumerate(world.cards):
        pool = _pool(topic, rng, outcome=node in outcomes, settable=world.intervenable[node])
        free = [concept for concept in pool if concept.name not in taken]
        concept = free[int(rng.integers(len(free)))]
        taken.add(concept.name)
        stem = setting.stems[int(rng.integers(len(setting.stems)))]
        states = scales()[concept.scale][card]
        low = world.preferred_low[node]
        variables.append(
            Variable(
                name=stem + concept.name,
                states=states if low else states[::-1],
                description=concept.about.format(stem=spaced(stem)),
                intervenable=world.intervenable[node],
                preferred_low=low,
            )
        )
    return tuple(variables)


def _pool(topic: Topic, rng: np.random.Generator, *, outcome: bool, settable: bool) -> Sequence[Concept]:
    if outcome:
        return topic.measures
    if settable:
        return topic.levers if rng.random() < LEVER_SHARE else topic.measures
    return topic.attributes if rng.random() < ATTRIBUTE_SHARE else topic.measures
