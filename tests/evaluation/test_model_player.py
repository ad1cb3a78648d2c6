"""The model player: all three protocols over real HTTP, faults, endings, resumption, a real small model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cards.store import historical
from environments.law.family import LAW
from environments.session import Session
from environments.task import JSON, Options, Reply, Task
from evaluation.episode import EpisodeRow
from evaluation.plan import Selection, make_plan
from evaluation.players.action import action_schema, expression_document, law_talk, read_action
from evaluation.players.model import ModelHand, ModelPlayer, Play, Question, model_player
from evaluation.players.roles import Role, shipped_roles
from evaluation.players.turn import UnreadableError
from evaluation.run import Run, create_run
from evaluation.score import read_rows
from gateway.client import Gateway, Limits, system_clock
from gateway.ledger import Ledger
from gateway.prompt import Prompt
from gateway.reply import ChatReply, Usage
from tests.evaluation.model_gateway import gateway_at
from tests.evaluation.scientist import scientist
from tests.evaluation.stand_in import FamilyVenue
from tests.fakes.model_server import Ask, Fault, ModelServer

RELEASE = {"version": "2026.11.0", "sha256": "cd" * 32, "window": ""}


@cache
def tasks() -> tuple[Task, ...]:
    """Return the four tasks of one law family, built once."""
    card = next(card for card in historical() if card.id == "arrhenius")
    return tuple(LAW.build([card], {}, b"k" * 32))


def play_run(
    folder: Path, gateway: Gateway, play: Play, selection: Selection, player: ModelPlayer | None = None
) -> list[EpisodeRow]:
    """Play a plan, or what is left of it, and return its rows."""
    player = player or model_player(gateway, play)
    if not (folder / "manifest.json").exists():
        rows = [task.row for task in tasks()]
        create_run(folder, make_plan(RELEASE, rows, player, selection), datetime(2026, 11, 30, tzinfo=UTC))
    Run(folder, player, FamilyVenue(tasks()), now=lambda: datetime.now(UTC)).play()
    return read_rows(folder)


def test_twelve_slots_under_faults_end_with_the_right_status_and_ledger(tmp_path: Path) -> None:
    """Issue: 12 slots with 429, 500, garbage, half a JSON and a hang: right statuses, right ledger rows."""
    folder = tmp_path / "run"
    faults = [
        Fault.status(429, retry_after=0),
        Fault.status(500),
        Fault.garbage(),
        Fault.half_content(),
        Fault.half_json(),
        Fault.hang(),
    ]
    with ModelServer(scientist) as server, gateway_at(server.base_url, folder) as gateway:
        server.inject(faults)
        rows = play_run(folder, gateway, Play(max_tokens=900), Selection())
    assert len(rows) == 12
    assert {(row.status, row.ending, row.protocol_ok) for row in rows} == {("scored", "completed", True)}
    solved = {(row.setting, row.protocol.split(":")[0], row.facets["variant"]): row.passed for row in rows}
    for (setting, protocol, variant), passed in solved.items():
        knows = setting == "identification" and (protocol != "prior" or variant == "original")
        assert passed == {"weak": knows, "strict": knows}, (setting, protocol, variant)
    # Prior and fixed: one reply; adaptive: two; and the one whose content was cut in half.
    entries = Ledger(folder / "ledger.jsonl", system_clock().now).entries()
    assert Counter((entry.status, entry.reason) for entry in entries) == {
        ("settled", None): 4 + 4 + 8 + 1,
        ("failed", "rate_limited"): 1,
        ("failed", "server"): 1,
        ("failed", "malformed"): 2,
        ("failed", "timeout"): 1,
    }
    assert [entry.status for entry in entries[:7]] == [
        "failed",
        "failed",
        "failed",
        "settled",
        "failed",
        "failed",
        "settled",
    ]
    assert sum(row.usage.calls for row in rows) == len(server.purchases) == 17
    assert sum(row.usage.tokens_in for row in rows) == sum(entry.tokens_in or 0 for entry in entries)
    assert {entry.subject for entry in entries} == {row.slot[:16] for row in rows}


def test_a_provider_that_stays_down_leaves_owed_errors_and_buys_nothing_twice(
    tmp_path: Path,
) -> None:
    """Evaluation 3: status error is owed again; a resumed episode takes journalled replies first."""
    folder = tmp_path / "run"
    selection = Selection(settings=("identification",), protocols=("adaptive",))
    limits = Limits(attempts=1, call_seconds=1)

    def dies_after_one(ask: Ask) -> str | Fault:
        return scientist(ask) if ask.number == 1 else Fault.status(503)

    with ModelServer(dies_after_one) as server, gateway_at(server.base_url, folder, limits) as gateway:
        rows = play_run(folder, gateway, Play(), selection)
        assert [row.status for row in rows] == ["error", "error"]
        assert rows[0].findings[0].startswith("provider: fake/m could not be asked: HTTP 503")
        assert len(server.purchases) == 1
    with ModelServer(scientist) as server, gateway_at(server.base_url, folder, limits) as gateway:
        rows = play_run(folder, gateway, Play(), selection)
        assert [row.status for row in rows] == ["scored", "scored"]
        assert all(row.passed["strict"] for row in rows)
        assert len(server.purchases) == 3
    assert sum(row.usage.calls for row in rows) == 4


ENDINGS: dict[str, tuple[Callable[[Ask], str | Fault], str, int]] = {
    "refusal": (lambda ask: Fault.refusal(), "refusal", 1),
    "context": (lambda ask: Fault.status(400, error_code="context_length_exceeded"), "context", 0),
    "never an action": (lambda ask: "I am thinking.", "unfinished", 3),
    "wrong action for ever": (lambda ask: '{"tool": "look", "args": {}}', "turn_cap", 5),
    "empty": (lambda ask: "", "unfinished", 3),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_episode_that_the_model_does_not_finish_is_missing_with_its_ending(
    tmp_path: Path, name: str
) -> None:
    """Evaluation 3: refusal, context, turn cap and endless nonsense are missing, each with its ending."""
    rule, ending, bought = ENDINGS[name]
    with ModelServer(rule) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        selection = Selection(settings=("discovery",), protocols=("adaptive",), limit=1)
        (row,) = play_run(tmp_path / "run", gateway, Play(turns=5), selection)
    assert (row.status, row.ending, row.usage.calls) == ("missing", ending, bought)


def test_an_unreadable_reply_is_answered_with_the_problem_and_costs_no_action(tmp_path: Path) -> None:
    """Unparsable arguments are never run as {}: the model is told and asked again."""

    def rule(ask: Ask) -> str:
        if ask.number <= 2:
            return '{"tool": "complete"}'
        assert "is no action" in ask.messages[-1]["content"]
        return scientist(ask)

    with ModelServer(rule) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        selection = Selection(settings=("discovery",), protocols=("prior",), limit=1)
        (row,) = play_run(tmp_path / "run", gateway, Play(), selection)
    assert (row.status, row.events, row.usage.calls) == ("scored", 1, 3)


def test_a_predictor_that_cannot_be_read_is_handed_in_as_it_is(tmp_path: Path) -> None:
    """Laws 2: no repair; what the model wrote is judged invalid, with the path."""

    def rule(ask: Ask) -> str:
        turn = json.loads(scientist(ask))
        turn["args"]["predictor"][0]["expression"] = "__import__('os').getcwd()"
        return json.dumps(turn)

    with ModelServer(rule) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        selection = Selection(settings=("identification",), protocols=("prior",), limit=1)
        (row,) = play_run(tmp_path / "run", gateway, Play(), selection)
    assert (row.status, row.ending, row.passed["weak"]) == ("invalid", "completed", False)


def test_one_prompt_serves_all_protocols_and_twins_are_asked_the_same(tmp_path: Path) -> None:
    """Laws 5: one system prompt; nothing that goes to a model tells original from counterfactual."""
    with ModelServer(scientist) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        rows = play_run(tmp_path / "run", gateway, Play(), Selection(protocols=("prior", "adaptive")))
    assert {ask.messages[0]["content"] for ask in server.asks} == {shipped_roles()["law"].prompt.text}
    firsts: dict[tuple[str, str], set[str]] = {}
    openings = [ask for ask in server.asks if len(ask.messages) == 2]
    for row, ask in zip(rows, openings, strict=True):
        firsts.setdefault((row.setting, row.protocol), set()).add(json.dumps(ask.body))
    assert len(firsts) == 4
    assert all(len(bodies) == 1 for bodies in firsts.values())
    everything = "".join(json.dumps(ask.body) for ask in server.asks).lower()
    assert not [word for word in ("counterfactual", "arrhenius", "mutat") if word in everything]


def test_the_same_replies_always_lead_to_the_same_play() -> None:
    """Resumption: a hand is a function of the replies; it holds no clock and no chance."""
    task = tasks()[0]
    options = Options(setting=task.row.setting, protocol="fixed:4")
    replies = [
        "nonsense",
        '{"tool": "complete", "args": {}}',
        '{"tool": "read_observations", "args": {}}',
        "",
    ]

    def conversation() -> list[Any]:
        said = iter(replies * 3)
        log: list[Any] = []

        def ask(question: Question) -> ChatReply:
            log.append([message.as_json() for message in question.messages])
            return ChatReply(text=next(said), finish="stop", usage=Usage(), model="m")

        hand = ModelHand(ask, Role("law", Prompt("p", 1, "play\n"), law_talk), Play(turns=9))
        session = Session(LAW.open(task.definition, options, b""), options)
        hand.start(session.brief, session.tools)
        last: Reply | None = None
        while (action := hand.act(last)) is not None:
            last = session.call(*action, key=f"a{len(session.events)}")
            log.append(action)
        return [*log, hand.ending, hand.usage]

    assert conversation() == conversation()


UNREADABLE = {
    "prose": "Let me think about it.",
    "a list": "[1, 2]",
    "cut off": '{"tool": "complete", "args": {"selec',
    "no tool": '{"args": {}}',
    "no args": '{"tool": "complete"}',
    "args as text": '{"tool": "complete", "args": "{}"}',
    "no predictor": '{"tool": "complete", "args": {"hypotheses": [], "selected": "h1"}}',
    "an observable twice": json.dumps(
        {
            "tool": "complete",
            "args": {"predictor": [{"observable": "y", "expression": "1"}] * 2, "hypotheses": []},
        }
    ),
    "a key twice": '{"tool": "look", "tool": "complete", "args": {}}',
    "not a number": '{"tool": "look", "args": {"x": NaN}}',
    "deep": '{"tool": "look", "args": ' + '{"a":' * 100_000 + "1" + "}" * 100_001,
    "half a character": '{"tool": "look\\ud800", "args": {}}',
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_action_is_refused_with_a_reason(name: str) -> None:
    """A model server's garbage, half a JSON and hostile nesting are problems in words, never actions."""
    with pytest.raises(UnreadableError) as caught:
        read_action(UNREADABLE[name])
    assert 0 < len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "wrap", ["{}", "```json\n{}\n```", "<think>{{a brace}}</think>\n{}", "Here you are: {}\nGood luck."]
)
def test_an_action_is_found_in_fences_and_after_thoughts(wrap: str) -> None:
    """Models without structured output wrap their JSON; the object alone counts."""
    turn = '{"tool": "complete", "args": {"predictor": [{"observable": "y", "expression": "2*a"}],'
    turn += ' "hypotheses": [{"id": "h1", "statement": "y = 2 a", "confidence": 1, "forecasts": []}],'
    turn += ' "selected": "h1", "explanation": "doubling", "conditions": []}}'
    action = read_action(wrap.replace("{}", turn).replace("{{", "{").replace("}}</", "}</"))
    assert action.tool == "complete"
    assert action.args["predictor"] == {"y": {"op": "mul", "args": [2.0, {"var": "a"}]}}
    assert action.args["hypotheses"] == [{"id": "h1", "statement": "y = 2 a", "confidence": 1}]


