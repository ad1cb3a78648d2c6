"""The plan: which slots there are, and what their keys depend on."""

from __future__ import annotations

import pytest

from cards.errors import InputError
from evaluation.plan import Selection, make_plan
from evaluation.players.scripted import ScriptedPlayer
from tests.evaluation.toy import RELEASE, Saying, ToyVenue, saying, toy_plan


def test_every_task_protocol_and_repetition_is_one_slot() -> None:
    """By default all protocols of all tasks are played; keys are unique."""
    venue = ToyVenue(clusters=3)
    plan = toy_plan(venue, saying(3), Selection(repetitions=2))
    assert len(plan.slots) == 6 * 2 * 2
    assert len({slot.key for slot in plan.slots}) == len(plan.slots)


def test_a_key_depends_on_release_player_and_repetition() -> None:
    """A row is never taken for another release's, another player's or another repetition's."""
    venue = ToyVenue(clusters=1)
    players = [
        saying(3),
        saying(3, "other"),
        ScriptedPlayer("sayer", 2, lambda slot: Saying(3)),
    ]
    keys = [toy_plan(venue, player).slots[0].key for player in players]
    other = make_plan({**RELEASE, "sha256": "cd" * 32}, venue.rows, saying(3), Selection())
    keys.append(other.slots[0].key)
    keys.append(toy_plan(venue, saying(3), Selection(repetitions=2)).slots[1].key)
    assert len(set(keys)) == 5
    assert toy_plan(venue, saying(3)).slots[0].key == keys[0]


def test_a_protocol_word_stands_for_the_releases_parameters() -> None:
    """``fixed`` is the release's own budget, ``fixed:8`` another one of the same protocol."""
    row = ToyVenue(clusters=1).rows[0].model_copy(update={"protocols": ("prior", "fixed:4", "adaptive")})
    chosen = make_plan(RELEASE, [row], saying(3), Selection(protocols=("fixed", "fixed:8")))
    assert [slot.protocol for slot in chosen.slots] == ["fixed:4", "fixed:8"]


def test_a_limit_cuts_the_plan() -> None:
    """``--limit`` is the largest number of episodes."""
    assert len(toy_plan(ToyVenue(), saying(3), Selection(limit=5)).slots) == 5


@pytest.mark.parametrize(
    ("selection", "word"),
    [
        (Selection(families=("laws",)), "laws"),
        (Selection(settings=("guess", "guest")), "guest"),
        (Selection(protocols=("fixed:4",)), "fixed"),
        (Selection(repetitions=0), "0 repetitions"),
    ],
)
def test_a_name_that_the_release_does_not_have_is_refused(selection: Selection, word: str) -> None:
    """A misspelt family, setting or protocol is an error that names it, not an empty run."""
    with pytest.raises(InputError, match=word):
        toy_plan(ToyVenue(), saying(3), selection)
