"""Clients of the two doors: what an evaluator elsewhere plays and reads through."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx2

from cards.errors import AlmanacError, InputError
from environments.task import JSON, Ending, Record, Reply, Score, Tool

TIMEOUT_SECONDS = 60.0
ATTEMPTS = 5


class DoorError(AlmanacError):
    """A door that could not be reached, or answered with something that is not an answer."""


class AgentSeat:
    """One episode at the agent door.

    Args:
        base_url: the door's address.
        token: the episode's bearer token.
        sleep: waits between attempts; every attempt of one action carries the same key.

    Raises:
        DoorError: when the door does not answer, or knows no such token.
    """

    def __init__(self, base_url: str, token: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._http = _Http(base_url, token, sleep)
        try:
            shown = self._http.get("/v1/episode")
        except DoorError:
            self._http.close()
            raise
        self.brief: dict[str, JSON] = shown["brief"]
        self.tools = [Tool.model_validate({"charge": {}, **tool}) for tool in shown["tools"]]
        self.remaining: dict[str, int] = shown["remaining"]
        self.done: bool = shown["done"]

    def call(self, tool: str, args: JSON, key: str) -> Reply:
        """Carry out one action at most once, however often the connection breaks."""
        body = {"tool": tool, "args": args}
        reply = Reply.model_validate(self._http.post("/v1/actions", body, {"Idempotency-Key": key}))
        self.remaining, self.done = reply.remaining, reply.done
        return reply

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


class CuratorClient:
    """The curator door, for an orchestrator that holds a key with scope ``evaluate``."""

    def __init__(self, base_url: str, key: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._http = _Http(base_url, key, sleep)

    def tasks(self, release: str) -> dict[str, Any]:
        """Return {version, manifest, window, rows} of a release."""
        return self._http.get("/v1/tasks", {"release": release})

    def create_episode(self, release: str, task: str, protocol: str, repetition: int) -> tuple[str, str, str]:
        """Create one episode and return (episode id, token, address of the agent door)."""
        body = {"release": release, "task": task, "protocol": protocol, "repetition": repetition}
        made = self._http.post("/v1/episodes", body, {})
        return made["episode"], made["token"], made["agent_url"]

    def record(self, episode: str) -> Record:
        """Return an episode's record."""
        return Record.model_validate(self._http.get(f"/v1/episodes/{episode}/record")["record"])

    def score(self, episode: str) -> Score:
        """Return a finished episode's score."""
        return Score.model_validate(self._http.get(f"/v1/episodes/{episode}/score"))

    def verdict(self, episode: str, ending: Ending) -> dict[str, Any]:
        """Return {score, cluster, facets}; ``ending`` says why an episode that is still open stops here."""
        return self._http.get(f"/v1/episodes/{episode}/verdict", {"ending": ending})

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


class _Http:
    def __init__(self, base_url: str, bearer: str, sleep: Callable[[float], None]) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise InputError(f"{base_url!r} is not an address.", "It must begin with http:// or https://.")
        headers = {"Authorization": f"Bearer {bearer}"}
        # Reading the system's certificates takes longer than an episode; plain http needs none of them.
        verify = base_url.startswith("https://")
        self._client = httpx2.Client(
            base_url=base_url, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False, verify=verify
        )
        self._sleep = sleep
        self._base_url = base_url

    def get(self, path: str, query: dict[str, str] | None = None) -> dict[str, Any]:
        return self._ask("GET", path, params=query or {})

    def post(self, path: str, body: JSON, headers: dict[str, str]) -> dict[str, Any]:
        return self._ask("POST", path, json=body, headers=headers)

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, **kwargs: Any) -> dict[str, Any]:
        trouble = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self._sleep(0.1 * 2**attempt)
            try:
                answer = self._client.request(method, path, **kwargs)
            except httpx2.TransportError as error:
                trouble = f"{type(error).__name__}: {error}"
                continue
            if answer.status_code < 500:
                return self._read(path, answer)
            trouble = f"status {answer.status_code}"
        remedy = "Check that `almanac serve` runs and that the address is right."
        raise DoorError(f"{self._base_url} did not answer after {ATTEMPTS} attempts ({trouble}).", remedy)

    def _read(self, path: str, answer: httpx2.Response) -> dict[str, Any]:
        try:
            value = answer.json()
        except ValueError as error:
            raise DoorError(f"{self._base_url}{path} answered something that is not JSON.") from error
        if answer.status_code >= 400:
            detail = value.get("detail") or value.get("error") or "refused"
            raise DoorError(f"{self._base_url}{path} answered {answer.status_code}: {detail}.")
        if not isinstance(value, dict):
            raise DoorError(f"{self._base_url}{path} answered something that is not an object.")
        return value
