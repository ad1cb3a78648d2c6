"""The one visible table of families. A new family is a folder and a line here."""

from __future__ import annotations

from cards.errors import InputError
from environments.drone.family import DRONE
from environments.family import Family
from environments.law.family import LAW
from environments.organism.family import ORGANISM
from environments.pgm.family import PGM

FAMILIES: dict[str, Family] = {"law": LAW, "pgm": PGM, "drone": DRONE, "organism": ORGANISM}


def family(name: str) -> Family:
    """Return a family by name.

    Raises:
        InputError: when there is no such family.
    """
    if name not in FAMILIES:
        raise InputError(f"there is no family {name!r}.", f"The families are: {', '.join(FAMILIES)}.")
    return FAMILIES[name]
