"""Build the set of a release: 24 worlds for each decision archetype, 30 for lists, 30 for yes/no.

Every gold answer is derived twice, by elimination and from the full joint; worlds whose answers differ
stop the build.

Source: arXiv 2610.14381, sections 3.2 and 3.3, table 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cards.errors import InputError
from environments.pgm.archetypes import ARCHETYPES, MEDIATOR_KINDS, draw
from environments.pgm.brief import task_brief
from environments.pgm.causal_world import World
from environments.pgm.confirm import confirm
from environments.pgm.definition import PgmDefinition, nodes_of
from environments.pgm.derive import derive
from environments.pgm.eliminate import MAX_FACTOR, EliminationSizeError
from environments.pgm.gold import gold_answer
from environments.pgm.oracle import EliminationOracle
from environments.pgm.protocol import METERS, PROTOCOLS
from environments.pgm.question import CHOICES, YES_NO, Question, Truth, YesNoKind
from environments.pgm.rules import accepted_share
from environments.pgm.story import Shelf, Story, Writer, by_frames, tell
from environments.pgm.structural import Wanted, list_world, yes_no_world
from environments.pgm.tools import TOOL_NAMES
from environments.pgm.unique import fingerprint
from environments.pgm.validate import misleads, validate
from environments.seeding import generator, item_seed, opaque_id
from environments.task import Task, TaskRow

NAME = "pgm"
QUAL, CORE_LIST, CORE_DECISION = "qual", "core_list", "core_decision"
SETTINGS = (CORE_LIST, CORE_DECISION, QUAL)
DRAWS = 2000
"""Worlds tried for one place in the set before the build gives up."""
MOST_ACCEPTED = 0.10
"""Share of legal answers to a choice below which a world must stay."""


@dataclass(frozen=True)
class Sizes:
    """How large a set is: worlds for each archetype, for lists, for yes/no; and the share of traps."""

    decisions: int = 24
    list_worlds: int = 30
    qual_worlds: int = 30
    trap_share: float = 0.5


@dataclass(frozen=True)
class Place:
    """One world's place in the set: its name in seeds, and what belongs there."""

    name: str
    setting: str
    archetype: str
    kind: str = ""
    trap: bool = False
    wanted: Wanted = ()


@dataclass(frozen=True)
class Built:
    """A world that has found its place, with its questions and their truths."""

    place: Place
    world: World
    questions: Sequence[Question]
    truths: Sequence[Truth]
    story: Story


@dataclass
class Bench:
    """What a build remembers while it goes on."""

    writer: Writer = by_frames
    shelf: Shelf = field(default_factory=Shelf)
    seen: set[str] = field(default_factory=set)


def build(params: Mapping[str, Any], key: bytes, writer: Writer = by_frames) -> list[Task]:
    """Build all pgm tasks of a release, in the order of their opaque ids.

    Args:
        params: the ``pgm`` section of the settings: decisions (worlds for each archetype), list_worlds,
            qual_worlds, trap_share.
        key: the release's key.
        writer: who writes the scenarios; its prose passes the same check as the frames'.

    Raises:
        InputError: when a place cannot be filled, or the two ways to the truth differ.
    """
    sizes = Sizes(**params)
    bench = Bench(writer)
    built = [_fill(place, key, bench) for place in places(sizes)]
    tasks = [task for one in built for task in _tasks(one, key)]
    return sorted(tasks, key=lambda task: task.row.id)


def places(sizes: Sizes) -> Iterator[Place]:
    """Yield every place of a set in the order in which they are filled."""
    for archetype in ARCHETYPES:
        for number in range(sizes.decisions):
            name = f"{archetype}/{number}"
            kind = MEDIATOR_KINDS[number % len(MEDIATOR_KINDS)] if archetype == "mediator" else ""
            # Spread evenly: the number of traps so far never strays from its share by one.
            trap = int((number + 1) * sizes.trap_share) > int(number * sizes.trap_share)
            yield Place(name, CORE_DECISION, archetype, kind, trap and archetype in CHOICES)
    for number in range(sizes.list_worlds):
        yield Place(f"list/{number}", CORE_LIST, "list")
    for number in range(sizes.qual_worlds):
        yield Place(f"qual/{number}", QUAL, "yes_no", wanted=wanted(number))


