"""Build: accepted cards and the families' generators become tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from cards.card import Card
from cards.errors import InputError
from environments.families import family
from environments.task import Task


def build_tasks(cards: Sequence[Card], params: Mapping[str, Any], key: bytes) -> list[Task]:
    """Build every task of a release, ordered by id.

    Args:
        cards: the accepted cards of all collections.
        params: params.yaml, parsed; ``release.families`` names the families and each has its own section.
        key: the release key.

    Raises:
        InputError: when a family is unknown or two tasks have one id.
    """
    tasks = [
        task
        for name in params["release"]["families"]
        for task in family(name).build(cards, params.get(name) or {}, key)
    ]
    ordered = sorted(tasks, key=lambda task: task.row.id)
    for one, other in pairwise(ordered):
        if one.row.id == other.row.id:
            raise InputError(f"two tasks have the id {one.row.id}.", "Give the cards different ids.")
    return ordered