@pytest.mark.parametrize(
    ("written", "document"),
    [
        ("a^2", {"op": "pow", "args": [{"var": "a"}, 2.0]}),
        ('{"op": "neg", "args": [{"var": "a"}]}', {"op": "neg", "args": [{"var": "a"}]}),
        ({"var": "a"}, {"var": "a"}),
        (3, 3),
        (None, None),
        ("a +", "a +"),
        ("frobnicate(a)", "frobnicate(a)"),
        ("9**9**9**9)", "9**9**9**9)"),
        ('{"op": ', '{"op": '),
    ],
)
def test_expressions_become_documents_or_stay_as_they_are(written: JSON, document: JSON) -> None:
    """Infix and trees are both understood; what is neither goes on unrepaired."""
    assert expression_document(written) == document


def test_the_wire_schema_keeps_to_what_every_provider_takes() -> None:
    """Ingestion 4, measured: no unions, no free-form objects, every field required."""

    def check(node: Any) -> None:
        assert not {"oneOf", "anyOf", "allOf", "$ref", "patternProperties"} & set(node)
        if node["type"] == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
            for child in node["properties"].values():
                check(child)
        elif node["type"] == "array":
            check(node["items"])

    for tools in (["complete"], ["propose_experiment", "complete"]):
        schema = action_schema(tools)
        check(schema)
        assert schema["properties"]["tool"]["enum"] == tools
