"""Flights and their records: what a player may read of each, noise included."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from environments.drone.damage import hit_points
from environments.drone.engine import Columns, FloatArray, Value
from environments.drone.template import Reading, Template
from environments.seeding import derive, generator
from environments.task import JSON

HP_DIGITS = 3


@dataclass(frozen=True)
class Flights:
    """Some flights whose records can be read.

    ``columns`` holds every variable of the model; ``whole`` says whether a lost drone leaves a record.
    Everything is drawn from ``seed``, whichever variables are open, so that opening one later fills it in.
    """

    template: Template
    columns: Columns
    seed: bytes
    prefix: str
    whole: bool
    archive: bool = False

    @property
    def size(self) -> int:
        """How many flights."""
        return len(self.columns["survived"])

    @property
    def survived(self) -> int:
        """How many came back."""
        return int(self.columns["survived"].sum())

    @property
    def rate(self) -> float:
        """The share that came back."""
        return self.survived / self.size

    def records(self, unlocked: Collection[str]) -> list[dict[str, JSON]]:
        """Return the record of every flight.

        Flights of an archive are shown whole. Of the player's own lost drones nothing is known but the
        fact, unless ``whole``.
        """
        shown = self._shown
        environment = self.environment(unlocked)
        return [
            {**shown[row], "environment": {name: values[row] for name, values in environment.items()}}
            if self._known[row]
            else {"id": shown[row]["id"], "survived": False}
            for row in range(self.size)
        ]

    def environment(self, unlocked: Collection[str]) -> dict[str, list[JSON]]:
        """Return the environment readings by name, a value for each flight; None where not known."""
        opened = [item.reading for item in self.template.hidden if item.name in unlocked and item.reading]
        return {item.name: self._read(item) for item in (*self.template.cues, *opened)}

    @property
    def _known(self) -> FloatArray:
        everything = self.archive or self.whole
        return np.ones(self.size) if everything else self.columns["survived"]

    @cached_property
    def _shown(self) -> list[dict[str, JSON]]:
        """The part of every record that never changes."""
        names = [part.name for part in self.template.parts]
        design = np.stack([self.columns[name] for name in names], axis=1).tolist()
        left = self._hit_point_shares.tolist()
        hits = self.columns["hit_count"].astype(int).tolist()
        outcomes = (self.columns["survived"] > 0).tolist()
        modules = self._modules
        return [
            {
                "id": f"{self.prefix}-{row + 1:03d}",
                "design": {f"{name}_def": value for name, value in zip(names, design[row], strict=True)},
                **({"equipment": modules[row]} if modules else {}),
                "survived": outcomes[row],
                "hit_count": hits[row],
                "hp": dict(zip(names, left[row], strict=True)),
            }
            for row in range(self.size)
        ]

    @property
    def _modules(self) -> list[str | None]:
        if not self.template.modules:
            return []
        words = (None, *self.template.modules)
        return [words[int(index)] for index in self.columns["module"]]

    @cached_property
    def _hit_point_shares(self) -> FloatArray:
        parts = self.template.parts
        given = "antenna_hp" if "antenna_hp" in self.columns else None
        left = hit_points(parts, self.columns, self.template.storm, self.seed, given)
        shares = left / np.array([part.hp for part in parts])
        noise = generator(derive(self.seed, "reading", "hp")).standard_normal(left.shape)
        read: FloatArray = np.clip(shares * (1 + self._sigma[:, None] * noise), 0, 1)
        return np.round(read, HP_DIGITS)

    @property
    def _sigma(self) -> FloatArray:
        stormy, clear = self.template.noise
        if self.template.storm is None:
            return np.full(self.size, clear)
        return np.where(self.columns[self.template.storm] > 0, stormy, clear)

    def _read(self, reading: Reading) -> list[JSON]:
        values = self.columns[reading.column]
        read: list[JSON]
        if reading.labels:
            read = [reading.labels[int(value)] for value in values]
        elif reading.digits == 0:
            read = values.astype(int).tolist()
        else:
            noise = generator(derive(self.seed, "reading", reading.name)).standard_normal(self.size)
            read = np.round(values * (1 + self._sigma * noise), reading.digits).tolist()
        if reading.of_the_lost or self.whole:
            return read
        return [value if came else None for value, came in zip(read, self.columns["survived"], strict=True)]


def fly(
    template: Template,
    design: Mapping[str, float],
    count: int,
    parameters: Mapping[str, Value],
    seed: bytes,
) -> Columns:
    """Fly ``count`` drones of one design and return every variable of the model."""
    wanted = (*template.model.design, *template.model.parents)
    return template.model.simulate(design, count, seed, parameters=parameters, wanted=wanted)


def fly_out(
    template: Template,
    design: Mapping[str, float],
    count: int,
    parameters: Mapping[str, Value],
    seed: bytes,
) -> float:
    """Return the share of ``count`` drones that come back; nothing else is computed."""
    flown = template.model.simulate(design, count, seed, parameters=parameters, wanted=("survived",))
    return float(flown["survived"].mean())
