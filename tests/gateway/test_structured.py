"""Structured requests: bought once, validated, replayed from the call store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cards.errors import GatewayError, InputError
from gateway.client import Gateway
from gateway.prices import Price
from gateway.profiles import Profile
from gateway.prompt import Prompt
from tests.fakes.model_server import Ask, Fault, ModelServer
from tests.gateway.conftest import GOOD, PROMPT, Bench, Measurement, question


def test_a_question_is_bought_once(bench: Bench) -> None:
    """Ingestion 4: every call goes through the call store; a re-run re-buys nothing."""
    with ModelServer(lambda ask: GOOD) as server:
        first = bench.gateway(server.base_url).structured(question())
        again = bench.gateway(server.base_url).structured(question())
        assert (first.bought, again.bought) == (True, False)
        assert first.value == again.value == Measurement(value=2.5, unit="m")
        assert type(again.value) is Measurement
        assert server.requests == 1


def test_replay_reads_the_store_only(bench: Bench) -> None:
    """Contracts: replay never calls; it works without address and ledger, and says what is owed."""
    offline = Gateway(
        bench.gateway(None).endpoint,
        ledger=None,
        calls=bench.calls,
        clock=bench.clock,
        rng=None,  # type: ignore[arg-type]
    )
    with ModelServer(lambda ask: GOOD) as server:
        assert offline.replay(question()) is None
        bought = bench.gateway(server.base_url).structured(question())
        before = server.requests
        replayed = offline.replay(question())
        assert server.requests == before
    assert replayed is not None
    assert (replayed.value, replayed.key, replayed.usage) == (bought.value, bought.key, bought.usage)
    assert replayed.key == offline.key(question())


def test_no_model_configured_is_one_clear_error(bench: Bench) -> None:
    """Bad input: without a model the error says which setting is missing."""
    with pytest.raises(GatewayError, match="ALMANAC_BASE_URL") as caught:
        bench.gateway(None).structured(question())
    assert caught.value.reason == "unconfigured"
    assert bench.ledger.entries() == []


def test_braces_reach_the_model_as_they_stand(bench: Bench) -> None:
    """Ingestion 4, measured trap: no template is rendered over message texts."""
    text = r"\frac{{\rho}}{2} = {{E_0}} {% if x %} {{ 7*7 }}"
    with ModelServer(lambda ask: GOOD) as server:
        bench.gateway(server.base_url).structured(question(text))
        assert server.asks[0].messages[-1]["content"] == text


def test_the_reply_is_recorded_whole(bench: Bench) -> None:
    """Design, arrivals: a model's reply is kept letter by letter, with what was asked."""
    with ModelServer(lambda ask: GOOD) as server:
        reply = bench.gateway(server.base_url).structured(question("how wide?"))
    entry = bench.calls.get(reply.key)
    assert entry is not None
    assert entry.completion()["id"] == "chatcmpl-fake"
    assert entry.completion()["choices"][0]["message"]["content"] == GOOD
    assert entry.messages[-1]["content"] == "how wide?"
    assert (entry.provider, entry.model, entry.prompt, entry.version) == ("fake", "m", "measure", 1)


def test_the_key_depends_on_all_that_can_change_the_answer_and_on_nothing_else(bench: Bench) -> None:
    """Ingestion 4: key = provider, model, prompt, schema, input, sampling, attempt; not the subject."""

    class Other(Measurement):
        """Another schema."""

        error: float

    base = question()
    gateway = bench.gateway(None)
    later = Prompt(PROMPT.id, 2, PROMPT.text)
    variants = [
        gateway.key(question("how wide?")),
        gateway.key(question(attempt=1)),
        gateway.key(type(base)("m", later, base.messages, Measurement, base.sampling)),
        gateway.key(type(base)("m", PROMPT, base.messages, Other, base.sampling)),
        gateway.key(type(base)("m", PROMPT, base.messages, Measurement)),
        bench.gateway(None, model="n").key(base),
    ]
    assert len({gateway.key(base), *variants}) == 7
    assert gateway.key(question(subject="2610.00001")) == gateway.key(base)


BAD = {
    "not JSON": "I think it is two metres.",
    "half a JSON": '{"value": 2.5, "un',
    "missing field": '{"value": 2.5}',
    "extra field": '{"value": 2.5, "unit": "m", "note": ""}',
    "wrong type": '{"value": "two", "unit": "m"}',
    "not finite": '{"value": NaN, "unit": "m"}',
    "hostile nesting": "[" * 100_000,
    "empty": "",
}


@pytest.mark.parametrize("name", BAD)
def test_an_unusable_answer_is_asked_for_once_more_with_the_problem_shown(bench: Bench, name: str) -> None:
    """Garbage is asked again at most once, as an attempt of its own, and replays the same way."""
    answers = [BAD[name], GOOD]
    with ModelServer(lambda ask: answers[ask.number - 1]) as server:
        reply = bench.gateway(server.base_url).structured(question())
        assert (reply.value.value, reply.attempt) == (2.5, 1)
        assert server.requests == 2
        assert "could not be used" in server.asks[1].messages[-1]["content"]
        replayed = bench.gateway(None).replay(question())
        assert replayed is not None
        assert (replayed.value, replayed.key) == (reply.value, reply.key)
        assert [entry.status for entry in bench.ledger.entries()] == ["settled", "settled"]


