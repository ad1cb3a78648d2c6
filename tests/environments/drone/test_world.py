"""The game as a player meets it: budgets, guard, bad input, unlocking, noise."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from cards.errors import AlmanacError
from environments.drone.scenarios import SCENARIOS
from tests.environments.drone.games import FAMILIES, REPORT, games, open_game, options, playing

ZONE, ANTENNA, WEATHER = "deployment_zone_trap_categorical", "antenna_trap", "weather_noise"
SUBMISSION = {"design": {}, "report": REPORT}

BAD: list[tuple[str, Any, str]] = [
    ("deploy_drone", {"design": {"warp_def": 5}}, "unknown_part"),
    ("deploy_drone", {"design": {"shield_def": 5}}, "unknown_part"),
    ("deploy_drone", {"design": {"engine_def": -0.1}}, "out_of_range"),
    ("deploy_drone", {"design": {"engine_def": 50.01}}, "out_of_range"),
    ("deploy_drone", {"design": {"engine_def": float("nan")}}, "bad_arguments"),
    ("deploy_drone", {"design": {"engine_def": float("inf")}}, "bad_arguments"),
    ("deploy_drone", {"design": {"engine_def": 10**400}}, "malformed"),
    ("deploy_drone", {"design": {"engine_def": "20"}}, "malformed"),
    ("deploy_drone", {"design": {"engine_def": True}}, "malformed"),
    ("deploy_drone", {"design": [20]}, "malformed"),
    ("deploy_drone", {}, "malformed"),
    ("deploy_drone", {"design": {}, "count": 0}, "count"),
    ("deploy_drone", {"design": {}, "count": -3}, "count"),
    ("deploy_drone", {"design": {}, "count": 201}, "count"),
    ("deploy_drone", {"design": {}, "count": 10**30}, "count"),
    ("deploy_drone", {"design": {}, "count": 2.5}, "malformed"),
    ("deploy_drone", {"design": {}, "equipment": "signal_filter"}, "unknown_module"),
    ("deploy_drone", {"design": {}, "equipment": "death_ray"}, "unknown_module"),
    ("deploy_drone", {"design": {}, "equipment": 3}, "malformed"),
    ("query_environment", {}, "malformed"),
    ("query_environment", {"text": ""}, "malformed"),
    ("query_environment", {"text": "weather " * 200}, "malformed"),
    ("query_environment", {"text": "w" * 300_000}, "too_large"),
    ("query_environment", {"text": ["weather"]}, "malformed"),
    ("get_status", {"verbose": True}, "malformed"),
    ("run_analysis", {"statistic": "median"}, "malformed"),
    ("run_analysis", {"statistic": "mean", "of": "no_such_column"}, "unknown_column"),
    ("run_analysis", {"statistic": "correlation"}, "malformed"),
    ("run_analysis", {"statistic": "mean", "of": "source"}, "no_number"),
    ("submit_final_design", {"design": {}}, "malformed"),
    ("submit_final_design", {"design": {}, "report": ""}, "report"),
    ("submit_final_design", {"design": {}, "report": " \n\t"}, "report"),
    ("submit_final_design", {"design": {}, "report": "x" * 4001}, "report"),
    ("submit_final_design", {"design": {}, "report": "x" * 300_000}, "too_large"),
    ("submit_final_design", {"design": {"engine_def": 99}, "report": REPORT}, "out_of_range"),
    ("submit_final_design", SUBMISSION, "guard"),
]


@pytest.mark.parametrize(("tool", "args", "code"), BAD)
def test_bad_input_is_a_clear_error_that_costs_nothing(tool: str, args: Any, code: str) -> None:
    """What cannot be done is refused with its reason; no meter moves, and the game goes on as before."""
    disturbed, calm = open_game(ANTENNA), open_game(ANTENNA)
    before = disturbed.remaining
    reply = disturbed.call(tool, args, "bad")
    assert not reply.ok
    assert reply.error is not None
    assert (reply.error.code, bool(reply.error.message)) == (code, True)
    assert reply.remaining == before
    assert not disturbed.done
    deploy = ("deploy_drone", {"design": {}, "count": 30}, "next")
    assert disturbed.call(*deploy) == calm.call(*deploy)


@pytest.mark.parametrize("tool", ["get_all_environments", "reset", "admin", "get_config", "deploy"])
def test_a_tool_that_is_not_offered_is_unknown(tool: str) -> None:
    """There is no way to administer or reset a game; asking costs one call and nothing of the game."""
    session = open_game(ANTENNA)
    before = session.remaining
    reply = session.call(tool, {}, "k")
    assert reply.error is not None
    assert reply.error.code == "unknown_tool"
    assert reply.remaining == before | {"calls": before["calls"] - 1}


def test_an_error_leads_to_the_place() -> None:
    """An error names the offending key."""
    reply = open_game(ANTENNA).call("deploy_drone", {"design": {"engine_def": 51}}, "k")
    assert reply.error is not None
    assert reply.error.path == "design.engine_def"
    assert "between 0 and 50" in reply.error.message


def test_an_eleventh_deployment_is_refused() -> None:
    """At most ten deployments, also when drones are left."""
    play = playing(ANTENNA)
    for _ in range(10):
        play("deploy_drone", {"design": {}, "count": 3})
    before = play.session.remaining
    assert (before["deployments"], before["drones"]) == (0, 170)
    reply = play.session.call("deploy_drone", {"design": {}, "count": 3}, "eleventh")
    assert reply.error is not None
    assert reply.error.code == "budget"
    assert reply.remaining == before
    assert play("get_status")["drones_left"] == 170


def test_no_more_drones_than_are_left() -> None:
    """A deployment takes its drones off the budget; one that asks for more is refused."""
    play = playing(ANTENNA)
    assert play("deploy_drone", {"design": {}, "count": 150})["drones_left"] == 50
    reply = play.session.call("deploy_drone", {"design": {}, "count": 51}, "too many")
    assert reply.error is not None
    assert "50 drones that are left" in reply.error.message
    assert reply.remaining["drones"] == 50
    assert play("deploy_drone", {"design": {}, "count": 50})["drones_left"] == 0
    assert not play.session.call("deploy_drone", {"design": {}, "count": 1}, "none left").ok


def test_at_most_twenty_questions() -> None:
    """The 21st question is refused."""
    play = playing(ANTENNA)
    for _ in range(20):
        play("query_environment", {"text": "anything?"})
    reply = play.session.call("query_environment", {"text": "weather"}, "more")
    assert reply.error is not None
    assert reply.error.code == "budget"


def test_one_submission() -> None:
    """The final design is submitted once; afterwards nothing is possible and nothing changes."""
    play = playing(ANTENNA, "prompting")
    assert play("submit_final_design", SUBMISSION) == {"accepted": True}
    record = play.session.record()
    reply = play.session.call("submit_final_design", SUBMISSION, "second")
    assert reply.error is not None
    assert reply.error.code == "closed"
    assert play.session.record() == record


def test_the_guard_depends_on_the_protocol() -> None:
    """A deployment must come first when agentic, and need not when prompting; the brief says so."""
    guarded, free = open_game(ANTENNA), open_game(ANTENNA, options("prompting"))
    assert guarded.brief["protocol"]["deploy_before_submit"]
    assert not free.brief["protocol"]["deploy_before_submit"]
    assert not guarded.call("submit_final_design", SUBMISSION, "s").ok
    assert guarded.call("deploy_drone", {"design": {}}, "d").ok
    assert guarded.call("submit_final_design", SUBMISSION, "t").ok
    assert free.call("submit_final_design", SUBMISSION, "s").ok


def test_prompting_adds_one_tool() -> None:
    """get_all_environments is offered when prompting, and gives the readings of every flight."""
    play = playing(ANTENNA, "prompting")
    play("deploy_drone", {"design": {}, "count": 10})
    everything = play("get_all_environments")["environments"]
    history = play("get_history")
    whole = [record for record in history["archive"] + history["own"] if "environment" in record]
    assert everything == {record["id"]: record["environment"] for record in whole}
    assert "get_all_environments" not in [tool.name for tool in open_game(ANTENNA).tools]


def test_missing_parts_take_the_default() -> None:
    """A design that names no part is the scenario's default."""
    play = playing(WEATHER)
    record = next(r for r in play("deploy_drone", {"design": {}, "count": 30})["records"] if r["survived"])
    assert record["design"]["antenna_def"] == 30
    space = play("get_action_space")
    assert {key: item["default"] for key, item in space["design"].items()} == record["design"]


