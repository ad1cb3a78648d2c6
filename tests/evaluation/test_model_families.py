"""A model plays worlds, games and organisms over real HTTP: whole successes, faults, endings, resumption."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from environments.families import FAMILIES
from environments.organism.predictions import TOLERANCE
from environments.pgm.query import DEFAULT_ROWS, FEWEST_ROWS, MOST_ROWS
from environments.task import Options, Task
from evaluation.episode import EpisodeRow
from evaluation.plan import Selection, make_plan
from evaluation.players.model import ModelPlayer, Play, Question, model_player
from evaluation.players.roles import Role, shipped_roles
from evaluation.players.turn import UnreadableError, read_turn, turn_schema
from evaluation.run import Run, create_run
from evaluation.score import read_rows
from gateway.client import Limits, system_clock
from gateway.ledger import Ledger
from gateway.profiles import is_closed
from gateway.prompt import Prompt
from gateway.reply import ChatReply
from tests.evaluation.model_gateway import gateway_at
from tests.evaluation.stand_in import FamilyVenue, StandIn, one_of_each_setting, open_session, tasks_of
from tests.fakes.model_server import Ask, Fault, ModelServer
from tests.fakes.small_model import MODEL, small_model

RELEASE = {"version": "2026.11.0", "sha256": "cd" * 32, "window": ""}
PLAYED = ("pgm", "drone", "organism")
EPISODES: dict[str, tuple[str, str]] = {
    "pgm": ("core_decision", "samp5k"),
    "drone": ("survival", "agentic"),
    "organism": ("diseased-medium", "session"),
}
"""An episode of more than one turn in each family."""


@cache
def stand_in(name: str) -> StandIn:
    """Return the model that knows one family's references."""
    return StandIn.of(one_of_each_setting(name))


def play_run(
    folder: Path, player: ModelPlayer, tasks: Iterable[Task], selection: Selection = Selection()
) -> list[EpisodeRow]:
    """Play a plan over ``tasks``, or what is left of it, and return its rows."""
    held = list(tasks)
    if not (folder / "manifest.json").exists():
        plan = make_plan(RELEASE, [task.row for task in held], player, selection)
        create_run(folder, plan, datetime(2026, 11, 30, tzinfo=UTC))
    Run(folder, player, FamilyVenue(held), now=lambda: datetime.now(UTC)).play()
    return read_rows(folder)


def play_one(
    folder: Path, name: str, rule: Callable[[Ask], str | Fault], play: Play = Play()
) -> tuple[EpisodeRow, ModelServer]:
    """Play the family's episode of ``EPISODES`` against a model."""
    setting, protocol = EPISODES[name]
    selection = Selection(settings=(setting,), protocols=(protocol,))
    with ModelServer(rule) as server, gateway_at(server.base_url, folder) as gateway:
        (row,) = play_run(folder, model_player(gateway, play), one_of_each_setting(name), selection)
    return row, server


@pytest.mark.parametrize("name", PLAYED)
def test_the_references_moves_win_every_setting_and_protocol(tmp_path: Path, name: str) -> None:
    """Evaluation 2: model players exist for every family; what they write reaches the session unchanged."""
    model = stand_in(name)
    with ModelServer(model) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        rows = play_run(tmp_path / "run", model_player(gateway), one_of_each_setting(name))
    assert {row.setting for row in rows} == set(FAMILIES[name].settings)
    for row in rows:
        assert (row.status, row.ending, row.passed["weak"]) == ("scored", "completed", True), row
        assert row.headline == model.headlines[row.task, row.protocol]
        assert row.usage.calls == row.events
    entries = Ledger(tmp_path / "run" / "ledger.jsonl", system_clock().now).entries()
    assert {entry.status for entry in entries} == {"settled"}
    assert len(entries) == len(server.purchases) == sum(row.usage.calls for row in rows)
    assert sum(row.usage.tokens_in for row in rows) == sum(entry.tokens_in or 0 for entry in entries)


