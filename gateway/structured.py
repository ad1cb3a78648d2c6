"""The window on instructor: how a schema is asked for, and how an answer is read against it.

Buying and replaying run the same code. instructor writes the request for a mode and validates the
completion that ``create`` hands it, whether that comes from the network or from the call store. It
never retries here, and it is never given ``context=``, which would run Jinja over paper text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import instructor
from instructor.core import IncompleteOutputException, InstructorRetryException
from openai.types.chat import ChatCompletion

from gateway.request import T

# instructor logs each unusable reply as an error; here it is a value, and reported by the caller.
logging.getLogger("instructor").addHandler(logging.NullHandler())


class UnusableReplyError(Exception):
    """A reply that does not fit its schema."""


def ask(schema: type[T], mode: str, request: dict[str, Any], create: Callable[[dict[str, Any]], str]) -> T:
    """Return the answer to ``request`` as ``schema``.

    Args:
        schema: the type of the answer.
        mode: the structured-output mode, by its instructor name.
        request: the chat completion request, without any words about the schema.
        create: takes the request as it shall be sent; returns the body of the completion.

    Raises:
        UnusableReplyError: when the completion does not fit the schema.
        Exception: whatever ``create`` raises.
    """
    thrown: list[Exception] = []

    def completion(**sent: Any) -> ChatCompletion:
        try:
            body = json.loads(create(sent))
        except Exception as error:
            thrown.append(error)
            raise
        # instructor adds usage up over its own retries, of which there are none.
        body.pop("usage", None)
        return ChatCompletion.construct(**body)

    patched = instructor.patch(create=completion, mode=instructor.Mode[mode])
    try:
        answer = patched(response_model=schema, max_retries=0, **request)
        return schema.model_validate(answer.model_dump())
    except IncompleteOutputException as error:
        raise UnusableReplyError("the reply was cut off at its token limit") from error
    except InstructorRetryException as error:
        if thrown:
            raise thrown[0] from None
        raise UnusableReplyError(" ".join(str(error).split())[:500]) from error
