"""The gate's checks find what they are there to find."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from environments.checks import check_tasks, play
from environments.family import Policy
from environments.law.family import LAW, LawFamily
from environments.task import JSON, Options, Record, Reply, Score, Task, Tool
from tests.environments.examples import BEAM

TASKS = list(LAW.build([BEAM], {}, b"k" * 32))


def found(tasks: list[Task], family: LawFamily = LAW) -> set[str]:
    """Return the names of the checks that found something."""
    return {finding.check for finding in check_tasks(tasks, {"law": family})}


def test_sound_tasks_have_no_findings() -> None:
    """All is well with a family as built."""
    assert found(TASKS) == set()


def test_twins_with_one_truth_are_found() -> None:
    """Two twins that play the same relation pass as each other."""
    same = [task.model_copy(update={"definition": task.definition | {"s": 0}}) for task in TASKS]
    assert found(same) == {"twins_apart"}


def test_a_brief_that_differs_is_found() -> None:
    """A sealed brief that the world does not tell, or that tells a twin, is named."""
    task = next(task for task in TASKS if task.facets["variant"] == "original")
    marked = task.model_copy(update={"brief": task.brief | {"background": "This one is the original."}})
    assert found([marked, *(other for other in TASKS if other is not task)]) == {"same_brief"}


class Sloppy(LawFamily):
    """A family whose reference breaks the rules and whose ignorant player is told the truth."""

    def reference(self, definition: Mapping[str, JSON], options: Options) -> Policy:
        """Answer with nothing."""
        return super().null(options)

    def judge(self, definition: Mapping[str, JSON], record: Record) -> Score:
        """Give everybody weak success."""
        score = super().judge(definition, record)
        return score.model_copy(update={"passed": score.passed | {"weak": True}})


def test_a_reference_without_full_marks_and_a_null_with_some_are_found() -> None:
    """Both ends of the scale are checked, and the finding names task, protocol and marks."""
    assert found(TASKS, Sloppy()) == {"reference_full_marks", "null_bound", "twins_apart"}
    finding = next(f for f in check_tasks(TASKS, {"law": Sloppy()}) if f.check == "reference_full_marks")
    assert finding.path.split("/")[0] in {task.row.id for task in TASKS}
    assert "headline 0.0" in finding.message


class Endless:
    """A player that never completes."""

    def start(self, brief: dict[str, JSON], tools: list[Tool]) -> None:
        """Do not read."""

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Ask for a tool that does not exist."""
        return "dance", {}


def test_a_player_that_never_completes_is_stopped_by_the_cap() -> None:
    """The session's own cap ends such a play, and the record says so."""
    record = play(LAW, TASKS[0], Options(setting=TASKS[0].row.setting, protocol="prior"), Endless())
    assert record.ending == "call_cap"
    assert len(record.events) == 512


def test_a_protocol_without_cap_is_stopped_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world whose meters never run out cannot hang the gate."""
    from environments.law.world import LawWorld

    monkeypatch.setattr(LawWorld, "meters", property(lambda self: {}))
    monkeypatch.setattr("environments.checks.MOST_ACTIONS", 20)
    with pytest.raises(RuntimeError, match="acts without end under prior"):
        play(LAW, TASKS[0], Options(setting=TASKS[0].row.setting, protocol="prior"), Endless())
