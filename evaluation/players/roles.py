"""How a model plays each family: one prompt file and one way of reading its replies for each role."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cards.canonical import digest
from cards.errors import InputError
from environments.organism.protocol import ITEM
from environments.task import JSON, Tool
from evaluation.episode import Slot
from evaluation.players.action import law_talk
from evaluation.players.turn import Action, Talk, after_thought, talk_of_tools
from gateway.prompt import Prompt

PROMPTS = Path(__file__).parents[1] / "prompts"
ANSWER = "answer"

TalkOf = Callable[[dict[str, JSON], Sequence[Tool]], Talk]


@dataclass(frozen=True)
class Role:
    """What a model is told before the brief, and how the two talk."""

    family: str
    prompt: Prompt
    talk: TalkOf


def probe_talk(brief: dict[str, JSON], tools: Sequence[Tool]) -> Talk:
    """Return the talk of a probe: the question as it is, and the whole reply as the answer.

    Source: "Treating the Symptom, Missing the Cause", appendix 8.4 (how a probe is asked).
    """
    limit = int(brief["token_limit"])
    return Talk(
        opening=str(brief["prompt"]),
        read=lambda text: [Action(ANSWER, {"text": after_thought(text).strip()})],
        schema=None,
        call=f"(Your reply may have at most {limit} tokens.)",
        most_tokens=limit,
    )


def game_talk(brief: dict[str, JSON], tools: Sequence[Tool]) -> Talk:
    """Return the talk of a drone game: several actions a turn, as many as the brief allows.

    Source: arXiv 2607.04293, table 5 (agentic mode: at most five calls a turn, reasoning is mandatory).
    """
    return talk_of_tools(brief, tools, int(brief["protocol"]["calls_per_turn"]))


_FILES: Mapping[str, tuple[str, str, TalkOf]] = {
    "law": ("law", "law_player.md", law_talk),
    "world": ("pgm", "world_player.md", talk_of_tools),
    "game": ("drone", "drone_player.md", game_talk),
    "organism": ("organism", "organism_player.md", talk_of_tools),
    "probe": ("organism", "organism_probe.md", probe_talk),
}


def shipped_roles() -> dict[str, Role]:
    """Return the roles with the shipped prompts, by name."""
    return {
        name: Role(family, Prompt.read(PROMPTS / file), talk) for name, (family, file, talk) in _FILES.items()
    }


def role_of(slot: Slot) -> str:
    """Return the name of the role in which a model sits down at a slot.

    Raises:
        InputError: for a family that has none.
    """
    if slot.protocol == ITEM:
        return "probe"
    name = next((name for name, (family, _, _) in _FILES.items() if family == slot.family), None)
    if name is None:
        raise InputError(f"there is no prompt for the family {slot.family!r}.", "Play it with a program.")
    return name


def prompt_digests(roles: Mapping[str, Role]) -> dict[str, str]:
    """Return one digest for each family, over all prompts with which it is played."""
    families = dict.fromkeys(role.family for role in roles.values())
    return {
        family: digest([role.prompt.digest for role in roles.values() if role.family == family])
        for family in families
    }