FAULTS = {
    "429": Fault.status(429, retry_after=0),
    "500": Fault.status(500),
    "garbage": Fault.garbage(),
    "half a body": Fault.half_json(),
    "half a reply": None,
    "cut": Fault.cut(),
    "hang": Fault.hang(),
}


@pytest.mark.parametrize("name", PLAYED)
def test_faults_in_the_middle_of_an_episode_change_nothing_but_the_ledger(tmp_path: Path, name: str) -> None:
    """A failed call is asked again; half a reply is no action, is told so and costs the session nothing."""
    model = stand_in(name)
    faults = list(FAULTS.values())

    def rule(ask: Ask) -> str | Fault:
        # Every second request fails: between any two replies, and before the first.
        said = str(model(ask))
        fault = faults.pop() if ask.number % 2 and faults else said
        return said[: len(said) // 2] if fault is None else fault

    with ModelServer(rule) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        setting, protocol = EPISODES[name]
        selection = Selection(settings=(setting,), protocols=(protocol,), repetitions=4)
        rows = play_run(tmp_path / "run", model_player(gateway), one_of_each_setting(name), selection)
    assert {(row.status, row.passed["weak"]) for row in rows} == {("scored", True)}
    assert not faults
    entries = Ledger(tmp_path / "run" / "ledger.jsonl", system_clock().now).entries()
    failed = [entry.reason for entry in entries if entry.status == "failed"]
    assert sorted(map(str, failed)) == sorted(
        ["rate_limited", "server", "malformed", "malformed", "connection", "timeout"]
    )
    assert sum(row.usage.calls for row in rows) == len(server.purchases)
    assert sum(row.usage.calls for row in rows) == sum(row.events for row in rows) + 1


ENDINGS: dict[str, tuple[Callable[[Ask], str | Fault], str]] = {
    "refusal": (lambda ask: Fault.refusal(), "refusal"),
    "context": (lambda ask: Fault.status(400, error_code="context_length_exceeded"), "context"),
    "never an action": (lambda ask: "I am thinking.", "unfinished"),
    "no reason given": (lambda ask: '{"tool": "get_status", "args": {}}', "unfinished"),
    "arguments as text": (lambda ask: '{"rationale": "r", "tool": "query", "args": "{}"}', "unfinished"),
    "wrong action for ever": (lambda ask: '{"rationale": "r", "tool": "look", "args": {}}', "turn_cap"),
}


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("ending", ENDINGS)
def test_an_episode_that_is_not_finished_is_missing_with_its_ending(
    tmp_path: Path, name: str, ending: str
) -> None:
    """Evaluation 3: refusal, context, turn cap and endless nonsense are missing in every family."""
    rule, expected = ENDINGS[ending]
    row, _ = play_one(tmp_path / "run", name, rule, Play(turns=5))
    assert (row.status, row.ending, row.passed["weak"]) == ("missing", expected, False)
    assert row.events == (5 if expected == "turn_cap" else 0)


@pytest.mark.parametrize("name", PLAYED)
def test_context_that_overflows_after_the_first_turn_keeps_what_was_done(tmp_path: Path, name: str) -> None:
    """A conversation that grows too long ends the episode; it is no answer and no provider's error."""
    model = stand_in(name)

    def rule(ask: Ask) -> str | Fault:
        full = len(ask.messages) > 2
        return Fault.status(400, message="maximum context length is 10 tokens") if full else model(ask)

    row, _ = play_one(tmp_path / "run", name, rule)
    assert (row.ending, row.events, row.usage.calls) == ("context", 1, 1)


@pytest.mark.parametrize("name", PLAYED)
def test_a_provider_that_dies_in_mid_episode_is_resumed_without_buying_again(
    tmp_path: Path, name: str
) -> None:
    """After the first reply nothing more comes; the next run goes on behind it."""
    folder, model = tmp_path / "run", stand_in(name)
    setting, protocol = EPISODES[name]
    selection = Selection(settings=(setting,), protocols=(protocol,))
    limits = Limits(attempts=1, call_seconds=1)

    def dies(ask: Ask) -> str | Fault:
        return model(ask) if ask.number == 1 else Fault.status(503)

    with ModelServer(dies) as server, gateway_at(server.base_url, folder, limits) as gateway:
        (row,) = play_run(folder, model_player(gateway), one_of_each_setting(name), selection)
        assert (row.status, len(server.purchases)) == ("error", 1)
    with ModelServer(model) as server, gateway_at(server.base_url, folder, limits) as gateway:
        (row,) = play_run(folder, model_player(gateway), one_of_each_setting(name), selection)
        assert (row.status, row.passed["weak"]) == ("scored", True)
        assert len(server.purchases) == row.usage.calls - 1


def test_a_game_takes_several_actions_a_turn(tmp_path: Path) -> None:
    """Games: at most five tool calls a turn, a reason before each; answers come back together, numbered."""
    tasks = one_of_each_setting("drone")
    model = StandIn.of(tasks, at_once=True)
    with ModelServer(model) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        rows = play_run(tmp_path / "run", model_player(gateway), tasks, Selection(protocols=("agentic",)))
    assert [(row.passed["weak"], row.events, row.usage.calls) for row in rows] == [(True, 2, 1)]
    look = {"rationale": "r", "tool": "get_status", "args": {}}

    def rule(ask: Ask) -> str:
        bad = {"rationale": "r", "tool": "deploy_drone", "args": {"design": {"tail_def": 1}}}
        turns = [[look] * 6, [look, look], [look, bad, look, look]]
        return json.dumps({"actions": turns[min(ask.number, 3) - 1]})

    row, server = play_one(tmp_path / "second", "drone", rule, Play(turns=4))
    told = [ask.messages[-1]["content"] for ask in server.asks]
    assert "must be a list of 1 to 5 actions" in told[1]
    assert "The answer to action 1 of 2:" in told[2]
    assert "The answer to action 2 of 2:" in told[2]
    assert "The rest of your turn was dropped: 2 of its actions." in told[3]
    assert row.events == 2 + 2 + 2


def test_arguments_are_checked_by_the_session_and_never_replaced(tmp_path: Path) -> None:
    """Unparsable or wrong arguments are never run as {}: they are refused with their place."""
    wrong = [
        ("deploy_drone", {"design": [], "count": 3}),
        ("deploy_drone", {}),
        ("run_analysis", {"statistic": "everything"}),
        ("get_status", {"now": True}),
    ]

    def rule(ask: Ask) -> str:
        tool, args = wrong[min(ask.number, 4) - 1]
        return json.dumps({"rationale": "r", "tool": tool, "args": args})

    _, server = play_one(tmp_path / "run", "drone", rule, Play(turns=5))
    answers = [json.loads(ask.messages[-1]["content"].split("\n")[1]) for ask in server.asks[1:]]
    assert [answer["error"]["code"] for answer in answers] == ["malformed"] * 4
    assert {answer["remaining"]["calls"] for answer in answers} == {512}


def test_a_probe_is_its_question_and_the_whole_reply_its_answer(tmp_path: Path) -> None:
    """LUCA's probes are one prompt and one reply of limited length, without schema or envelope."""
    tasks = [task for task in one_of_each_setting("organism") if task.row.setting == "probe-1"]
    said = "<think>A?</think>\nB\n"
    with ModelServer(lambda ask: said) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        (row,) = play_run(tmp_path / "run", model_player(gateway), tasks)
    (ask,) = server.asks
    assert ask.messages[1]["content"].startswith(tasks[0].brief["prompt"])
    assert ask.body["max_tokens"] == tasks[0].brief["token_limit"] == 512
    assert "response_format" not in ask.body
    assert (row.status, row.headline) == ("scored", float(tasks[0].answer == "B"))


def _objects(text: str) -> list[str]:
    return [text, "```json\n" + text + "\n```", "<think>{hm}</think>" + text, "Well: " + text + "\nDone."]


@pytest.mark.parametrize("text", _objects('{"rationale": "r", "tool": "t", "args": {"a": [1]}}'))
def test_an_action_is_found_where_it_stands(text: str) -> None:
    """Models without structured output wrap their JSON; the object alone counts."""
    (action,) = read_turn(text)
    assert (action.tool, action.args) == ("t", {"a": [1]})


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("", 1),
        ("{}", 1),
        ('{"rationale": "", "tool": "t", "args": {}}', 1),
        ('{"rationale": "r", "tool": "t"}', 1),
        ('{"rationale": "r", "tool": "t", "args": null}', 1),
        ('{"actions": [{"rationale": "r", "tool": "t", "args": {}}]}', 1),
        ('{"actions": []}', 5),
        ('{"actions": {"tool": "t"}}', 5),
        ('{"actions": [7]}', 5),
        ('{"actions": [{"rationale": "r", "tool": "t", "args": {}}, {"tool": "t", "args": {}}]}', 5),
    ],
)
def test_what_is_no_turn_is_refused_whole(text: str, most: int) -> None:
    """One unreadable action spoils its turn: the others may rest on it."""
    with pytest.raises(UnreadableError):
        read_turn(text, most)


