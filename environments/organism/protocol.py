"""How organism tasks are played: a session as a whole, or one reply to one item."""

from __future__ import annotations

from cards.errors import InputError

SESSION = "session"
ITEM = "item"


def check_protocol(text: str, expected: str) -> None:
    """Refuse any protocol but the expected one.

    Raises:
        InputError: for anything else.
    """
    if text != expected:
        raise InputError(f"there is no protocol {text[:40]!r} here.", f"The protocols are: {expected}.")
