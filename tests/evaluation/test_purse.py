"""A cap on cost."""

from __future__ import annotations

import pytest

from cards.errors import CapError
from evaluation.purse import Cap, Purse
from gateway.prices import Price
from gateway.reply import ChatReply, Usage
from gateway.request import Message

ASKED = [Message("user", "x" * 2000)]


def reply(usd: float) -> ChatReply:
    return ChatReply(text="", finish="stop", usage=Usage(tokens_in=1, tokens_out=1, usd=usd), model="m")


def test_a_question_that_could_pass_the_cap_is_not_asked() -> None:
    """Money is set aside before a call: 1,008 tokens in and 1,000 out at $1 a million are $0.002008."""
    purse = Purse(Cap(0.005, Price(1.0, 1.0)))
    first = purse.set_aside(ASKED, {}, 1000)
    assert first == pytest.approx(0.002009, abs=2e-6)
    purse.set_aside(ASKED, {}, 1000)
    with pytest.raises(CapError, match="could cost"):
        purse.set_aside(ASKED, {}, 1000)


def test_what_a_reply_did_not_cost_is_given_back() -> None:
    """After settling only the real price is gone, so a run uses its cap up."""
    purse = Purse(Cap(0.005, Price(1.0, 1.0)))
    for _ in range(20):
        purse.settle(purse.set_aside(ASKED, {}, 1000), reply(0.0001))


def test_what_earlier_processes_spent_counts() -> None:
    """A resumed run starts from what its ledger says is gone."""
    with pytest.raises(CapError):
        Purse(Cap(0.005, Price(1.0, 1.0)), spent=0.004).set_aside(ASKED, {}, 1000)
