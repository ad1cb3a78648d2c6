"""What a model's address understands: one visible table, first match wins."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

Mode = Literal["JSON_SCHEMA", "TOOLS", "JSON", "MD_JSON"]
ALL_MODES: tuple[Mode, ...] = ("JSON_SCHEMA", "TOOLS", "JSON", "MD_JSON")
"""How an answer can be made to fit a schema, strongest first; a refused one falls to the next."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The capabilities of one model.

    Attributes:
        reply_limit: the name under which the limit on a reply's tokens is sent.
        temperature: whether a temperature may be sent.
        modes: the structured-output modes to try, in order.
    """

    reply_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    modes: tuple[Mode, ...] = ALL_MODES

    @property
    def json_schema(self) -> bool:
        """Whether ``response_format`` json_schema may be sent."""
        return "JSON_SCHEMA" in self.modes


DEFAULT = Profile()
_REASONING = Profile(reply_limit="max_completion_tokens", temperature=False)

PROFILES: tuple[tuple[str, Profile], ...] = (
    # Reasoning models of this provider refuse max_tokens and any temperature but their own.
    ("openai/o[0-9]*", _REASONING),
    ("openai/gpt-[5-9]*", _REASONING),
    ("openai/*", Profile(reply_limit="max_completion_tokens")),
    # Plain JSON mode only.
    ("deepseek/*", Profile(modes=("TOOLS", "JSON", "MD_JSON"))),
    ("*", DEFAULT),
)


def profile_for(provider: str, model: str) -> Profile:
    """Return the profile of ``provider/model``."""
    name = f"{provider}/{model}"
    return next(profile for pattern, profile in PROFILES if fnmatchcase(name, pattern))