def test_an_open_schema_that_is_refused_leaves_closed_ones_alone(tmp_path: Path) -> None:
    """Strict dialects take closed schemas only: the next form is tried once, and laws keep their schema."""
    model = stand_in("pgm")
    kinds: list[str] = []

    def rule(ask: Ask) -> str | Fault:
        form = ask.body.get("response_format", {})
        kinds.append(form.get("type", "none"))
        if form.get("type") == "json_schema" and not is_closed(form["json_schema"]["schema"]):
            return Fault.status(400, message="Invalid schema for response_format 'reply'")
        return model(ask) if ask.messages[1]["content"] in model.replies else '{"tool": "no", "args": {}}'

    with ModelServer(rule) as server, gateway_at(server.base_url, tmp_path / "run") as gateway:
        player = model_player(gateway, Play(turns=1))
        play_run(tmp_path / "run", player, one_of_each_setting("pgm"), Selection(limit=2))
        assert kinds == ["json_schema", "json_object", "json_object"]
        play_run(tmp_path / "law", player, tasks_of("law")[:1], Selection(limit=1))
    assert kinds[3:] == ["json_schema"]


def test_schemas_say_what_the_sessions_take() -> None:
    """Every tool is offered with its own arguments; one tool with fixed fields makes a closed schema."""
    for name in PLAYED:
        for task in one_of_each_setting(name):
            for protocol in task.row.protocols:
                tools = open_session(task, Options(setting=task.row.setting, protocol=protocol)).tools
                schema = turn_schema(tools)
                assert schema["properties"]["tool"]["enum"] == [tool.name for tool in tools]
                shapes = schema["properties"]["args"].get("anyOf", [schema["properties"]["args"]])
                assert all(tool.parameters in shapes for tool in tools)
                assert is_closed(schema) == (task.row.setting.startswith("probe-"))


