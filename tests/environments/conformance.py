"""What every family must do; a family's tests subclass this and name their tasks."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import pytest

from cards.canonical import canonical_json
from cards.errors import AlmanacError
from environments.checks import check_tasks, play
from environments.family import Family
from environments.seeding import session_seed
from environments.session import Session
from environments.task import JSON, Options, Record, Task

BAD_CALLS: list[tuple[Any, Any]] = [
    ("no_such_tool", {}),
    ("", {}),
    (None, {}),
    ("x" * 1000, {}),
    ("\ud800", {}),
    *(
        ("{tool}", args)
        for args in (
            None,
            [],
            "text",
            17,
            {"unexpected": 1},
            {"nan": float("nan")},
            {"inf": float("inf")},
            {"huge": 10**400},
            {"set": {1, 2}},
            {"text": "\ud800"},
            {"long": "x" * 300_000},
            {"": ""},
        )
    ),
]
"""Calls that no tool can make sense of; ``{tool}`` stands for each tool in turn."""


@cache
def nested(levels: int) -> JSON:
    """Return a document nested this deep, made without recursion."""
    value: JSON = 1
    for _ in range(levels):
        value = {"args": [value]}
    return {"deep": value}


class FamilyConformance:
    """The contract of a family, as tests."""

    family: ClassVar[Family]

    @pytest.fixture(scope="class")
    @classmethod
    def tasks(cls) -> list[Task]:
        """The tasks to test with."""
        return cls.rebuilt(b"k" * 32)

    @classmethod
    def rebuilt(cls, key: bytes) -> list[Task]:
        """Build the tasks under a key; the family's own tests say from what."""
        raise NotImplementedError

    def sessions(self, tasks: list[Task]) -> list[tuple[Task, Options]]:
        """Every task under every protocol of its row."""
        return [
            (task, Options(setting=task.row.setting, protocol=protocol))
            for task in tasks
            for protocol in task.row.protocols
        ]

    def open(self, task: Task, options: Options, events: Any = ()) -> Session:
        """Open a session of a task."""
        seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
        return Session(self.family.open(task.definition, options, seed), options, events)

    def test_gate_checks_pass(self, tasks: list[Task]) -> None:
        """The reference gets full marks, the null player does not, and twins do not pass as each other."""
        assert check_tasks(tasks, {self.family.name: self.family}) == []

    def test_build_is_deterministic(self, tasks: list[Task]) -> None:
        """Equal keys give equal bytes; another key gives other ids and other worlds."""
        again, other = self.rebuilt(b"k" * 32), self.rebuilt(b"o" * 32)
        assert [canonical_json(t.model_dump()) for t in again] == [
            canonical_json(t.model_dump()) for t in self.rebuilt(b"k" * 32)
        ]
        assert not {t.row.id for t in again} & {t.row.id for t in other}
        assert {canonical_json(t.definition) for t in again} != {canonical_json(t.definition) for t in other}

    def test_tasks_survive_their_files(self, tasks: list[Task]) -> None:
        """A task is plain canonical JSON and reads back equal."""
        for task in tasks:
            assert Task.model_validate_json(canonical_json(task.model_dump())) == task

    def test_public_rows_tell_nothing(self, tasks: list[Task]) -> None:
        """Rows of one setting differ in their id alone, stand in the order of ids, and never repeat one."""
        assert len({task.row.id for task in tasks}) == len(tasks)
        assert [task.row.id for task in tasks] == sorted(task.row.id for task in tasks)
        rest = {canonical_json(t.row.model_dump(exclude={"id"})) for t in tasks}
        assert len(rest) == len({t.row.setting for t in tasks})

    def test_rows_name_the_tools(self, tasks: list[Task]) -> None:
        """A row's tools and limits are those of the world."""
        for task, options in self.sessions(tasks):
            session = self.open(task, options)
            assert tuple(tool.name for tool in session.tools) == task.row.tools[options.protocol]
            limits = task.row.limits_under(options.protocol)
            assert session.remaining == {name: int(limit) for name, limit in limits.items()}

    def test_replay_is_exact(self, tasks: list[Task]) -> None:
        """A session rebuilt from any prefix of its events has the same budget, replies and record."""
        for task, options in self.sessions(tasks):
            record = self.reference_record(task, options)
            for cut in range(len(record.events) + 1):
                session = self.open(task, options, record.events[:cut])
                assert session.events == record.events[:cut]
                if cut:
                    assert session.remaining == record.events[cut - 1].reply.remaining
            assert session.record() == record
            assert Record.model_validate_json(canonical_json(record.model_dump())) == record

    def test_retry_answers_as_before(self, tasks: list[Task]) -> None:
        """The same key and action again gives the stored reply, costs nothing, and is not recorded."""
        for task, options in self.sessions(tasks):
            record = self.reference_record(task, options)
            session = self.open(task, options, record.events)
            for event in record.events:
                assert session.call(event.tool, event.args, event.key) == event.reply
                conflict = session.call(event.tool, {"other": 1}, event.key)
                assert conflict.error is not None
                assert conflict.error.code == "key_conflict"
            assert session.record() == record

    def test_one_completion_closes(self, tasks: list[Task]) -> None:
        """After the commit nothing more is possible, and nothing more is recorded."""
        for task, options in self.sessions(tasks):
            record = self.reference_record(task, options)
            session = self.open(task, options, record.events)
            last = record.events[-1]
            reply = session.call(last.tool, last.args, "another key")
            assert session.done
            assert reply.error is not None
            assert reply.error.code == "closed"
            assert session.record() == record

    def test_twins_cannot_be_told_apart_by_errors(self, tasks: list[Task]) -> None:
        """Briefs, tools and the answers to a battery of bad calls are byte-equal for twins."""
        seen: dict[tuple[str, str, str], bytes] = {}
        for task, options in self.sessions(tasks if self.family.twins else []):
            shown = self.shown(task, options)
            first = seen.setdefault((task.cluster, options.setting, options.protocol), shown)
            assert shown == first

    def test_nothing_hidden_is_shown(self, tasks: list[Task]) -> None:
        """No brief, tool or error holds an id, a seed, a link, a facet's word or the family's cluster."""
        for task, options in self.sessions(tasks):
            text = self.shown(task, options).decode("utf-8")
            hidden = [task.seed, task.cluster, task.row.id, *map(str, task.link.values()), "counterfactual"]
            assert not [word for word in hidden if word in text]

    def test_bad_calls_never_raise_and_never_end_a_session(self, tasks: list[Task]) -> None:
        """Whatever is sent, the session answers, charges at most a call, replays, and goes on."""
        for task, options in self.sessions(tasks):
            session = self.open(task, options)
            for number, (tool, args) in enumerate(self.battery(session)):
                reply = session.call(tool, args, f"b{number}")
                assert not reply.ok or "{" in str(reply.data)
                assert all(left >= 0 for left in reply.remaining.values())
                assert not session.done
            again = self.open(task, options, session.events)
            assert again.record() == session.record()
            stored = Record.model_validate_json(canonical_json(session.record().model_dump()))
            assert stored == session.record()

    def test_an_unfinished_record_is_missing(self, tasks: list[Task]) -> None:
        """A record without a commit is judged missing and fails."""
        for task, options in self.sessions(tasks):
            score = self.family.judge(task.definition, self.open(task, options).record())
            assert score.status == "missing"
            assert not any(score.passed.values())

    def test_analyses_speak_of_every_record(self, tasks: list[Task]) -> None:
        """Analyses are plain JSON, for finished and for empty records."""
        for task, options in self.sessions(tasks):
            for record in (self.open(task, options).record(), self.reference_record(task, options)):
                canonical_json(dict(self.family.analyses(task.definition, record)))

    def test_unknown_protocols_are_refused(self, tasks: list[Task]) -> None:
        """A protocol that does not exist is an error with the names of those that do."""
        with pytest.raises(AlmanacError, match="protocols"):
            self.open(tasks[0], Options(setting=tasks[0].row.setting, protocol="telepathy"))

    def reference_record(self, task: Task, options: Options) -> Record:
        """Return what the reference leaves behind."""
        return play(self.family, task, options, self.family.reference(task.definition, options))

    def battery(self, session: Session) -> list[tuple[Any, Any]]:
        """Return every bad call, for every tool of a session."""
        calls = [*BAD_CALLS, *(("{tool}", nested(levels)) for levels in (90, 110, 400, 100_000))]
        return [
            (name.name if tool == "{tool}" else tool, args)
            for tool, args in calls
            for name in (session.tools if tool == "{tool}" else session.tools[:1])
        ]

    def shown(self, task: Task, options: Options) -> bytes:
        """Return every byte that a player sees before and while doing everything wrong."""
        session = self.open(task, options)
        replies = [
            session.call(tool, args, f"b{number}").model_dump()
            for number, (tool, args) in enumerate(self.battery(session))
            if not (tool == "read_observations" and not args)
        ]
        tools = [tool.model_dump() for tool in session.tools]
        return canonical_json({"brief": session.brief, "tools": tools, "replies": replies})
