"""Ask for every truth of a set again, by the second way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cards.errors import InputError
from cards.finding import Finding
from environments.pgm.confirm import confirm
from environments.pgm.definition import PgmDefinition
from environments.task import Task


def recertify(tasks: Sequence[Task]) -> list[Finding]:
    """Return a finding for every world whose stored truths the joint distribution does not confirm."""
    worlds: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        worlds[task.cluster].append(task)
    found = []
    for group in worlds.values():
        known = [PgmDefinition.model_validate(task.definition) for task in group]
        try:
            good = confirm(known[0].world, [d.question for d in known], [d.truth for d in known])
            message = "the world is too large for a second way to its truth"
        except InputError as error:
            good, message = False, error.message
        if not good:
            found.append(Finding(check="second_way", path=group[0].row.id, message=message))
    return found
