"""The one visible table of scripted players. A model player is in ``model``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from cards.errors import InputError
from environments.family import Family, Policy
from environments.task import JSON
from evaluation.episode import Slot
from evaluation.players.candidate_checker import CandidateChecker
from evaluation.players.scripted import ScriptedPlayer, options_of

Definitions = Callable[[str], Mapping[str, JSON]]
"""Returns a task's sealed definition by id; what an insider needs and nobody else gets."""


@dataclass(frozen=True)
class Entry:
    """One scripted player: what it is, and whether it must know the truth."""

    kind: Literal["null", "insider", "rule"]
    version: int
    about: str


SCRIPTED: dict[str, Entry] = {
    "null": Entry("null", 1, "knows nothing and claims little"),
    "candidate-checker": Entry("rule", 1, "solves Identification for s with one observation"),
    "perfect-memory": Entry("insider", 1, "answers with the Original relation, whatever it observes"),
    "reference": Entry("insider", 1, "knows the truth"),
}


def scripted_player(
    name: str, family: Callable[[str], Family], definition: Definitions | None = None
) -> ScriptedPlayer:
    """Return a scripted player by name.

    Args:
        name: a key of ``SCRIPTED``.
        family: returns a family by name.
        definition: access to sealed definitions, where there is any.

    Raises:
        InputError: when there is no such player, or it needs sealed definitions that are not here.
    """
    entry = SCRIPTED.get(name)
    if entry is None:
        raise InputError(f"there is no player {name!r}.", f"The scripted players are: {', '.join(SCRIPTED)}.")
    if entry.kind == "insider" and definition is None:
        remedy = "Run it in a workspace that can read the release's sealed part, or choose another player."
        raise InputError(f"the player {name!r} knows the truth, and the sealed part is not here.", remedy)

    def policy(slot: Slot) -> Policy:
        if entry.kind == "null":
            return family(slot.family).null(options_of(slot))
        if entry.kind == "insider":
            assert definition is not None
            return family(slot.family).insiders[name](definition(slot.task), options_of(slot))
        return CandidateChecker()

    return ScriptedPlayer(name, entry.version, policy)
