"""How often the player that knows nothing passed, against each family's declared bounds."""

from __future__ import annotations

from collections import defaultdict

from cards.finding import Finding
from environments.family import Family, NullBound
from environments.task import Score, Task


class NullTally:
    """Null episodes counted by group over a whole release."""

    def __init__(self) -> None:
        self._bounds: dict[tuple[str, str], NullBound] = {}
        self._outcomes: dict[tuple[str, str], list[bool]] = defaultdict(list)

    def wants(self, family: Family, task: Task) -> bool:
        """Return whether the task's null episodes are bounded at all."""
        return family.null_bound(task) is not None

    def add(self, family: Family, task: Task, score: Score) -> None:
        """Count one null episode; one that passes any standard has passed."""
        bound = family.null_bound(task)
        if bound is not None:
            key = (family.name, bound.group)
            self._bounds[key] = bound
            self._outcomes[key].append(any(score.passed.values()))

    def findings(self) -> list[Finding]:
        """Return one finding for every group whose share of passes lies outside its bound."""
        found = []
        for key, outcomes in sorted(self._outcomes.items()):
            bound, share = self._bounds[key], sum(outcomes) / len(outcomes)
            if not bound.low <= share <= bound.high:
                message = (
                    f"a player that knows nothing passes {sum(outcomes)} of {len(outcomes)} episodes "
                    f"({share:.3f}); between {bound.low:g} and {bound.high:g} are allowed"
                )
                found.append(Finding(check="null_bound", path="/".join(key), message=message))
        return found
