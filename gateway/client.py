"""The one metered door to language models."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from cards.errors import GatewayError
from gateway.calls import CallStore, StoredCall
from gateway.completion import finish_in, model_in, text_in, usage_in
from gateway.endpoint import Clock, Endpoint, Limits, system_clock
from gateway.ledger import Ledger
from gateway.metered import Bought, Errand, MeteredWire
from gateway.prices import Price, price_for
from gateway.profiles import Mode, Profile, is_closed, profile_for
from gateway.reply import ChatReply, StructuredReply
from gateway.request import Message, StructuredRequest, T

if TYPE_CHECKING:
    from gateway.wire import AttemptError

M = TypeVar("M", Mode, "Mode | None")
R = TypeVar("R")

__all__ = ["Clock", "Endpoint", "Gateway", "Limits", "system_clock"]

REASKS = 1
"""How often an unusable answer is asked for again."""


class Gateway:
    """Asks one model at one endpoint.

    Args:
        endpoint: provider, model, address and key; without an address only replays work.
        ledger: where attempts are written down; needed for buying.
        calls: the call store of structured requests; without it nothing is remembered.
        clock, rng: time and chance.
        profile: what the endpoint understands; by default from the shipped table.
        price: what tokens cost; by default from the shipped table.
        limits: attempts and deadlines.

    Attributes:
        refused_modes: the structured-output modes that the endpoint refused, in order, with its words.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        ledger: Ledger | None,
        calls: CallStore | None,
        clock: Clock,
        rng: random.Random,
        profile: Profile | None = None,
        price: Price | None = None,
        limits: Limits = Limits(),
    ) -> None:
        self.endpoint = endpoint
        self.profile = profile or profile_for(endpoint.provider, endpoint.model)
        self.refused_modes: dict[str, str] = {}
        self._calls = calls
        self._price = price or price_for(endpoint.provider, endpoint.model)
        self._wire: MeteredWire | None = None
        if endpoint.base_url and ledger is not None:
            self._wire = MeteredWire(endpoint, ledger, price=self._price, clock=clock, rng=rng, limits=limits)

    @property
    def name(self) -> str:
        """The model as users write it: provider/model."""
        return f"{self.endpoint.provider}/{self.endpoint.model}"

    def key(self, request: StructuredRequest[T]) -> str:
        """Return the key under which the reply to ``request`` is stored."""
        return self._key(request, 0)

    def structured(self, request: StructuredRequest[T]) -> StructuredReply[T]:
        """Return the answer to ``request``, from the call store where it is there.

        Raises:
            GatewayError: when no answer can be had, or none that fits the schema.
        """
        answer = self._answer(request, buy=True)
        assert answer is not None, "a bought answer is there or an error was raised"
        return answer

    def replay(self, request: StructuredRequest[T]) -> StructuredReply[T] | None:
        """Return the stored answer to ``request``, or None when it was never bought. Opens no socket.

        Raises:
            GatewayError: when the stored replies do not fit the schema, or are a refusal.
        """
        return self._answer(request, buy=False)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        subject: str = "",
        max_tokens: int = 2048,
        temperature: float | None = None,
        schema: dict[str, Any] | None = None,
    ) -> ChatReply:
        """Return the next turn of a conversation. Each call buys one; keeping it is the caller's part.

        Args:
            messages: the conversation so far.
            purpose: what it is for; goes into the ledger, as does ``subject``.
            max_tokens: most tokens of the reply.
            temperature: None for the server's own.
            schema: a JSON schema that the reply shall fit, sent where the endpoint understands it.

        Raises:
            GatewayError: when there is no reply; ``reason`` "context" when the conversation is too long.
        """
        request = self._request([message.as_json() for message in messages], temperature, max_tokens)

        def send(mode: Mode | None) -> Bought:
            return self._post({**request, **_format(mode, schema)}, Errand(purpose, subject, mode or ""))

        bought = self._first_accepted(self._formats(schema), send)
        return ChatReply(
            text=text_in(bought.body),
            finish=finish_in(bought.body),
            usage=usage_in(bought.body, self._price),
            model=model_in(bought.body),
            ledger=bought.ledger,
        )

    def close(self) -> None:
        """Close the connections."""
        if self._wire is not None:
            self._wire.close()

    def _formats(self, schema: dict[str, Any] | None) -> list[Mode | None]:
        """Return the ways to ask for a schema in a conversation, strongest first, the last one always works.

        That a server refuses an open schema says nothing of closed ones; the other way round it does.
        """
        if schema is None:
            return [None]
        modes = [mode for mode in self.profile.modes if mode in ("JSON_SCHEMA", "JSON")]
        if is_closed(schema):
            return [*modes, None]
        without = "JSON_SCHEMA" in self.refused_modes
        opened: list[Mode] = [
            "OPEN_SCHEMA" if mode == "JSON_SCHEMA" else mode
            for mode in modes
            if not (without and mode == "JSON_SCHEMA")
        ]
        return [*opened, None]

    def _key(self, request: StructuredRequest[T], reask: int) -> str:
        return request.key(self.endpoint.provider, self.endpoint.model, reask)

    def _answer(self, request: StructuredRequest[T], *, buy: bool) -> StructuredReply[T] | None:
        problem = ""
        for reask in range(REASKS + 1):
            stored = self._calls.get(self._key(request, reask)) if self._calls else None
            if stored is None and not buy:
                return None
            entry = stored or self._buy(request, reask, problem)
            answer = self._read(request, entry, bought=stored is None)
            if not isinstance(answer, str):
                return answer
            problem = answer
        raise GatewayError(
            f"{self.name} gave no usable answer to {request.prompt.id} {request.subject}: {problem}".rstrip(),
            "Try another model, or raise the request's token limit.",
            reason="malformed",
        )

    def _read(
        self, request: StructuredRequest[T], entry: StoredCall, *, bought: bool
    ) -> StructuredReply[T] | str:
        """Return the validated answer that a stored reply holds, or what is wrong with it."""
        from gateway.structured import UnusableReplyError, ask

        if finish_in(entry.body) == "refused":
            raise GatewayError(
                f"{self.name} refused to answer {request.prompt.id} {request.subject}".rstrip() + ".",
                "Try another model.",
                reason="refused",
            )
        try:
            value = ask(request.schema, entry.mode, {"messages": entry.messages}, lambda sent: entry.body)
        except UnusableReplyError as error:
            return str(error)
        return StructuredReply(
            value=value,
            key=entry.key,
            text=text_in(entry.body),
            usage=usage_in(entry.body, self._price),
            model=model_in(entry.body),
            mode=entry.mode,
            attempt=entry.attempt,
            bought=bought,
        )

    def _buy(self, request: StructuredRequest[T], reask: int, problem: str) -> StoredCall:
        """Buy one reply and keep it, whatever it says; the caller reads it."""
        from gateway.structured import UnusableReplyError, ask

        messages = [message.as_json() for message in request.messages]
        if problem:
            messages.append({"role": "user", "content": _REASK.format(problem=problem)})
        bare = self._request(messages, request.sampling.temperature, request.sampling.max_tokens)
        entries: list[StoredCall] = []

        def send(mode: Mode) -> None:
            def keep(body: str) -> None:
                entry = StoredCall(
                    key=self._key(request, reask),
                    provider=self.endpoint.provider,
                    model=self.endpoint.model,
                    prompt=request.prompt.id,
                    version=request.prompt.version,
                    attempt=reask,
                    mode=mode,
                    messages=messages,
                    body=body,
                )
                entries.append(self._calls.put(entry) if self._calls else entry)

            errand = Errand(request.purpose, request.subject, mode, keep)
            with suppress(UnusableReplyError):
                ask(request.schema, mode, bare, lambda sent: self._post(sent, errand).body)

        self._first_accepted(self.profile.modes, send)
        return entries[0]

    def _first_accepted(self, modes: Sequence[M], send: Callable[[M], R]) -> R:
        """Return ``send(mode)`` for the first mode that is not refused; refusals are remembered."""
        from gateway.wire import AttemptError

        left = [mode for mode in modes if mode not in self.refused_modes]
        for mode in left[:-1]:
            try:
                return send(mode)
            except AttemptError as failure:
                if not failure.format_refused:
                    raise self._error(failure) from failure
                self.refused_modes[str(mode)] = failure.message
        try:
            return send(left[-1] if left else modes[-1])
        except AttemptError as failure:
            raise self._error(failure) from failure

    def _post(self, request: Mapping[str, Any], errand: Errand) -> Bought:
        if self._wire is None:
            raise GatewayError(
                f"no address is set at which {self.name} could be asked.",
                "Set ALMANAC_BASE_URL (and ALMANAC_API_KEY), or pass --base-url.",
                reason="unconfigured",
            )
        return self._wire.post(request, errand)

    def _request(
        self, messages: Sequence[Mapping[str, str]], temperature: float | None, max_tokens: int
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": list(messages),
            self.profile.reply_limit: max_tokens,
        }
        if temperature is not None and self.profile.temperature:
            request["temperature"] = temperature
        return request

    def _error(self, failure: AttemptError) -> GatewayError:
        return GatewayError(
            f"{self.name} could not be asked: {failure.message}.".replace("..", "."),
            _REMEDIES.get(failure.reason, ""),
            reason=failure.reason,
        )


_REASK = (
    "Your reply could not be used: {problem}\n"
    "Answer the same question again with one JSON object that fits the schema."
)

_REMEDIES = {
    "timeout": "Try again later; what was bought so far is kept.",
    "connection": "Check ALMANAC_BASE_URL and that the server is running.",
    "rate_limited": "Try again later, or with less concurrency; what was bought so far is kept.",
    "server": "Try again later; what was bought so far is kept.",
    "denied": "Check ALMANAC_API_KEY and the model's name.",
    "request": "The server does not take this request; check the model's name and address.",
    "context": "The conversation is longer than the model can read.",
    "malformed": "Check that ALMANAC_BASE_URL leads to an OpenAI-compatible server.",
}


def _format(mode: Mode | None, schema: dict[str, Any] | None) -> dict[str, Any]:
    if schema is None or mode is None:
        return {}
    if mode == "JSON":
        return {"response_format": {"type": "json_object"}}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}}
