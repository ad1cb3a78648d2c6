"""Where episodes take place: in this process on a release at hand, or at the doors of a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from api.agent_client import AgentSeat, CuratorClient
from cards.card import Card
from cards.errors import ReleaseError
from environments.families import family
from environments.family import World
from environments.release import Release
from environments.seeding import session_seed
from environments.session import Session
from environments.task import JSON, Ending, Options, Record, Reply, Task, TaskRow, Tool
from evaluation.episode import Seat, Slot, Verdict
from evaluation.players.scripted import options_of

KEPT_TASKS = 256


class Hall(Protocol):
    """A venue that also says which release it plays, and what it knows of its tasks."""

    @property
    def release(self) -> Mapping[str, str]:
        """{"version", "sha256", "window"} of the release."""

    @property
    def rows(self) -> Sequence[TaskRow]:
        """The public rows of all tasks."""

    def definition(self, task: str) -> Mapping[str, JSON]:
        """Return a task's sealed definition, for players that know the truth."""

    @property
    def sealed(self) -> bool:
        """Whether sealed definitions are at hand."""

    def open(self, slot: Slot, ticket: JSON) -> tuple[Seat, JSON]:
        """Return the slot's seat and its ticket."""

    def judge(self, slot: Slot, record: Record, ticket: JSON) -> Verdict:
        """Score a finished episode."""

    def close(self) -> None:
        """Let go of connections."""


class LocalHall:
    """Sessions in this process, over a release with its sealed part."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self.task = lru_cache(KEPT_TASKS)(release.task)
        self.rows = release.rows()
        self.sealed = release.has_sealed
        self.release = describe_release(release)

    def definition(self, task: str) -> Mapping[str, JSON]:
        """Return a task's sealed definition."""
        return self.task(task).definition

    def open(self, slot: Slot, ticket: JSON) -> tuple[Seat, JSON]:
        """Return a fresh session; replayed from the journal, it needs no ticket."""
        task = self.task(slot.task)
        options = options_of(slot)
        return Session(_world(task, options), options), None

    def judge(self, slot: Slot, record: Record, ticket: JSON = None) -> Verdict:
        """Score a record against the sealed definition."""
        task = self.task(slot.task)
        score = family(slot.family).judge(task.definition, record)
        return Verdict(score=score, cluster=task.cluster, facets=task.facets)

    def cards(self) -> dict[str, Card]:
        """Return the card of every task that was made from one, by task id."""
        cards = {card.id: card for card in self._release.cards()}
        links = self._release.links()
        return {task: cards[link["card"]] for task, link in links.items() if link.get("card") in cards}

    def known(self) -> dict[str, tuple[str, Mapping[str, str]]]:
        """Return (cluster, facets) of every task by id."""
        return {row.id: (self.task(row.id).cluster, self.task(row.id).facets) for row in self.rows}

    def close(self) -> None:
        """Nothing to let go of."""


class RemoteHall:
    """Sessions at the agent door, made and scored at the curator door.

    Args:
        curator: a client with a key of scope ``evaluate``.
        version: the release to play.
        local: the same release at hand, where it is, for players that know the truth.

    Raises:
        DoorError: when the curator door does not answer, or refuses the key.
    """

    def __init__(self, curator: CuratorClient, version: str, local: LocalHall | None = None) -> None:
        shown = curator.tasks(version)
        self._curator, self._local = curator, local
        self._version: str = shown["version"]
        self.release = {
            "version": self._version,
            "sha256": shown["manifest"],
            "window": _window(shown["window"]),
        }
        self.rows = [TaskRow.model_validate(row) for row in shown["rows"]]
        self.sealed = local is not None and local.release["sha256"] == shown["manifest"]

    def definition(self, task: str) -> Mapping[str, JSON]:
        """Return a task's sealed definition from the release at hand.

        Raises:
            ReleaseError: when there is none.
        """
        if self._local is None or not self.sealed:
            raise ReleaseError("the release that the service plays is not at hand with its sealed part.")
        return self._local.definition(task)

    def open(self, slot: Slot, ticket: JSON) -> tuple[Seat, JSON]:
        """Return the seat of a new episode, or of the one that ``ticket`` leads back to."""
        if ticket is None:
            episode, token, address = self._curator.create_episode(
                self._version, slot.task, slot.protocol, slot.repetition
            )
            ticket = {"episode": episode, "token": token, "agent_url": address}
        return _RemoteSeat(self._curator, ticket), ticket

    def judge(self, slot: Slot, record: Record, ticket: JSON) -> Verdict:
        """Have a finished episode scored at the curator door."""
        verdict = self._curator.verdict(ticket["episode"], record.ending)
        return Verdict.model_validate(verdict)

    def close(self) -> None:
        """Close the connection to the curator door."""
        self._curator.close()


class _RemoteSeat:
    """An agent door's seat whose record is read at the curator door."""

    def __init__(self, curator: CuratorClient, ticket: Mapping[str, str]) -> None:
        self._curator, self._episode = curator, ticket["episode"]
        self._seat = AgentSeat(ticket["agent_url"], ticket["token"])

    @property
    def brief(self) -> dict[str, JSON]:
        return self._seat.brief

    @property
    def tools(self) -> Sequence[Tool]:
        return self._seat.tools

    def call(self, tool: str, args: JSON, key: str) -> Reply:
        return self._seat.call(tool, args, key)

    def record(self, ending: Ending | None = None) -> Record:
        self._seat.close()
        record = self._curator.record(self._episode)
        if record.ending == "unfinished" and ending is not None:
            return record.model_copy(update={"ending": ending})
        return record


def describe_release(release: Release) -> dict[str, str]:
    """Return what a run's manifest says of its release."""
    window = _window(release.manifest.window.model_dump())
    return {"version": release.version, "sha256": release.manifest_sha256, "window": window}


def _window(window: Mapping[str, JSON]) -> str:
    return f"papers public after {window['after']}, cut at {window['clock']}; historical laws have no window"


def _world(task: Task, options: Options) -> World:
    seed = session_seed(bytes.fromhex(task.seed), options.setting, options.protocol, options.repetition)
    return family(task.row.family).open(task.definition, options, seed)
