"""A budget: named meters that only go down."""

from __future__ import annotations

from collections.abc import Mapping


class Budget:
    """What is left on each named meter (calls, experiments, turns, rows …).

    A meter that a charge names but the budget does not have is unlimited and not shown.
    """

    def __init__(self, meters: Mapping[str, int]) -> None:
        self._left = dict(meters)

    @property
    def remaining(self) -> dict[str, int]:
        """Return a copy of what is left."""
        return dict(self._left)

    def lacking(self, charge: Mapping[str, int]) -> str | None:
        """Return the first meter that cannot bear ``charge``, or None."""
        return next((name for name, cost in charge.items() if self._left.get(name, cost) < cost), None)

    def spend(self, charge: Mapping[str, int]) -> None:
        """Take ``charge`` off the meters; a meter that cannot bear its part goes to zero, never below.

        Actions that need more than is left are refused before they are carried out (``lacking``);
        this floor is for what a refusal itself costs.
        """
        for name, cost in charge.items():
            if name in self._left:
                self._left[name] = max(0, self._left[name] - cost)
