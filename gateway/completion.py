"""Reading the body of a chat completion: its text, its end, its tokens. No client is needed for that."""

from __future__ import annotations

import json
from typing import Any

from gateway.prices import Price
from gateway.reply import Finish, Usage

_MOST_TOKENS = 10**12  # no server counts more in one reply; what says so does not know
_LONGEST_NAME = 200


def completion_problem(text: str) -> str | None:
    """Return why ``text`` is not a whole chat completion, or None when it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return f"the reply is not JSON but {text[:60]!r}"
    try:
        message = value["choices"][0]["message"]
        content, calls = message.get("content"), message.get("tool_calls")
    except (TypeError, KeyError, IndexError, AttributeError):
        return "the reply is JSON but no chat completion"
    if content is not None and not isinstance(content, str):
        return f"the reply's content is {type(content).__name__}, not text"
    return None if calls is None or isinstance(calls, list) else "the reply's tool calls are not a list"


def text_in(body: str) -> str:
    """Return the text of a completion; empty where it has none."""
    return writable(_choice(body)["message"].get("content") or "")


def writable(text: str) -> str:
    """Return the text with halves of surrogate pairs, which no file could hold, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def finish_in(body: str) -> Finish:
    """Return how a completion ended."""
    choice = _choice(body)
    if choice["message"].get("refusal") or choice.get("finish_reason") == "content_filter":
        return "refused"
    return "length" if choice.get("finish_reason") == "length" else "stop"


def model_in(body: str) -> str:
    """Return the model that the server says has answered; empty where it does not say."""
    name = json.loads(body).get("model")
    return writable(name)[:_LONGEST_NAME] if isinstance(name, str) else ""


def usage_in(body: str, price: Price | None) -> Usage:
    """Return the tokens of a completion as its server counts them, and their price where known."""
    stated = json.loads(body).get("usage")
    counts = stated if isinstance(stated, dict) else {}
    tokens_in, tokens_out = (_count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    if price is None or tokens_in is None or tokens_out is None:
        return Usage(tokens_in=tokens_in, tokens_out=tokens_out)
    return Usage(tokens_in=tokens_in, tokens_out=tokens_out, usd=price.of(tokens_in, tokens_out))


def _count(value: Any) -> int | None:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if known else None


def _choice(body: str) -> dict[str, Any]:
    choice: dict[str, Any] = json.loads(body)["choices"][0]
    return choice
