"""What a model's address understands: one visible table, first match wins."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

Mode = Literal["JSON_SCHEMA", "OPEN_SCHEMA", "TOOLS", "JSON", "MD_JSON"]
"""OPEN_SCHEMA is sent like JSON_SCHEMA, for a schema that the strict dialects do not take; it is never in a
profile: whoever takes JSON_SCHEMA is asked whether it takes that too."""
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


def is_closed(schema: Any) -> bool:
    """Return whether a JSON schema keeps to what every strict dialect takes.

    That is: no unions, and objects with a fixed set of fields, all of them required.
    """
    if not isinstance(schema, dict) or not isinstance(schema.get("type"), str):
        return False
    if schema["type"] == "array":
        return is_closed(schema.get("items"))
    if schema["type"] != "object":
        return True
    fields = schema.get("properties", {})
    whole = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(fields)
    return whole and all(is_closed(field) for field in fields.values())