@pytest.mark.parametrize(
    ("name", "text", "variable"),
    [
        (ANTENNA, "What was the WEATHER like?", "weather_state"),
        (ANTENNA, "any radio signals", "signal_emission"),
        (ANTENNA, "Does the enemy detect us", "radar_contact"),
        (ZONE, "electromagnetic noise?", "emi_level"),
        (ZONE, "which Sector", "mission_zone"),
        (ZONE, "communication", "comm_quality"),
        ("deployment_zone_trap_env_shift", "what will the future bring", "deployment_forecast"),
        (WEATHER, "rain?", "weather_state"),
        (WEATHER, "season", "season_forecast"),
        (ANTENNA, "ionosphere", None),
        (ZONE, "ozone", None),
        (ZONE, "forecast for the next stage", None),
    ],
)
def test_questions_are_recognised_by_keyword(name: str, text: str, variable: str | None) -> None:
    """Words that begin like a keyword, in any case; nothing else, and never a name of what is locked."""
    play = playing(name)
    locked = {ANTENNA: 3, ZONE: 3, WEATHER: 2}.get(name, 4)
    found = play("query_environment", {"text": text})
    if variable is None:
        assert found == {"variable": None, "still_locked": locked}
    else:
        assert found["variable"]["name"] == variable
        assert found["still_locked"] == locked - 1


