"""Players of the drone games that do not know the truth."""

from __future__ import annotations

import numpy as np
import pytest

from cards.errors import InputError
from environments.checks import play
from environments.drone.family import DRONE
from environments.task import Options, Record, Score
from evaluation.episode import Slot
from evaluation.players import SCRIPTED, families_of, scripted_player
from tests.environments.drone.games import FAMILIES, games

BASELINES = ("default", "random", "uniform-high")


def played(player: str, name: str, repetition: int = 0, protocol: str = "agentic") -> tuple[Record, Score]:
    """Let a scripted player play one game."""
    task = games()[name]
    options = Options(setting="survival", protocol=protocol, repetition=repetition)
    slot = Slot(
        key=f"{player}/{name}/{repetition}",
        task=task.row.id,
        family="drone",
        **options.model_dump(exclude={"extra"}),
    )
    hand = scripted_player(player, lambda _: DRONE, lambda _: task.definition).sit(slot, None)  # type: ignore[arg-type]
    record = play(DRONE, task, options, hand)
    return record, DRONE.judge(task.definition, record)


def submitted(record: Record) -> dict[str, object]:
    return dict(record.events[-1].args)


@pytest.mark.parametrize("protocol", ["agentic", "prompting"])
@pytest.mark.parametrize("player", [name for name in SCRIPTED if "drone" in families_of(name)])
def test_every_player_finishes_every_game(player: str, protocol: str) -> None:
    """No scripted player is ever refused, under either protocol."""
    for name in games():
        record, score = played(player, name, protocol=protocol)
        assert record.ending == "completed"
        assert all(event.outcome == "succeeded" for event in record.events)
        assert score.status == "scored"


def test_baselines_look_at_nothing() -> None:
    """Without a guard the paper's baselines make one action; under it one drone flies first."""
    for player in BASELINES:
        assert len(played(player, "antenna_trap", protocol="prompting")[0].events) == 1
        assert played(player, "antenna_trap")[1].parts["experiments"] == 1


def test_what_the_baselines_submit() -> None:
    """Default names no part, uniform-high every part at 50 without a module, random one of the modules."""
    zone = "deployment_zone_trap_categorical"
    assert submitted(played("default", zone)[0])["design"] == {}
    high = submitted(played("uniform-high", zone)[0])
    assert set(high["design"].values()) == {50.0}  # type: ignore[attr-defined]
    assert high["equipment"] is None
    drawn = [submitted(played("random", zone, n)[0]) for n in range(40)]
    values = np.array([list(item["design"].values()) for item in drawn])  # type: ignore[attr-defined]
    # 320 values from U(0, 50): the mean's standard error is 0.8.
    assert abs(values.mean() - 25) < 4 * 0.81
    assert len({item["equipment"] for item in drawn}) == 5


def test_a_player_plays_a_slot_alike() -> None:
    """The same slot gets the same play, another slot another."""
    for player in ("random", "best-of-10", "contrast"):
        assert played(player, "antenna_trap")[0] == played(player, "antenna_trap")[0]
    assert played("random", "antenna_trap")[0] != played("random", "antenna_trap", 1)[0]


def test_best_of_ten_submits_the_best_of_its_ten() -> None:
    """Ten random designs, 20 drones each; the one of which most came back is submitted."""
    record, score = played("best-of-10", "deployment_zone_trap_categorical")
    flown = record.events[:-1]
    assert [event.args["count"] for event in flown] == [20] * 10
    best = max(flown, key=lambda event: event.reply.data["survived"])
    assert submitted(record)["design"] == best.args["design"]
    assert score.parts["stage1_best"] == best.reply.data["rate"]


def test_contrast_changes_one_factor_at_a_time() -> None:
    """After the default, each deployment differs from it in one factor, at an extreme."""
    record, _ = played("contrast", "deployment_zone_trap_categorical")
    flown = [event for event in record.events if event.tool == "deploy_drone"]
    assert flown[0].args["design"] == {}
    assert len(flown) == 10
    for event in flown[1:]:
        design, module = event.args["design"], event.args["equipment"]
        assert (len(design) in (1, 4)) is (module is None)
        assert set(design.values()) <= {0.0, 50.0}


def test_contrast_finds_the_antenna() -> None:
    """Testing extremes is enough in the antenna games whose default is bad: it wins all of three plays."""
    for name in FAMILIES["antenna"]:
        if name != "antenna_trap_local_optima":
            assert all(played("contrast", name, n)[1].passed["weak"] for n in range(3))


def test_a_player_keeps_to_its_families() -> None:
    """Players of one family are not sat at the games of another."""
    assert families_of("contrast") == ("drone",)
    assert families_of("candidate-checker") == ("law",)
    assert families_of("reference") == ()
    with pytest.raises(InputError, match="no player"):
        scripted_player("best-of-11", lambda _: DRONE)
