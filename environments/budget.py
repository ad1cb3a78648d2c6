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
        return next((name for name, cost in charge.items() if name in self._left and self._left[name] < cost), None)

    def spend(self, charge: Mapping[str, int]) -> None:
        """Take ``charge`` off the meters.

        Raises:
            ValueError: when a meter cannot bear it; nothing is spent then.
        """
        lacking = self.lacking(charge)
        if lacking is not None:
            raise ValueError(f"meter {lacking} has {self._left[lacking]} left, {charge[lacking]} asked")
        for name, cost in charge.items():
            if name in self._left:
                self._left[name] -= cost