def test_forecasts_tell_the_next_stage() -> None:
    """The two forecasts say in words what Stage 2 is like."""
    found = playing("deployment_zone_trap_env_shift")("query_environment", {"text": "forecast"})
    assert "37 % in zone 0" in found["variable"]["statement"]
    found = playing(WEATHER)("query_environment", {"text": "forecast"})
    assert "30 % of the flights meet a storm" in found["variable"]["statement"]


def test_unlocking_fills_in_what_was_flown_before() -> None:
    """An unlocked variable stands in all records, and when it was unlocked makes no difference."""
    early, late = playing(ZONE), playing(ZONE)
    early("query_environment", {"text": "emi"})
    for play in (early, late):
        play("deploy_drone", {"design": {"shield_def": 30}, "count": 20})
    assert "emi_level" not in late("get_history")["archive"][0]["environment"]
    late("query_environment", {"text": "emi"})
    assert early("get_history") == late("get_history")
    assert all("emi_level" in record["environment"] for record in late("get_history")["archive"])


def test_the_lost_leave_no_record_where_survivors_are_selected() -> None:
    """With selection bias a lost drone is an id and a fact; without, its record is whole."""
    for name, whole in ((ANTENNA, False), ("antenna_trap_no_selection_bias", True)):
        records = playing(name)("deploy_drone", {"design": {}, "count": 100})["records"]
        lost = [record for record in records if not record["survived"]]
        assert lost
        assert all(set(record) == {"id", "survived"} for record in lost) is not whole
        assert all("design" in record for record in records if record["survived"])


def test_radar_contact_of_the_lost_is_unknown_where_survivors_are_selected() -> None:
    """Radar contact is read from survivors only, unless every flight is recorded."""
    for name, known in ((ANTENNA, False), ("antenna_trap_no_selection_bias", True)):
        play = playing(name)
        play("query_environment", {"text": "radar"})
        lost = [r for r in play("get_history")["archive"] if not r["survived"]]
        assert all((r["environment"]["radar_contact"] is not None) is known for r in lost)


def test_readings_err_in_the_weather_game_alone() -> None:
    """Readings scatter by 20 % in rain and 5 % in clear weather, in the archive too; 4 standard errors."""
    play = playing(WEATHER)
    play("query_environment", {"text": "weather"})
    records = play("get_history")["archive"]
    for state, sigma, middle in (("storm", 0.20, 995.0), ("clear", 0.05, 1018.0)):
        found = np.array(
            [r["environment"]["pressure_hpa"] for r in records if r["environment"]["weather_state"] == state]
        )
        relative = found / middle - 1
        assert abs(relative.std() - sigma) < 4 * sigma / np.sqrt(2 * len(found)) + 0.002
    calm = playing(ANTENNA)("get_history")["archive"]
    wind = np.array([r["environment"]["wind_kmh"] for r in calm])
    assert ((wind >= 5) & (wind <= 25) | (wind >= 50) & (wind <= 75)).all()


def test_survival_is_never_noisy() -> None:
    """The rate that a deployment states is that of its records."""
    found = playing(WEATHER)("deploy_drone", {"design": {}, "count": 120})
    assert found["survived"] == sum(record["survived"] for record in found["records"])
    assert found["rate"] == pytest.approx(found["survived"] / 120, abs=1e-4)


