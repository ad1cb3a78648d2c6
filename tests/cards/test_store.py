"""Cards on disk."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cards.card import Card
from cards.errors import CardError
from cards.store import MAX_BYTES, dump_card, historical, load_card, read_card

TEXT = """\
id: two-springs
title: Two springs in a row
collection: historical
discipline: physics
source: {authors: R. Hooke, title: De Potentia Restitutiva, year: 1678, dates: {first_preprint: 1678}}
inputs:
  - {name: F, unit: N, description: pull on the chain, low: 1, high: 1e1}
  - {name: n, unit: "1", description: number of springs, low: 1, high: 6, integer: true}
constraints: [F*n < 50]
parameters:
  - {name: k, value: 2.5e2, unit: N/m, source: made for this test}
observables:
  - name: d
    unit: m
    description: "how far the chain gives: n springs"
    relation: n*F/k
    absolute_tolerance: 1e-4
relative_tolerance: 0.01
conditions: [small pulls]
background: Equal springs hang in a chain from a beam; a pull acts at the lower end.
"""


def test_a_card_is_read_from_yaml() -> None:
    """Numbers like 1e-4 and 1e1 are numbers, 2026-04-01 stays a text, relations are infix text."""
    card = load_card(TEXT.replace("first_preprint: 1678", "first_preprint: '1678'"))
    assert card.inputs[0].high == 10.0
    assert card.inputs[1].integer
    assert card.observables[0].absolute_tolerance == 1e-4
    dated = load_card(TEXT.replace("first_preprint: 1678", "first_preprint: 2026-04-01"))
    assert dated.source.dates.first_preprint == "2026-04-01"


def test_dump_and_load_round_trip() -> None:
    """dump_card writes what load_card reads back to an equal card, for every card at hand."""
    cards = [load_card(TEXT.replace("1678}", "'1678'}")), *historical()]
    for card in cards:
        assert load_card(dump_card(card)) == card
        assert dump_card(load_card(dump_card(card))) == dump_card(card)


def test_historical_cards_are_sorted_and_unique() -> None:
    """historical() is the same list every time, sorted by id, and a caller cannot spoil it."""
    ids = [card.id for card in historical()]
    assert ids == sorted(set(ids))
    historical().clear()
    assert [card.id for card in historical()] == ids


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("high: 1e1", "high: .nan"), ("inputs[0].high", "finite")),
        (("high: 1e1", "high: .inf"), ("inputs[0].high", "finite")),
        (("high: 1e1", "high: 1e999"), ("inputs[0].high",)),
        (("high: 1e1", "high: ten"), ("inputs[0].high", "number")),
        (("n*F/k", "n*F/"), ("observables[0].relation", "character")),
        (("n*F/k", "__import__('os')"), ("observables[0].relation",)),
        (("n*F/k", "[1, 2]"), ("observables[0].relation",)),
        (("F*n < 50", "F*n = 50"), ("constraints[0]",)),
        (("F*n < 50", "F*n"), ("constraints[0]",)),
        (("F*n < 50", "F*n < 50, " * 16 + "F*n < 51"), ("constraints", "16")),
        (("year: 1678", "year: 99999999999999999999"), ("year",)),
        (("absolute_tolerance: 1e-4", "absolute_tolerance: -1"), ("absolute_tolerance", "greater than 0")),
        (("collection: historical", "collection: ancient"), ("collection",)),
        (("id: two-springs", "id: ../../etc"), ("id",)),
        (("conditions: [small pulls]", "conditions: []"), ("conditions",)),
        (("title: Two springs in a row", "titel: Two springs"), ("title",)),
        (("relative_tolerance: 0.01", "relative_tolerance: 0.01\nid: again"), ("line", "stands twice")),
        (("relative_tolerance: 0.01", "relative_tolerance: !!python/name:os.system"), ("line",)),
        (("conditions: [small pulls]", "conditions: [*a]"), ("aliases",)),
        (("conditions: [small pulls]", "conditions: ["), ("line",)),
        (("conditions: [small pulls]", "<<: {a: 1}"), ("line",)),
        (("conditions: [small pulls]", "conditions: [\x00]"), ("not YAML",)),
        (("1678}", "2025-02-31}"), ("first_preprint",)),
    ],
)
def test_bad_cards_say_file_and_place(
    change: tuple[str, str], words: tuple[str, ...], tmp_path: Path
) -> None:
    """A file that is not a card is a CardError with the file and the place in it, on one line."""
    text = TEXT.replace("1678}", "'1678'}") if "1678}" not in change else TEXT
    path = tmp_path / "bad.yaml"
    path.write_text(text.replace(*change))
    if change[0] == "1678}":  # a day that does not exist is read as text, and found by acceptance
        assert read_card(path).source.dates.first_preprint == "2025-02-31"
        return
    with pytest.raises(CardError) as caught:
        read_card(path)
    message = str(caught.value)
    assert "bad.yaml" in message
    assert "\n" not in message
    assert len(message) < 700
    for word in words:
        assert word in message


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "[" * 100_000,
        "- " * 50_000,
        "{a: " * 20_000,
        "? " * 50_000,
        "x: " + "9" * 100_000,
        "k: " + "a" * (MAX_BYTES + 1),
        "",
        "just text",
        "[]",
        "12",
        "\ufeff%YAML 9.9\n---\n...",
        "a: 1\n---\nb: 2",
        "!!binary aGVsbG8=",
        "a: !!set {x, y}",
        "a: \t- b",
        "a: [" + "1," * 60_000 + "1]",
        "\n".join(f"k{i}: 1" for i in range(20_000)),
    ],
)
def test_hostile_files_are_refused_quickly(text: str, tmp_path: Path) -> None:
    """Alias bombs, endless nesting, huge numbers and files: a CardError in under a second."""
    path = tmp_path / "card.yaml"
    path.write_text(text, encoding="utf-8")
    start = time.process_time()
    with pytest.raises(CardError):
        read_card(path)
    assert time.process_time() - start < 1.0


def test_files_that_cannot_be_read_are_card_errors(tmp_path: Path) -> None:
    """A missing file, a folder and bytes that are not text are told as such."""
    (tmp_path / "latin.yaml").write_bytes(b"title: \xff\xfe")
    for name in ("missing.yaml", ".", "latin.yaml"):
        with pytest.raises(CardError):
            read_card(tmp_path / name)


@given(st.text(max_size=200) | st.text("{}[]:,-?!&*#|>'\"%@` \n\tab01.e+<=", max_size=200))
@settings(max_examples=300, deadline=1000, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_a_card_or_a_card_error(text: str) -> None:
    """No text makes the reader raise anything but a CardError."""
    with pytest.raises(CardError):
        load_card(text)


@given(st.data())
@settings(max_examples=200, deadline=2000)
def test_a_damaged_card_is_a_card_or_a_card_error(data: st.DataObject) -> None:
    """Cut, doubled and swapped pieces of a sound card never raise anything but a CardError."""
    cut = data.draw(st.integers(0, len(TEXT)))
    upto = data.draw(st.integers(cut, len(TEXT)))
    piece = data.draw(st.sampled_from(["", "\n", ": ", "[", "1e400", "null", "{}", TEXT[:cut], "~", "'"]))
    try:
        card = load_card(TEXT[:cut] + piece + TEXT[upto:])
    except CardError:
        return
    assert isinstance(card, Card)