def wanted(number: int) -> list[tuple[YesNoKind, bool]]:
    """Return the five questions of the ``number``-th yes/no world: two kinds twice, one kind once.

    The kind that stands alone goes round, and its answer alternates, so that each kind is balanced
    over every six worlds.
    """
    single = YES_NO[number % len(YES_NO)]
    pairs = [(kind, verdict) for kind in YES_NO if kind != single for verdict in (True, False)]
    return [*pairs, (single, (number // len(YES_NO)) % 2 == 0)]


def _fill(place: Place, key: bytes, bench: Bench) -> Built:
    rng = generator(item_seed(key, NAME, place.name))
    for _ in range(DRAWS):
        drawn = _draw(place, rng)
        truths = None if drawn is None else true_of(*drawn)
        if drawn is None or truths is None:
            continue
        world, questions = drawn
        if place.archetype in CHOICES and not _fair(place, world, questions[0], truths[0]):
            continue
        mark = fingerprint(world, questions, truths)
        if mark in bench.seen or not confirm(world, questions, truths):
            continue
        bench.seen.add(mark)
        first = questions[0]
        outcomes = [node for node in (first.outcome, first.watched) if node is not None]
        return Built(place, world, questions, truths, tell(world, outcomes, rng, bench.shelf, bench.writer))
    raise InputError(
        f"no world was found for {place.name} in {DRAWS} draws.", "Check the generator's settings."
    )


def _fair(place: Place, world: World, question: Question, truth: Truth) -> bool:
    """Return whether guessing a choice hardly pays, and passive data mislead where they should."""
    if accepted_share(question, truth.effects) >= MOST_ACCEPTED:
        return False
    return not place.trap or misleads(question, truth, EliminationOracle(world))


def true_of(world: World, questions: Sequence[Question], cap: int = MAX_FACTOR) -> list[Truth] | None:
    """Return the truths of a world's questions, or None where elimination would exceed the cap."""
    oracle = EliminationOracle(world, cap)
    try:
        return [derive(question, oracle) for question in questions]
    except EliminationSizeError:
        return None


def _draw(place: Place, rng: np.random.Generator) -> tuple[World, list[Question]] | None:
    if place.setting == QUAL:
        return yes_no_world(rng, place.wanted)
    if place.setting == CORE_LIST:
        return list_world(rng)
    world = draw(place.archetype, rng, place.kind)
    question = validate(place.archetype, EliminationOracle(world), place.kind)
    return None if question is None else (world, [question])


def _tasks(one: Built, key: bytes) -> Iterator[Task]:
    cluster = opaque_id(key, NAME, one.place.name)
    for number, (question, truth) in enumerate(zip(one.questions, one.truths, strict=True)):
        name = f"{one.place.name}/{number}"
        archetype = one.place.archetype if question.kind in (*CHOICES, "mediator") else question.kind
        definition = PgmDefinition(
            archetype="/".join(part for part in (archetype, one.place.kind) if part),
            topic=one.story.topic,
            scenario=one.story.scenario,
            variables=one.story.variables,
            nodes=nodes_of(one.world),
            question=question,
            truth=truth,
        )
        yield Task(
            row=_row(opaque_id(key, NAME, name, "task"), one.place.setting),
            brief=task_brief(definition),
            definition=definition.model_dump(mode="json"),
            answer=gold_answer(definition),
            seed=item_seed(key, NAME, name).hex(),
            cluster=cluster,
            facets={
                "variant": archetype,
                "collection": "qual" if one.place.setting == QUAL else "core",
                "kind": one.place.kind or archetype,
                "topic": one.story.topic,
                "trap": "yes" if one.place.trap else "no",
            },
        )


def _row(task_id: str, setting: str) -> TaskRow:
    return TaskRow(
        id=task_id,
        family=NAME,
        setting=setting,
        protocols=PROTOCOLS,
        tools=dict.fromkeys(PROTOCOLS, TOOL_NAMES),
        limits={},
        protocol_limits={
            protocol: {name: float(limit) for name, limit in METERS[protocol].items()}
            for protocol in PROTOCOLS
        },
    )