PROMPT_OF = {"pgm": "world", "drone": "game", "organism": "organism"}


@pytest.mark.parametrize("name", PLAYED)
def test_a_prompt_names_every_action_and_says_how_it_ends(name: str) -> None:
    """A prompt is true to the sessions that it introduces: all their tools, and no other quoted ones."""
    text = shipped_roles()[PROMPT_OF[name]].prompt.text
    offered: set[str] = set()
    for task in one_of_each_setting(name):
        if not task.row.setting.startswith("probe-"):
            offered |= {tool for tools in task.row.tools.values() for tool in tools}
    assert [tool for tool in sorted(offered) if f'"{tool}"' not in text] == []
    assert "How you are judged" in text


def test_the_numbers_in_the_prompts_are_those_of_the_rules() -> None:
    """What a prompt says of limits and tolerances follows the code."""
    roles = shipped_roles()
    assert f"within {TOLERANCE:g} of" in " ".join(roles["organism"].prompt.text.split())
    world = " ".join(roles["world"].prompt.text.split())
    assert f"{FEWEST_ROWS} to {MOST_ROWS} ({DEFAULT_ROWS} if" in world


def test_nothing_that_a_model_is_told_names_what_is_sealed() -> None:
    """No prompt, brief or schema tells scenario, archetype, tier or truth."""
    for name in PLAYED:
        tasks = [task for task in one_of_each_setting(name) if not task.row.setting.startswith("probe-")]
        told = "".join(StandIn.of(tasks).replies) + shipped_roles()[PROMPT_OF[name]].prompt.text
        for task in tasks:
            sealed = {task.facets.get(key, "") for key in ("scenario", "kind", "class", "group")}
            sealed |= {task.id for task in (task.row,)} | {task.cluster, task.seed, "confound", "collider"}
            assert [word for word in sealed if len(word) > 4 and word in told] == []


