"""What a player has been shown so far, pooled: counts by what was set and what was kept.

Everything here comes from replies; nothing knows the truth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from environments.task import JSON

Counts = NDArray[np.float64]
Words = Mapping[str, str]
Key = tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]


@dataclass(frozen=True)
class Mean:
    """An estimated mean index: value, variance of the estimate, rows."""

    value: float
    variance: float
    rows: float

    def minus(self, other: Mean) -> tuple[float, float]:
        """Return the difference and its standard error."""
        return self.value - other.value, float(np.sqrt(self.variance + other.variance))


@dataclass
class Evidence:
    """Pooled tables; ``variables`` are those of the brief."""

    variables: Mapping[str, Mapping[str, JSON]]
    _pools: dict[Key, dict[str, Counts]] = field(default_factory=lambda: defaultdict(dict))

    @classmethod
    def of(cls, variables: Sequence[Mapping[str, JSON]]) -> Evidence:
        """Return empty evidence about the variables of a brief."""
        return cls({str(variable["name"]): variable for variable in variables})

    def add(self, data: JSON) -> None:
        """Add the data of one successful query."""
        for arm in data["arms"]:
            self._pool(arm["do"], arm["where"], arm["variables"])
            split = arm.get("by")
            for state, group in (split["groups"] if split else {}).items():
                self._pool(arm["do"], {**arm["where"], split["variable"]: state}, group["variables"])

    def counts(self, variable: str, do: Words = {}, where: Words = {}) -> Counts | None:  # noqa: B006 - read only
        """Return counts by state, shape (states,), or None where nothing was shown."""
        found = self._pools.get(_key(do, where), {}).get(variable)
        return found if found is not None and found.sum() > 0 else None

    def mean(self, variable: str, do: Words = {}, where: Words = {}) -> Mean | None:  # noqa: B006 - read only
        """Return the estimated mean index, or None where nothing was shown."""
        counts = self.counts(variable, do, where)
        if counts is None:
            return None
        index = np.arange(len(counts), dtype=float)
        if not self.variables[variable]["preferred_low"]:
            index = index[::-1]
        rows = float(counts.sum())
        value = float(counts @ index) / rows
        # Half a row more on each side keeps a constant sample from looking certain.
        spread = float(counts @ (index - value) ** 2) + 0.5
        return Mean(value, spread / rows**2, rows)

    def settings(self) -> Iterator[dict[str, str]]:
        """Yield every ``do`` that was sampled without a ``where``, the empty one included."""
        for do, where in self._pools:
            if not where:
                yield dict(do)

    def rows(self, do: Words) -> float:
        """Return the rows that were kept without a ``where`` under a ``do``."""
        pool = self._pools.get(_key(do, {}), {})
        return max((float(counts.sum()) for counts in pool.values()), default=0.0)

    def states(self, variable: str) -> list[str]:
        """Return a variable's states."""
        return list(self.variables[variable]["states"])

    def _pool(self, do: Words, where: Words, tables: Mapping[str, JSON]) -> None:
        pool = self._pools[_key(do, where)]
        for name, table in tables.items():
            counts = np.array(table["counts"], dtype=float)
            pool[name] = pool[name] + counts if name in pool else counts


def _key(do: Words, where: Words) -> Key:
    return frozenset(do.items()), frozenset(where.items())