@pytest.mark.parametrize("name", BAD)
def test_a_model_that_stays_unusable_is_a_recorded_outcome(bench: Bench, name: str) -> None:
    """Nothing is lost and nothing is bought again: the same error comes from the store."""
    with ModelServer(lambda ask: BAD[name]) as server:
        for _ in range(2):
            with pytest.raises(GatewayError) as caught:
                bench.gateway(server.base_url).structured(question())
            assert caught.value.reason == "malformed"
            assert len(str(caught.value)) < 1000
        assert server.requests == 2
    with pytest.raises(GatewayError, match="no usable answer"):
        bench.gateway(None).replay(question())


def test_a_first_unusable_answer_alone_leaves_the_second_owed(bench: Bench) -> None:
    """A process killed between the two attempts replays as owed, and buys the second one only."""
    with ModelServer(lambda ask: BAD["missing field"] if ask.number == 1 else GOOD) as server:
        first = bench.gateway(server.base_url).structured(question())
        second = first.key
        assert second != bench.gateway(None).key(question())
        (bench.folder / "calls" / second[:2] / f"{second}.json").unlink()
        assert bench.gateway(None).replay(question()) is None
        assert bench.gateway(server.base_url).structured(question()).value.value == 2.5
        assert server.requests == 3


def test_a_refusal_is_kept_and_not_bought_again(bench: Bench) -> None:
    """A model that refuses has answered: the refusal is recorded and typed."""
    with ModelServer(lambda ask: Fault.refusal()) as server:
        for _ in range(2):
            with pytest.raises(GatewayError) as caught:
                bench.gateway(server.base_url).structured(question())
            assert caught.value.reason == "refused"
        assert server.requests == 1


def test_refused_modes_fall_through_a_recorded_chain(bench: Bench) -> None:
    """Ingestion 4: JSON schema → tools → JSON → markdown JSON, each refusal recorded."""

    def rule(ask: Ask) -> str | Fault:
        if ask.body.get("response_format", {}).get("type") == "json_schema":
            return Fault.status(400, message="response_format json_schema is not supported")
        if "tools" in ask.body:
            return Fault.status(422, message="tools are not supported")
        if "response_format" in ask.body:
            return Fault.status(400, message="response_format is not supported")
        return f"```json\n{GOOD}\n```"

    with ModelServer(rule) as server:
        gateway = bench.gateway(server.base_url)
        reply = gateway.structured(question())
        assert (reply.mode, reply.value.value) == ("MD_JSON", 2.5)
        assert list(gateway.refused_modes) == ["JSON_SCHEMA", "TOOLS", "JSON"]
        assert [entry.mode for entry in bench.ledger.entries()] == ["JSON_SCHEMA", "TOOLS", "JSON", "MD_JSON"]
        gateway.structured(question("and this?"))
        assert server.requests == 5
    replayed = bench.gateway(None, profile=Profile(modes=("TOOLS",))).replay(question())
    assert replayed is not None
    assert replayed.value == reply.value


@pytest.mark.parametrize("mode", ["JSON_SCHEMA", "TOOLS", "JSON"])
def test_every_mode_brings_the_same_answer(bench: Bench, mode: str) -> None:
    """The way in which the schema was asked for does not show in the answer."""
    with ModelServer(lambda ask: GOOD) as server:
        gateway = bench.gateway(server.base_url, profile=Profile(modes=(mode,)))  # type: ignore[arg-type]
        assert gateway.structured(question()).value == Measurement(value=2.5, unit="m")
        assert server.asks[0].body["max_tokens"] == 64


def test_the_profile_decides_what_is_sent(bench: Bench) -> None:
    """Evaluation 3, capability profile: the token limit's name, and whether a temperature goes along."""
    profile = Profile(reply_limit="max_completion_tokens", temperature=False)
    with ModelServer(lambda ask: GOOD) as server:
        bench.gateway(server.base_url, profile=profile).structured(question())
        assert server.asks[0].body["max_completion_tokens"] == 64
        assert not {"temperature", "max_tokens"} & set(server.asks[0].body)


def test_money_is_exact_where_a_price_is_known_and_unknown_elsewhere(bench: Bench) -> None:
    """Ledger with tokens and money: an unknown price is never zero."""
    with ModelServer(lambda ask: GOOD) as server:
        unpriced = bench.gateway(server.base_url).structured(question())
        priced = bench.gateway(server.base_url, price=Price(2.0, 8.0)).structured(question("how wide now?"))
    assert unpriced.usage.usd is None
    assert priced.usage.model_dump() == {"tokens_in": 5, "tokens_out": 4, "usd": 4.2e-05}
    assert bench.ledger.entries()[1].usd == 4.2e-05
    assert bench.ledger.totals().usd is None


def test_a_damaged_entry_is_named_and_not_trusted(bench: Bench) -> None:
    """A stored reply that was tampered with is an error that says what to do, not an answer."""
    with ModelServer(lambda ask: GOOD) as server:
        reply = bench.gateway(server.base_url).structured(question())
    path: Path = bench.folder / "calls" / reply.key[:2] / f"{reply.key}.json"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(InputError, match="Remove the file"):
        bench.gateway(None).replay(question())


def test_settings_of_the_shell_do_not_reach_the_client(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """No function below api reads the environment: neither proxies nor another address or key."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with ModelServer(lambda ask: GOOD) as server:
        assert bench.gateway(server.base_url).structured(question()).bought
        assert json.loads(server.purchases[0])["model"] == "m"