def test_a_slot_hangs_on_the_prompt_of_its_family_alone() -> None:
    """Another drone prompt makes other drone slots; slots of other families keep their keys."""
    tasks = [*one_of_each_setting("pgm"), *one_of_each_setting("drone")]
    before = shipped_roles()
    after = {**before, "game": replace(before["game"], prompt=Prompt("drone_player", 2, "Fly.\n"))}

    def keys(roles: dict[str, Role]) -> dict[str, set[str]]:
        player = ModelPlayer("fake/m", lambda question: pytest.fail("asked"), roles)
        plan = make_plan(RELEASE, [task.row for task in tasks], player, Selection())
        return {name: {slot.key for slot in plan.slots if slot.family == name} for name in ("pgm", "drone")}

    one, other = keys(before), keys(after)
    assert one["pgm"] == other["pgm"]
    assert not one["drone"] & other["drone"]


@pytest.mark.slow
def test_a_real_small_model_plays_every_family_without_an_exception(tmp_path: Path) -> None:
    """Issue: slots against a real small model server end without an exception; here in every role.

    One turn each under a short prompt: reading a long one takes a minute on a busy core and proves no more.
    """
    roles = {
        name: replace(role, prompt=Prompt("short", 1, "Answer with one JSON object.\n"))
        for name, role in shipped_roles().items()
    }
    rows: list[EpisodeRow] = []
    with small_model(context=8192) as base_url:
        limits = Limits(call_seconds=200)
        with gateway_at(base_url, tmp_path / "ledger", limits, model=MODEL) as gateway:

            def ask(question: Question) -> ChatReply:
                return gateway.chat(
                    question.messages, purpose="play", max_tokens=question.most_tokens, schema=question.schema
                )

            player = ModelPlayer(gateway.name, ask, roles, Play(turns=1, max_tokens=24))
            for name, (setting, protocol) in _SMALL.items():
                selection = Selection(settings=(setting,), protocols=(protocol,), limit=1)
                rows += play_run(tmp_path / name, player, tasks_of(name.split()[0]), selection)
            refused: Any = gateway.refused_modes
    assert {row.status for row in rows} <= {"scored", "invalid", "missing"}, rows
    assert all(row.usage.calls and row.usage.tokens_in and row.usage.tokens_out for row in rows)
    assert refused == {}, "the server takes every schema"
    entries = Ledger(tmp_path / "ledger" / "ledger.jsonl", system_clock().now).entries()
    assert [entry.status for entry in entries] == ["settled"] * 5


_SMALL = {
    "law": ("discovery", "prior"),
    "pgm": ("qual", "four_turn"),
    "drone": ("survival", "agentic"),
    "organism": ("diseased-easy", "session"),
    "organism probe": ("probe-1", "item"),
}
