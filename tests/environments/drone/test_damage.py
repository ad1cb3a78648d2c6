"""Damage agrees with outcomes and falls with armour."""

from __future__ import annotations

import numpy as np
import pytest

from environments.drone.components import COMPONENTS
from environments.drone.damage import hit_points
from environments.drone.flights import Flights, fly
from environments.drone.template import TEMPLATES

DRONES = 10_000


@pytest.mark.parametrize("family", sorted(TEMPLATES))
def test_no_record_contradicts_its_outcome(family: str) -> None:
    """Over 10,000 drones, survivors have every critical part and lost ones lack at least one."""
    template = TEMPLATES[family]  # type: ignore[index]
    design = {part.name: part.default for part in template.parts}
    columns = fly(template, {**design, "module": 0.0} if template.modules else design, DRONES,
                  template.model.bind(), b"damage")  # fmt: skip
    given = "antenna_hp" if family == "antenna" else None
    left = hit_points(template.parts, columns, template.storm, b"damage", given)
    critical = left[:, [part.critical for part in template.parts]]
    survived = columns["survived"] > 0
    assert (critical[survived] > 0).all()
    assert (critical[~survived] == 0).any(axis=1).all()
    assert (left >= 0).all()
    assert (left <= [part.hp for part in template.parts]).all()


@pytest.mark.parametrize("part", [item.name for item in COMPONENTS if item.name != "antenna"])
@pytest.mark.parametrize("family", ["antenna", "weather"])
def test_damage_of_survivors_falls_with_armour(family: str, part: str) -> None:
    """Given survival, more armour on a part means less damage to it; 4 standard errors of the difference."""
    template = TEMPLATES[family]  # type: ignore[index]
    damages = []
    for defence in (2.0, 40.0):
        design = {item.name: item.default for item in template.parts} | {"antenna": 5.0, part: defence}
        columns = fly(template, design, DRONES, template.model.bind(), b"armour")
        given = "antenna_hp" if family == "antenna" else None
        left = hit_points(template.parts, columns, template.storm, b"armour", given)
        place = [item.name for item in template.parts].index(part)
        damages.append(template.parts[place].hp - left[columns["survived"] > 0, place])
    error = np.sqrt(sum(values.var() / len(values) for values in damages))
    assert damages[0].mean() - damages[1].mean() > 4 * error


def test_a_storm_leaves_its_marks() -> None:
    """A survivor without hits is unharmed in clear weather and worn in a storm."""
    template = TEMPLATES["weather"]
    design = {part.name: part.default for part in template.parts}
    columns = fly(template, design, DRONES, template.model.bind(), b"storm")
    left = hit_points(template.parts, columns, "storm", b"storm")
    unhit = (columns["survived"] > 0) & (columns["hit_count"] == 0)
    whole = np.array([part.hp for part in template.parts])
    assert (left[unhit & (columns["storm"] == 0)] == whole).all()
    assert (left[unhit & (columns["storm"] > 0)] < whole).all()


def test_survivors_of_many_hits_are_possible() -> None:
    """However often a survivor is hit, its critical parts hold; the drawing always ends."""
    n = 50
    columns = {part.name: np.full(n, 0.0) for part in COMPONENTS}
    columns |= {"survived": np.ones(n), "hit_count": np.full(n, 40.0)}
    left = hit_points(COMPONENTS, columns, None, b"many")
    assert (left[:, [part.critical for part in COMPONENTS]] > 0).all()


def test_records_show_shares_of_hit_points() -> None:
    """A record shows what is left of each part as a share from 0 to 1, never the hit points."""
    template = TEMPLATES["antenna"]
    design = {part.name: part.default for part in template.parts}
    columns = fly(template, design, 200, template.model.bind(), b"shares")
    records = Flights(template, columns, b"shares", "D1", whole=True).records(())
    assert all(0 <= value <= 1 for record in records for value in record["hp"].values())
