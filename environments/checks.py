"""What every built task must show before it is published, whatever its family.

Each task is played by its family's own scripted players under every protocol of its row: the
reference must get full marks, the null player must stay in its bound, and what a reference answers in
one task must not pass in a twin of it. These are findings of the gate; nothing here knows a family's
insides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cards.canonical import canonical_json
from cards.card import Card
from cards.finding import Finding
from environments.families import FAMILIES
from environments.family import Family, Policy, WithCertificates
from environments.null_tally import NullTally
from environments.seeding import session_seed
from environments.session import Session
from environments.task import Options, Record, Score, Task

MOST_ACTIONS = 10_000
"""A scripted player that has not stopped after this many actions never will."""


def check_tasks(tasks: Sequence[Task], families: Mapping[str, Family] = FAMILIES) -> list[Finding]:
    """Play and judge every task; return what is wrong, an empty list when all is well.

    The checks by name: ``same_brief`` (a world tells what the sealed brief says, and twins tell the
    same bytes), ``reference_full_marks``, ``null_bound``, ``twins_apart``.
    """
    findings: list[Finding] = []
    tally = NullTally()
    for twins in _twins(tasks, families):
        findings.extend(_same_brief(twins, families))
        for task in twins:
            findings.extend(_check_task(task, twins, families[task.row.family], tally))
    return findings + tally.findings()


def check_certificates(
    tasks: Sequence[Task], materials: Sequence[Card], families: Mapping[str, Family] = FAMILIES
) -> list[Finding]:
    """Run every check again whose outcome a task carries; return where it comes out otherwise.

    Args:
        materials: the cards that the release was built from.
    """
    findings: list[Finding] = []
    for name, family in families.items():
        if isinstance(family, WithCertificates):
            findings.extend(family.recertify([task for task in tasks if task.row.family == name], materials))
    return findings


def play(family: Family, task: Task, options: Options, policy: Policy) -> Record:
    """Let a scripted player play one session of a task in process, and return the record.

    Raises:
        RuntimeError: when the player does not come to an end.
    """
    seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
    session = Session(family.open(task.definition, options, seed), options)
    policy.start(session.brief, session.tools)
    last = None
    for number in range(MOST_ACTIONS):
        action = policy.act(last)
        if action is None:
            return session.record()
        last = session.call(*action, f"a{number}")
        if last.done:
            return session.record()
    raise RuntimeError(f"task {task.row.id}: the player acts without end under {options.protocol}")


def _check_task(task: Task, twins: Sequence[Task], family: Family, tally: NullTally) -> Iterable[Finding]:
    for protocol in task.row.protocols:
        options = Options(setting=task.row.setting, protocol=protocol)
        record = play(family, task, options, family.reference(task.definition, options))
        score = family.judge(task.definition, record)
        if not full_marks(score):
            yield _finding("reference_full_marks", task, protocol, f"the reference gets {_words(score)}")
        if tally.wants(family, task):
            null = play(family, task, options, family.null(options))
            tally.add(family, task, family.judge(task.definition, null))
        for twin in twins:
            if twin is not task:
                yield from _apart(task, twin, family, record)


def _apart(task: Task, twin: Task, family: Family, record: Record) -> Iterable[Finding]:
    """What passes in ``task`` must not pass in its twin, not even weakly."""
    score = family.judge(twin.definition, record)
    if any(score.passed.values()):
        message = f"the truth of {task.row.id} passes here: {_words(score)}"
        yield _finding("twins_apart", twin, record.options.protocol, message)


def _same_brief(twins: Sequence[Task], families: Mapping[str, Family]) -> Iterable[Finding]:
    first = twins[0]
    for task in twins:
        family = families[task.row.family]
        for protocol in task.row.protocols:
            options = Options(setting=task.row.setting, protocol=protocol)
            told = family.open(task.definition, options, b"").brief
            missing = [key for key in task.brief if key not in told or told[key] != task.brief[key]]
            if missing:
                yield _finding("same_brief", task, protocol, f"the sealed brief differs in {missing[0]!r}")
        if canonical_json(task.brief) != canonical_json(first.brief):
            yield _finding("same_brief", task, "", f"the brief differs from that of its twin {first.row.id}")


def _twins(tasks: Sequence[Task], families: Mapping[str, Family]) -> list[list[Task]]:
    """Group tasks that a player must not be able to tell apart before acting."""
    groups: dict[tuple[str, str, str, str], list[Task]] = defaultdict(list)
    for task in tasks:
        alone = "" if families[task.row.family].twins else task.row.id
        groups[(task.row.family, task.cluster, task.row.setting, alone)].append(task)
    return list(groups.values())


def full_marks(score: Score) -> bool:
    """Everything asked for is passed (null: not asked) and the rules are kept.

    Where exactness is graded (``strict``), the headline is one; elsewhere passing is all there is: a
    fleet's survival cannot reach one.
    """
    passed = bool(score.passed) and all(value is not False for value in score.passed.values())
    exact = score.headline == 1.0 or "strict" not in score.passed
    return score.status == "scored" and exact and passed and score.protocol_ok is not False


def _words(score: Score) -> str:
    marks = ", ".join(f"{name} {value}" for name, value in score.passed.items())
    more = f"; {score.findings[0]}" if score.findings else ""
    return f"{score.status}, headline {score.headline}, {marks}{more}"


def _finding(check: str, task: Task, protocol: str, message: str) -> Finding:
    path = f"{task.row.id}/{protocol}" if protocol else task.row.id
    return Finding(check=check, path=path, message=f"{message}; the task must not be published like this")
