"""The second gate: scripted players, through the agent door, on exactly the bytes to be published.

The reference must win every task under every protocol; a player that knows nothing must stay within the
bound that its family declares. Gate is the first, without players; this one needs both wings, so it
lives in api.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from api.agent_client import AgentSeat
from api.serve import DoorProcess
from api.store import Opening, Store
from api.workspace import Workspace
from cards.canonical import JSON
from cards.finding import Finding
from environments.checks import full_marks
from environments.families import family
from environments.family import Policy
from environments.null_tally import NullTally
from environments.release import Release
from environments.seeding import session_seed
from environments.session import Session
from environments.task import Options, Reply, Score, Task

MAX_ACTIONS = 4096


@dataclass(frozen=True)
class PlayGate:
    """A frozen release to be played.

    Args:
        workspace: a clone with the publisher's public key.
        frozen: the release's folder, signed.
        work: an empty folder of its own; holds a store for this play only.
        now: the time, for the expiry of tokens.
        tick: called after each task.
    """

    workspace: Workspace
    frozen: Path
    work: Path
    now: datetime
    tick: Callable[[int, int], None] = lambda done, total: None

    def run(self) -> tuple[dict[str, JSON], list[Finding]]:
        """Play everything; return a report of counts and the findings that stop the cut."""
        release = Release.open(self.frozen)
        parts = shutil.ignore_patterns("*.dvc", ".gitignore")
        shutil.copytree(self.frozen, self.work / "releases" / release.version, ignore=parts)
        settings = replace(self.workspace.settings, store=self.work)
        store = Store(Workspace(self.workspace.root, settings).database)
        findings: list[Finding] = []
        tally = NullTally()
        counts = {"reference": 0, "null": 0}
        try:
            with DoorProcess(
                "agent", self.workspace.root, environment={"ALMANAC_STORE": str(self.work)}
            ) as door:
                hall = _Hall(release, store, door.url, self.now)
                tasks = list(release.tasks())
                for number, task in enumerate(tasks, start=1):
                    for player, finding in _play_task(hall, task, tally):
                        counts[player] += 1
                        findings += [finding] if finding else []
                    self.tick(number, len(tasks))
        finally:
            store.close()
        findings += tally.findings()
        return {"passed": not findings, "episodes": counts, "tasks": len(tasks)}, findings


@dataclass(frozen=True)
class _Hall:
    release: Release
    store: Store
    url: str
    now: datetime

    def play(self, task: Task, options: Options, policy: Policy) -> Score:
        """Play one episode through the door and judge its record."""
        seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
        opening = Opening(self.release.version, self.release.manifest_sha256, task.row.id, options, seed)
        identity, token = self.store.create_episode(opening, self.now)
        seat = AgentSeat(self.url, token)
        try:
            policy.start(seat.brief, seat.tools)
            last: Reply | None = None
            for number in range(MAX_ACTIONS):
                action = None if last is not None and last.done else policy.act(last)
                if action is None:
                    break
                last = seat.call(*action, key=f"play-{number}")
        finally:
            seat.close()
        kind = family(task.row.family)
        world = kind.open(task.definition, options, seed)
        record = Session(world, options, self.store.events(identity)).record()
        return kind.judge(task.definition, record)


def _play_task(hall: _Hall, task: Task, tally: NullTally) -> Iterator[tuple[str, Finding | None]]:
    kind = family(task.row.family)
    for protocol in task.row.protocols:
        options = Options(setting=task.row.setting, protocol=protocol)
        score = hall.play(task, options, kind.reference(task.definition, options))
        yield "reference", None if full_marks(score) else _finding("reference_lost", task, protocol, score)
        if tally.wants(kind, task):
            tally.add(kind, task, hall.play(task, options, kind.null(options)))
            yield "null", None


def _finding(check: str, task: Task, protocol: str, score: Score) -> Finding:
    message = f"under {protocol}: {score.status}, headline {score.headline}, passed {score.passed}"
    return Finding(check=check, path=task.row.id, message=message)
