"""Players without a model: a policy of a family, or one written here, sitting at every slot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from environments.family import Policy
from environments.task import JSON, Ending, Options, Reply, Tool
from evaluation.episode import Slot, Usage
from evaluation.journal import Journal


class ScriptedHand:
    """A policy as a hand: it costs nothing and never stops for a reason of its own."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    @property
    def ending(self) -> Ending | None:
        """Always None: a session that the policy leaves open is simply unfinished."""
        return None

    @property
    def usage(self) -> Usage:
        """Always nothing."""
        return Usage()

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Pass the brief on."""
        self._policy.start(brief, tools)

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Return what the policy does next."""
        return self._policy.act(last)


class ScriptedPlayer:
    """A player that is a rule: the same slot always gets the same play.

    Args:
        name: its name on the board.
        version: raised when its rule changes, so that old rows are not taken for new ones.
        policy: makes a fresh policy for a slot.
    """

    prompt_digests: Mapping[str, str] = MappingProxyType({})

    def __init__(self, name: str, version: int, policy: Callable[[Slot], Policy]) -> None:
        self.name = name
        self.spec: dict[str, JSON] = {"kind": "scripted", "version": version}
        self._policy = policy

    def sit(self, slot: Slot, journal: Journal) -> ScriptedHand:
        """Return a fresh hand; nothing is bought, so the journal is not asked."""
        return ScriptedHand(self._policy(slot))


def options_of(slot: Slot) -> Options:
    """Return the options with which a slot's session is opened."""
    return Options(setting=slot.setting, protocol=slot.protocol, repetition=slot.repetition)
