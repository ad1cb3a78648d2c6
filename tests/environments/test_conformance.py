"""Every family passes the same class of tests."""

from __future__ import annotations

import pytest

from cards.errors import InputError
from environments.drone.family import DRONE
from environments.families import FAMILIES, family
from environments.law.family import LAW
from environments.organism.family import ORGANISM
from environments.task import Task
from tests.environments.conformance import FamilyConformance
from tests.environments.examples import CARDS


class TestLaw(FamilyConformance):
    """The law family, on one card of each shape."""

    family = LAW

    @classmethod
    def rebuilt(cls, key: bytes) -> list[Task]:
        """Build the example cards."""
        return list(LAW.build(CARDS, {}, key))


class TestDrone(FamilyConformance):
    """The drone family, on all fourteen games."""

    family = DRONE

    @classmethod
    def rebuilt(cls, key: bytes) -> list[Task]:
        """Build the fourteen games."""
        return list(DRONE.build((), {}, key))


class TestOrganism(FamilyConformance):
    """The organism family, on three organisms of each tier with their probe items."""

    family = ORGANISM

    @classmethod
    def rebuilt(cls, key: bytes) -> list[Task]:
        """Build three of each tier: of fewer, one that noise alone restores would break the null bound."""
        return list(ORGANISM.build((), {"seeds": 3}, key))


def test_every_family_is_tested() -> None:
    """No family of the table goes without the conformance tests."""
    tested = {cls.family.name for cls in FamilyConformance.__subclasses__()}
    assert tested == set(FAMILIES)


def test_an_unknown_family_is_named() -> None:
    """Asking for a family that does not exist says which do."""
    with pytest.raises(InputError, match=r"no family 'alchemy'.*law"):
        family("alchemy")
