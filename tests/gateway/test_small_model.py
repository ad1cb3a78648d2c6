"""The gateway against a real, very small model: transport, schema, usage, context limit."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from cards.errors import GatewayError
from gateway.client import Limits
from gateway.request import Message, Sampling, StructuredRequest
from tests.fakes.small_model import MODEL, small_model
from tests.gateway.conftest import PROMPT, Bench


class Colour(BaseModel):
    """A short answer."""

    name: Annotated[str, Field(max_length=12)]
    warm: bool


def test_a_real_model_answers_in_form_and_says_when_it_is_asked_too_much(bench: Bench) -> None:
    """A real OpenAI-compatible server: schema-constrained reply, usage, replay, typed context overflow."""
    messages = (Message("user", "Name one colour. Is it warm?"),)
    request = StructuredRequest("measure", PROMPT, messages, Colour, Sampling(max_tokens=48))
    with small_model(context=512) as base_url:
        gateway = bench.gateway(base_url, Limits(call_seconds=60), model=MODEL)
        reply = gateway.structured(request)
        assert reply.mode == "JSON_SCHEMA"
        assert reply.usage.tokens_in
        assert reply.usage.tokens_out
        said = gateway.chat(messages, purpose="play", max_tokens=8)
        assert said.finish == "length"
        assert said.usage.tokens_out == 8
        with pytest.raises(GatewayError) as caught:
            gateway.chat([Message("user", "word " * 2000)], purpose="play", max_tokens=8)
        assert caught.value.reason == "context"
    replayed = bench.gateway(None, model=MODEL).replay(request)
    assert replayed is not None
    assert replayed.value == reply.value
