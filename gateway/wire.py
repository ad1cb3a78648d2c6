"""The window on openai and httpx2: one request, one body or one reason why there is none.

Nothing is retried here. A total deadline holds over the whole reply (``gateway.deadline``): a server that
drips single bytes, or stops in the middle, is cut off as surely as one that never answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import openai

from cards.errors import GatewayReason
from gateway.completion import completion_problem, writable
from gateway.deadline import DeadlineTransport
from gateway.endpoint import Endpoint

_OVERFLOW = re.compile(
    r"context.{0,10}(length|window|size)|maximum context|prompt is too long|too many (input )?tokens",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"response_format|json_schema|json_object|json mode|tool|function|grammar", re.IGNORECASE
)


@dataclass(eq=False)
class AttemptError(Exception):
    """Why one attempt brought no reply.

    Attributes:
        retry: whether another attempt may succeed.
        wait: seconds that the server asked to wait, or None.
        possibly_billed: whether the server may have done the work all the same.
        format_refused: whether the server refused the way in which a schema was asked for.
    """

    reason: GatewayReason
    message: str
    retry: bool = False
    wait: float | None = None
    http_status: int | None = None
    possibly_billed: bool = False
    format_refused: bool = False


class Wire:
    """An open connection pool to one endpoint.

    Args:
        endpoint: where; its ``base_url`` must be set.
        monotonic: the clock that deadlines are measured with, in seconds.
    """

    def __init__(self, endpoint: Endpoint, monotonic: Callable[[], float]) -> None:
        transport = DeadlineTransport(endpoint.proxy, monotonic)
        self._http = httpx2.Client(transport=transport, trust_env=False)
        self._client = openai.OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key or "none",
            http_client=self._http,
            max_retries=0,
        )

    def post(self, body: Mapping[str, Any], timeout: float) -> str:
        """Send one chat completion request and return the reply's body, which is a whole completion.

        Args:
            body: the request as JSON.
            timeout: seconds for all of it.

        Raises:
            AttemptError: when there is no usable body.
        """
        try:
            raw = self._client.chat.completions.with_raw_response.create(**body, timeout=timeout)
            text = raw.text
        except openai.APITimeoutError as error:
            raise AttemptError(
                "timeout", f"no reply within {timeout:.0f} s", retry=True, possibly_billed=True
            ) from error
        except openai.APIConnectionError as error:
            raise _connection(error) from error
        except openai.APIStatusError as error:
            raise _status(error) from error
        except openai.OpenAIError as error:
            raise AttemptError(
                "malformed", f"the reply cannot be read: {error}", retry=True, possibly_billed=True
            ) from error
        problem = completion_problem(text)
        if problem is not None:
            raise AttemptError("malformed", problem, retry=True, possibly_billed=True)
        return text

    def close(self) -> None:
        """Close all connections."""
        self._client.close()
        self._http.close()


def _connection(error: openai.APIConnectionError) -> AttemptError:
    cause = error.__cause__
    unsent = isinstance(cause, httpx2.ConnectError)
    return AttemptError(
        "connection", f"no connection: {cause or error}", retry=True, possibly_billed=not unsent
    )


def _status(error: openai.APIStatusError) -> AttemptError:
    status, text = error.status_code, _server_words(error)
    message = f"HTTP {status}: {text}"
    if status == 429:
        # An exhausted quota does not come back by waiting.
        wait = retry_after(error.response.headers)
        return AttemptError(
            "rate_limited", message, retry=error.code != "insufficient_quota", wait=wait, http_status=status
        )
    if status in (408, 409) or status >= 500:
        wait = retry_after(error.response.headers)
        return AttemptError(
            "server", message, retry=True, wait=wait, http_status=status, possibly_billed=status >= 500
        )
    if status == 413 or (status == 400 and _OVERFLOW.search(f"{error.code} {error.type} {text}")):
        return AttemptError("context", message, http_status=status)
    if status in (401, 403, 404):
        return AttemptError("denied", message, http_status=status)
    refused = status in (400, 422) and bool(_FORMAT.search(text))
    return AttemptError("request", message, http_status=status, format_refused=refused)


def _server_words(error: openai.APIStatusError) -> str:
    body = error.body
    said = body.get("message") if isinstance(body, dict) else None
    return writable(" ".join(str(said or error.response.text or "no message").split())[:300])


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a reply's headers ask to wait, or None.

    A date is measured from the server's own Date header, so that its clock and ours need not agree.
    """
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / scale
        except ValueError:
            seconds = _until(value, headers.get("date"))
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _until(date: str, now: str | None) -> float:
    try:
        return (parsedate_to_datetime(date) - parsedate_to_datetime(now or "")).total_seconds()
    except (ValueError, TypeError):
        return math.nan
