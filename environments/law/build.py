"""Build the four tasks of every card: two twins in two settings.

Source: arXiv 2610.37919, section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cards.card import Card
from cards.document import tree_document
from cards.errors import InputError
from cards.expression import bind
from environments.law.brief import SETTINGS, task_brief
from environments.law.complexity import complexity
from environments.law.definition import VARIANTS, LawDefinition
from environments.law.generate import EVAL_POINTS, Limits, Pair, make_pair
from environments.law.protocol import CALL_CAP, DEFAULT_BUDGET, TAU, read_protocol
from environments.law.tools import tool_names
from environments.seeding import item_seed, opaque_id
from environments.task import JSON, Task, TaskRow

NAME = "law"


def build(materials: Sequence[Card], params: Mapping[str, Any], key: bytes) -> list[Task]:
    """Build all law tasks of a release, in the order of their opaque ids.

    Args:
        materials: accepted cards.
        params: the ``law`` section of the settings: tier, tau, fixed_budget, call_cap, eval_points, noise.
        key: the release's key.

    Raises:
        InputError: a card that admits no pair, or two cards with one id.
    """
    ids = [card.id for card in materials]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise InputError(f"two cards have the id {twice!r}.", "Give each card an id of its own.")
    limits = Limits(
        tau=float(params.get("tau", TAU)),
        call_cap=int(params.get("call_cap", CALL_CAP)),
        eval_points=int(params.get("eval_points", EVAL_POINTS)),
        noise=float(params.get("noise", 0.0)),
    )
    tier = str(params.get("tier", "medium"))
    tasks: list[Task] = []
    for card in materials:
        seed = item_seed(key, NAME, card.id)
        pair = make_pair(card, seed, tier, others=materials, limits=limits)
        tasks.extend(family_tasks(pair, key, int(params.get("fixed_budget", DEFAULT_BUDGET))))
    return sorted(tasks, key=lambda task: task.row.id)


def family_tasks(pair: Pair, key: bytes, fixed_budget: int = DEFAULT_BUDGET) -> list[Task]:
    """Return the four tasks of one pair."""
    protocols = ("prior", f"fixed:{fixed_budget}", "adaptive")
    tools = {text: tool_names(read_protocol(text)) for text in protocols}
    tasks = []
    for s, variant in enumerate(VARIANTS):
        # Validated here, once: the generator builds its many trials without.
        definition = LawDefinition.model_validate(pair.definition.model_dump(mode="json") | {"s": s})
        for setting in SETTINGS:
            row = TaskRow(
                id=opaque_id(key, NAME, pair.card.id, variant, setting),
                family=NAME,
                setting=setting,
                protocols=protocols,
                tools=tools,
                limits={"calls": float(definition.call_cap)},
            )
            tasks.append(
                Task(
                    row=row,
                    brief=task_brief(definition, setting),
                    definition=definition.model_dump(mode="json"),
                    answer=answer(definition),
                    seed=pair.seed.hex(),
                    cluster=opaque_id(key, NAME, pair.card.id),
                    facets=_facets(pair, definition),
                    link={"card": pair.card.id},
                )
            )
    return tasks


def answer(definition: LawDefinition) -> JSON:
    """Return what the public commitment binds: which twin holds, its relations and its constants."""
    return {
        "variant": definition.variant,
        "s": definition.s,
        "relations": {name: tree_document(tree) for name, tree in definition.truth().items()},
        "told": definition.told_values(),
        "constants": definition.constant_values(definition.variant),
    }


def _facets(pair: Pair, definition: LawDefinition) -> dict[str, str]:
    # Twins tell the same names and values, which absorb a change as well as hidden constants do.
    told = definition.told_values()
    size = complexity({name: bind(tree, told) for name, tree in definition.truth().items()})
    return {
        "variant": definition.variant,
        "collection": pair.card.collection,
        "tier": pair.tier,
        "class": pair.definition.pair_class,
        "strict": "yes" if pair.definition.strict else "weak-only",
        "kinds": "+".join(item.kind for item in definition.mutations),
        "nodes": str(size.nodes),
        "constants": str(size.numbers),
    }
