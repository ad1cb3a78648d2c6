"""The gateways that curation's stages ask, composed of settings and params.yaml."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from api.workspace import Workspace
from gateway.calls import CallStore
from gateway.client import Gateway
from gateway.completion import model_in
from gateway.endpoint import Endpoint, system_clock
from gateway.ledger import Ledger

STAGES = ("extract", "review")


def answered_by(workspace: Workspace) -> Callable[[str], str]:
    """Return a function from a stored reply's key to what the model that answered called itself."""
    calls = CallStore(workspace.calls)

    def name(key: str) -> str:
        entry = calls.get(key)
        return model_in(entry.body) if entry else ""

    return name


def gateways(workspace: Workspace, params: Mapping[str, Any], *, buy: bool) -> dict[str, Gateway]:
    """Return one gateway for each stage that params.yaml names a model for.

    Args:
        workspace: whose call store and ledger are used.
        params: params.yaml, parsed; a model is written NAME or PROVIDER/NAME.
        buy: with False only the call store is read, and no address is known.
    """
    settings, clock = workspace.settings, system_clock()
    made = {}
    for stage in STAGES:
        name = params[stage]["model"]
        if not name:
            continue
        provider, slash, model = str(name).partition("/")
        if not slash:
            provider, model = "openai", provider
        address = settings.base_url if buy else None
        made[stage] = Gateway(
            Endpoint(provider, model, address, settings.api_key or None),
            ledger=Ledger(workspace.ledger, clock.now) if buy else None,
            calls=CallStore(workspace.calls),
            clock=clock,
            rng=random.Random(),
        )
    return made
