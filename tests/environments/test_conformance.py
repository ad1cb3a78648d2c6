"""Every family passes the same class of tests."""

from __future__ import annotations

import pytest

from cards.errors import InputError
from environments.drone.family import DRONE
from environments.families import FAMILIES, family
from environments.law.family import LAW
from environments.organism.family import ORGANISM
from environments.pgm.family import PGM
from environments.task import Options, Task
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


class TestPgm(FamilyConformance):
    """The pgm family, on a small set with every archetype, sub-variant and kind of question."""

    family = PGM

    @classmethod
    def rebuilt(cls, key: bytes) -> list[Task]:
        """Build a set small enough to play often and large enough to be balanced."""
        return list(PGM.build((), {"decisions": 4, "list_worlds": 1, "qual_worlds": 6}, key))

    def sessions(self, tasks: list[Task]) -> list[tuple[Task, Options]]:
        """One task of each kind under every protocol; the others differ from them in their world alone."""
        kinds = {task.facets["kind"]: task for task in tasks}
        return super().sessions(list(kinds.values()))

    def test_bad_calls_never_raise_and_never_end_a_session(self, tasks: list[Task]) -> None:
        """Whatever is sent costs one turn and nothing else; only the end of the turns ends a session."""
        for task, options in self.sessions(tasks):
            session = self.open(task, options)
            for number, (tool, args) in enumerate(self.battery(session)):
                turns = session.remaining["turns"]
                reply = session.call(tool, args, f"b{number}")
                assert not reply.ok
                assert reply.remaining["turns"] == turns - 1
                assert session.done == (turns == 1)
                if session.done:
                    assert session.record().ending == "turn_cap"
                    assert self.open(task, options, session.events).record() == session.record()
                    session = self.open(task, options)


def test_every_family_is_tested() -> None:
    """No family of the table goes without the conformance tests."""
    tested = {cls.family.name for cls in FamilyConformance.__subclasses__()}
    assert tested == set(FAMILIES)


def test_an_unknown_family_is_named() -> None:
    """Asking for a family that does not exist says which do."""
    with pytest.raises(InputError, match=r"no family 'alchemy'.*law"):
        family("alchemy")
