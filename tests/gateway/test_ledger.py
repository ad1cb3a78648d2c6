"""The ledger: written before, settled after, readable after any death."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.ledger import Ledger, Totals
from gateway.prices import Price, price_for
from gateway.profiles import profile_for
from gateway.reply import Usage


def now() -> datetime:
    """Return a fixed time."""
    return datetime(2026, 11, 30, tzinfo=UTC)


def open_one(ledger: Ledger, id: str) -> None:
    """Open one attempt."""
    ledger.open(id, purpose="play", subject="slot", provider="p", model="m", mode="", attempt=1)


def test_an_unsettled_attempt_counts_as_possibly_billed(tmp_path: Path) -> None:
    """Evaluation 3: an attempt whose process died before settling is possibly billed."""
    ledger = Ledger(tmp_path / "new" / "ledger.jsonl", now)
    open_one(ledger, "a")
    open_one(ledger, "b")
    ledger.settle("b", Usage(tokens_in=3, tokens_out=4, usd=0.5), 1.23456)
    open_one(ledger, "c")
    ledger.fail("c", reason="server", http_status=500, possibly_billed=True)
    entries = {entry.id: entry for entry in ledger.entries()}
    assert (entries["a"].status, entries["a"].possibly_billed) == ("open", True)
    assert (entries["b"].status, entries["b"].possibly_billed, entries["b"].usd) == ("settled", False, 0.5)
    assert (entries["c"].status, entries["c"].reason, entries["c"].http_status) == ("failed", "server", 500)
    assert ledger.totals() == Totals(calls=1, failed=1, open=1, tokens_in=3, tokens_out=4, usd=0.5)


def test_a_torn_last_line_is_ignored_and_closed_off(tmp_path: Path) -> None:
    """Rows are appended, never rewritten; what a killed process left half-written harms no later row."""
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path, now)
    open_one(ledger, "a")
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole + whole[:cut])
        open_one(ledger, "b")
        assert [entry.id for entry in ledger.entries()] == ["a", "b"]
        assert path.read_bytes().startswith(whole)


def test_an_absent_ledger_is_empty(tmp_path: Path) -> None:
    """A run that bought nothing has no ledger and no costs."""
    assert Ledger(tmp_path / "none.jsonl", now).totals() == Totals(0, 0, 0, 0, 0, 0)


def test_prices_are_listed_or_unknown() -> None:
    """An unpriced model has no price; a listed one is per million tokens."""
    assert price_for("local", "smollm2") is None
    listed = price_for("openai", "gpt-4o-mini")
    assert listed == Price(0.15, 0.6)
    assert listed.of(2_000_000, 1_000_000) == 0.9


@pytest.mark.parametrize(
    ("model", "limit", "temperature", "first"),
    [
        ("openai/o3-mini", "max_completion_tokens", False, "JSON_SCHEMA"),
        ("openai/gpt-6-astra", "max_completion_tokens", False, "JSON_SCHEMA"),
        ("openai/gpt-4o-mini", "max_completion_tokens", True, "JSON_SCHEMA"),
        ("deepseek/deepseek-v4-flash", "max_tokens", True, "TOOLS"),
        ("anybody/anything", "max_tokens", True, "JSON_SCHEMA"),
    ],
)
def test_profiles_come_from_one_table(model: str, limit: str, temperature: bool, first: str) -> None:
    """Evaluation 3: token-limit name, temperature and schema support per model, with a default."""
    profile = profile_for(*model.split("/"))
    assert (profile.reply_limit, profile.temperature, profile.modes[0]) == (limit, temperature, first)