def test_analyses_of_records() -> None:
    """Means, groups, conditions and correlations are those of the records as shown."""
    play = playing(ZONE)
    play("deploy_drone", {"design": {"shield_def": 40}, "count": 60})
    records = play("get_history")["archive"]
    by = play("run_analysis", {"statistic": "mean", "by": "equipment", "source": "archive"})["groups"]
    for group in by:
        same = [r["survived"] for r in records if r["equipment"] == group["group"]]
        assert group["n"] == len(same)
        assert group["value"] == pytest.approx(np.mean(same), abs=1e-4)
    where = [{"column": "engine_def", "op": ">", "value": 20}]
    found = play(
        "run_analysis",
        {
            "statistic": "correlation", "of": "altitude_m", "against": "survived",
            "where": where, "source": "archive",
        },
    )["groups"][0]  # fmt: skip
    kept = [r for r in records if r["design"]["engine_def"] > 20]
    truth = np.corrcoef([r["environment"]["altitude_m"] for r in kept], [r["survived"] for r in kept])[0, 1]
    assert (found["n"], found["value"]) == (len(kept), pytest.approx(truth, abs=1e-4))
    assert play("run_analysis", {"statistic": "count", "source": "own"})["groups"][0]["n"] == 60
    quarters = play("run_analysis", {"statistic": "mean", "by": "engine_def", "source": "archive"})["groups"]
    assert [group["n"] for group in quarters] == pytest.approx([50] * 4, abs=6)


def words_of(name: str) -> str:
    """Return every word that a player can see of a game, briefs, tools, errors and all."""
    shown: list[Any] = []
    for protocol in ("agentic", "prompting"):
        session = open_game(name, options(protocol))
        shown += [session.brief, [tool.model_dump() for tool in session.tools]]
        queries = ("weather", "radio", "radar", "emi", "zone", "comm", "forecast", "rain", "what else")
        calls: list[tuple[str, Any]] = [("query_environment", {"text": text}) for text in queries]
        calls += [("deploy_drone", {"design": {}, "count": 60}), *((tool, args) for tool, args, _ in BAD)]
        calls += [(tool.name, {}) for tool in session.tools]
        calls += [("run_analysis", {"statistic": "mean", "by": "survived", "of": "hit_count"})]
        calls += [("submit_final_design", SUBMISSION)]
        shown += [session.call(tool, args, f"w{at}").model_dump() for at, (tool, args) in enumerate(calls)]
    return json.dumps(shown).casefold()


HIDDEN = (
    "trap", "simpson", "paradox", "confound", "selection", "bias", "stealth mode", "local_optim", "high_def",
    "no_history", "env_shift", "weather_noise", "antenna_trap", "zone_trap", "p_detect", "raw_damage",
    "lethality", "overload", "scenario", "optimum", "threshold_",
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_nothing_that_a_player_sees_names_the_scenario(name: str) -> None:
    """No brief, tool, reply or error holds the scenario's name, its trap, or a variable of its model."""
    text = words_of(name)
    task = games()[name]
    assert not [word for word in (*HIDDEN, task.seed, task.cluster, task.row.id) if word in text]


def shape(value: Any) -> Any:
    """Return the keys and kinds of a value; a list has the shapes of all its members together."""
    if isinstance(value, dict):
        keyed = {"environments": "*"}
        return {k: keyed.get(k) or shape(v) for k, v in value.items()}
    if isinstance(value, list):
        kinds = sorted({json.dumps(shape(item), sort_keys=True) for item in value if item != []})
        merged: dict[str, Any] = {}
        for kind in kinds:
            found = json.loads(kind)
            if isinstance(found, dict):
                merged |= found
        return [merged or kinds]
    return (
        "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__
    )


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_request_has_one_shape_in_a_family(family: str) -> None:
    """Briefs, tools and replies to the same requests have the same keys and kinds in every scenario.

    What may differ is what stands in them: an archive without flights is an empty list.
    """
    shapes = []
    for name in FAMILIES[family]:
        play = playing(name)
        shown = {
            "brief": play.session.brief,
            "tools": [tool.model_dump() for tool in play.session.tools],
            "deploy": play("deploy_drone", {"design": {"antenna_def": 4}, "count": 150}),
            "status": play("get_status"),
            "space": play("get_action_space"),
            "unknown": play("query_environment", {"text": "what else is there"}),
            "query": play("query_environment", {"text": "radio" if family != "weather" else "rain"}),
            "own": play("get_history")["own"],
            "analysis": play("run_analysis", {"statistic": "mean", "source": "own"}),
            "refused": play.session.call("deploy_drone", {"design": {"x": 1}}, "bad").model_dump(),
            "submit": play("submit_final_design", SUBMISSION),
        }
        shapes.append(shape(shown))
    assert all(item == shapes[0] for item in shapes)


def test_briefs_differ_by_family_alone() -> None:
    """The sealed brief of a task is byte-equal within a family."""
    for names in FAMILIES.values():
        assert len({json.dumps(games()[name].brief, sort_keys=True) for name in names}) == 1


def test_an_unknown_setting_is_refused() -> None:
    """A setting that does not exist is an error with the name of the one that does."""
    task = games()[ANTENNA]
    with pytest.raises(AlmanacError, match="survival"):
        open_game(task, options().model_copy(update={"setting": "discovery"}))
