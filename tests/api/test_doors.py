"""The agent door and the curator door, over real HTTP on loopback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.agent_app import agent_app
from api.agent_client import AgentSeat, CuratorClient, DoorError
from api.curator_app import curator_app
from api.store import Store
from environments.families import family
from environments.task import Options, Reply, Task
from tests.api.doors import Shelf, now, served, shelf

CALL_CAP = 64


@dataclass
class House:
    """Both doors, their database, and a key."""

    shelf: Shelf
    store: Store
    agent: str
    curator: str
    key: str

    @contextmanager
    def client(self) -> Iterator[CuratorClient]:
        client = CuratorClient(self.curator, self.key)
        yield client
        client.close()

    @contextmanager
    def seat(self, token: str, agent: str = "") -> Iterator[AgentSeat]:
        seat = AgentSeat(agent or self.agent, token)
        yield seat
        seat.close()

    def episode(self, task: Task, protocol: str = "adaptive") -> tuple[str, str]:
        with self.client() as client:
            identity, token, _ = client.create_episode("2026.11.0", task.row.id, protocol, 0)
        return identity, token


@pytest.fixture(scope="module")
def releases() -> Shelf:
    return shelf()


@pytest.fixture
def house(tmp_path: Path, releases: Shelf) -> Iterator[House]:
    store = Store(tmp_path / "service.db")
    with served(agent_app(store, lambda _: releases, now)) as agent:  # type: ignore[arg-type, return-value]
        door = curator_app(store, lambda _: releases, agent, now)  # type: ignore[arg-type, return-value]
        with served(door) as curator:
            yield House(releases, store, agent, curator, store.create_key("evaluate", now()))
    store.close()


def _get(url: str, token: str, method: str = "GET", **kwargs: Any) -> httpx2.Response:
    with httpx2.Client(trust_env=False) as client:
        headers = {"Authorization": f"Bearer {token}", **kwargs.pop("headers", {})}
        return client.request(method, url, headers=headers, **kwargs)


def _act(house: House, token: str, content: bytes, key: str = "k") -> httpx2.Response:
    return _get(f"{house.agent}/v1/actions", token, "POST", content=content, headers={"Idempotency-Key": key})


def _reference(task: Task, seat: AgentSeat, protocol: str) -> None:
    options = Options(setting=task.row.setting, protocol=protocol)
    policy = family("law").reference(task.definition, options)
    policy.start(seat.brief, seat.tools)
    last: Reply | None = None
    step = 0
    while not seat.done and (action := policy.act(last)) is not None:
        last = seat.call(*action, key=f"step-{step}")
        step += 1


@pytest.mark.parametrize("protocol", ["prior", "fixed:4", "adaptive"])
def test_the_reference_wins_through_the_doors(house: House, protocol: str) -> None:
    """An episode made, played and scored through the doors gives the reference full marks."""
    for task in house.shelf.held:
        identity, token = house.episode(task, protocol)
        with house.seat(token) as seat, house.client() as client:
            _reference(task, seat, protocol)
            score = client.score(identity)
        assert (score.status, score.headline, score.passed) == ("scored", 1.0, {"weak": True, "strict": True})


def test_a_score_never_appears_at_the_agent_door(house: House) -> None:
    """A commit is acknowledged, never scored."""
    task = house.shelf.of("original", "discovery")
    _, token = house.episode(task, "prior")
    with house.seat(token) as seat:
        _reference(task, seat, "prior")
    text = _get(f"{house.agent}/v1/episode", token).text.lower()
    assert "headline" not in text
    assert 'strict":' not in text


COMMON = [
    "/", "/openapi.json", "/docs", "/redoc", "/admin", "/health", "/metrics", "/v1", "/v1/", "/v1/episodes",
    "/v1/episode/", "/v1/actions/1", "/reset", "/v1/tasks", "/.git/config", "/v1/score", "/favicon.ico",
]  # fmt: skip


def test_every_other_route_answers_the_same(house: House) -> None:
    """Unknown routes, wrong methods and bad tokens are one and the same 404; probes are counted."""
    identity, token = house.episode(house.shelf.held[0])
    answers = [_get(f"{house.agent}{path}", token) for path in COMMON]
    answers += [_get(f"{house.agent}/v1/episode", token, m) for m in ("POST", "PUT", "DELETE", "OPTIONS")]
    counted = len(answers)
    answers += [_get(f"{house.agent}/v1/episode", "wrong"), _get(f"{house.agent}/v1/actions", "x", "POST")]
    seen = {(a.status_code, a.content, tuple(sorted(a.headers.items()))) for a in answers}
    assert len(seen) == 1
    assert answers[0].status_code == 404
    assert house.store.probes(identity) == counted


def test_head_and_two_tokens_open_nothing(house: House) -> None:
    """HEAD is no route, and of two Authorization headers neither counts, whichever comes first."""
    identity, token = house.episode(house.shelf.held[0])
    url = f"{house.agent}/v1/episode"
    assert _get(url, token, "HEAD").status_code == 404
    assert house.store.probes(identity) == 1
    with httpx2.Client(trust_env=False) as client:
        for pair in ((token, "other"), ("other", token), (token, token)):
            answer = client.get(url, headers=[("Authorization", f"Bearer {text}") for text in pair])
            assert (answer.status_code, answer.content) == (404, b'{"error":"not found"}')


BODIES = [
    b"", b"null", b"[]", b"{", b'{"tool": 1}', b'{"args": {}}', b'{"tool": "nope", "args": {}}',
    b'{"tool": "complete"}', b'{"tool": "complete", "args": []}', b'{"tool": "complete", "args": {"x": NaN}}',
    b'{"tool": "complete", "args": {}, "more": 1}', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000,
    b'{"tool": "complete", "args": {"x": 1e999}}', b'{"tool": "complete", "args": {"x": ' + b"9" * 99 + b"}}",
    b'{"tool": "propose_experiment", "args": {"inputs": {"a": "b"}}}',
    b'{"tool": "complete", "args": {"x": "' + b"a" * 300_000 + b'"}}',
    b"a" * 600_000,
]  # fmt: skip


def test_bad_actions_are_refused_in_the_answer(house: House) -> None:
    """A bad action on a good token is 200 with ok false and a reason, and the session lives on."""
    _, token = house.episode(house.shelf.held[0])
    for index, body in enumerate(BODIES):
        answer = _act(house, token, body, key=f"k{index}")
        assert answer.status_code == 200, body[:40]
        value = answer.json()
        assert value["ok"] is False
        assert value["error"]["message"]
        assert value["done"] is False
    assert len(house.store.events(house.store.episode_by_token(token, now()).id)) < len(BODIES)  # type: ignore[union-attr]


def test_an_action_without_a_key_is_not_carried_out(house: House) -> None:
    """The message names the header; nothing is charged."""
    _, token = house.episode(house.shelf.held[0])
    value = _act(house, token, b'{"tool": "complete", "args": {}}', key="").json()
    assert "dempotency" in value["error"]["message"]
    assert value["remaining"] == {"calls": CALL_CAP}


def test_twins_look_alike(house: House) -> None:
    """Briefs, tools, errors and headers of twins are byte-equal in every protocol and setting."""
    for setting in ("identification", "discovery"):
        for protocol in ("prior", "fixed:4", "adaptive"):
            seen = []
            for variant in ("original", "counterfactual"):
                _, token = house.episode(house.shelf.of(variant, setting), protocol)
                answers = [_get(f"{house.agent}/v1/episode", token)]
                answers += [_act(house, token, body, key=f"k{i}") for i, body in enumerate(BODIES)]
                seen.append([(a.status_code, a.content, sorted(a.headers.items())) for a in answers])
            assert seen[0] == seen[1]


def test_a_restart_continues_with_an_exact_budget(house: House) -> None:
    """A door that starts anew on the same database goes on where the last one stopped."""
    task = house.shelf.of("counterfactual", "discovery")
    _, token = house.episode(task)
    refused = b'{"tool": "propose_experiment", "args": {}}'
    for index in range(3):
        _act(house, token, refused, key=f"k{index}")
    door = agent_app(house.store, lambda _: house.shelf, now)  # type: ignore[arg-type, return-value]
    with served(door) as again, house.seat(token, again) as seat:
        assert seat.remaining == {"calls": CALL_CAP - 3}
        replayed = seat.call("propose_experiment", {}, "k2")
        assert replayed.remaining == {"calls": CALL_CAP - 3}
        assert seat.call("propose_experiment", {}, "k9").remaining == {"calls": CALL_CAP - 4}


def test_concurrent_calls_charge_once_per_key(house: House) -> None:
    """Sixty-four calls of eight threads with sixteen keys charge sixteen times, two doors racing."""
    _, token = house.episode(house.shelf.held[0])
    body = b'{"tool": "propose_experiment", "args": {}}'
    with served(agent_app(house.store, lambda _: house.shelf, now)) as other:  # type: ignore[arg-type, return-value]

        def call(index: int) -> dict[str, Any]:
            door = (house.agent, other)[index % 2]
            headers = {"Idempotency-Key": f"k{index % 16}"}
            value: dict[str, Any] = _get(
                f"{door}/v1/actions", token, "POST", content=body, headers=headers
            ).json()
            return value

        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(call, range(64)))
    assert all(reply["ok"] is False for reply in replies)
    for key in range(16):
        assert len({str(replies[i]) for i in range(64) if i % 16 == key}) == 1
    assert min(reply["remaining"]["calls"] for reply in replies) == CALL_CAP - 16


def test_the_agent_door_imports_no_judge() -> None:
    """Neither the door nor an opened session brings a judge into the process."""
    code = (
        "import sys, api.agent_app, api.sessions\n"
        "from environments.families import family\n"
        "print([m for m in sys.modules if 'judge' in m or m.startswith(('evaluation', 'curation'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_curator_door_wants_a_key(house: House) -> None:
    """Without a key nothing is read or made; the answer says how to get one."""
    for path in ("/v1/tasks", "/v1/episodes/x/record", "/v1/episodes/x/score"):
        answer = _get(f"{house.curator}{path}", "wrong")
        assert answer.status_code == 401
        assert "almanac key create" in answer.json()["detail"]
    answer = _get(
        f"{house.curator}/v1/episodes", "wrong", "POST", json={"task": "0" * 16, "protocol": "prior"}
    )
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"task": "0" * 16, "protocol": "prior"}, 422),
        ({"task": "../etc/passwd", "protocol": "prior"}, 422),
        ({"protocol": "prior"}, 422),
        ({"task": "0" * 16, "protocol": "prior", "repetition": -1}, 422),
        ("not an object", 422),
    ],
)
def test_bad_requests_for_episodes_are_named(house: House, body: Any, status: int) -> None:
    """A request that cannot be met gets a problem that says what to change, and makes nothing."""
    answer = _get(f"{house.curator}/v1/episodes", house.key, "POST", json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert house.store.audit_lines() == []


def test_an_unknown_protocol_is_refused_when_the_episode_is_made(house: House) -> None:
    """The player never meets a protocol that does not exist."""
    for protocol in ("fixed:3000", "wild", "fixed:", "prior "):
        task = house.shelf.held[0].row.id
        answer = _get(
            f"{house.curator}/v1/episodes", house.key, "POST", json={"task": task, "protocol": protocol}
        )
        assert answer.status_code == 422, protocol


def test_an_open_episode_has_a_record_but_no_score(house: House) -> None:
    """A score is given when the episode is over, not before."""
    identity, token = house.episode(house.shelf.held[0])
    _act(house, token, b'{"tool": "propose_experiment", "args": {}}')
    with house.client() as client:
        record = client.record(identity)
        with pytest.raises(DoorError, match="not over"):
            client.score(identity)
    assert [event.tool for event in record.events] == ["propose_experiment"]


def test_a_door_that_is_away_is_named() -> None:
    """The client says which address did not answer, after a bounded number of attempts."""
    waits: list[float] = []
    with pytest.raises(DoorError, match=r"http://127\.0\.0\.1:9 did not answer"):
        AgentSeat("http://127.0.0.1:9", "token", sleep=waits.append)
    assert len(waits) == 4
