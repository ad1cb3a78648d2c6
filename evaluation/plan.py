"""The plan of a run: which slots are played, in which order, and what names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cards.canonical import digest
from cards.errors import UsageError
from environments.task import TaskRow
from evaluation.episode import Player, Slot


@dataclass(frozen=True)
class Selection:
    """Which part of a release is played. Empty tuples mean everything.

    ``protocols`` are written as in the release (``prior``, ``fixed:8``, ``adaptive``); ``limit`` is
    the largest number of episodes.
    """

    families: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    repetitions: int = 1
    limit: int | None = None

    def describe(self) -> dict[str, object]:
        """Return the selection as plain JSON."""
        return {
            "families": list(self.families),
            "settings": list(self.settings),
            "protocols": list(self.protocols),
            "repetitions": self.repetitions,
            "limit": self.limit,
        }


@dataclass(frozen=True)
class Plan:
    """Everything that a run will play. ``release`` is {"version", "sha256"} of the manifest."""

    release: Mapping[str, str]
    player: Mapping[str, object]
    selection: Selection
    slots: tuple[Slot, ...]
    options: Mapping[str, object] = field(default_factory=dict)


def slot_key(release: str, player: Mapping[str, object], slot: Mapping[str, object]) -> str:
    """Return the digest of all that an episode's outcome depends on.

    Args:
        release: SHA-256 of the release's manifest.
        player: name, spec and the digest of the prompts of the slot's family.
        slot: task, family, setting, protocol with its parameters, repetition.
    """
    return digest({"release": release, "player": dict(player), "slot": dict(slot)})


def make_plan(
    release: Mapping[str, str],
    rows: Sequence[TaskRow],
    player: Player,
    selection: Selection,
    options: Mapping[str, object] | None = None,
) -> Plan:
    """Plan the episodes of ``player`` over the selected tasks, task by task.

    Raises:
        UsageError: when the selection names something that the release does not have, or nothing at all.
    """
    _check_names("family", selection.families, {row.family for row in rows})
    _check_names("setting", selection.settings, {row.setting for row in rows})
    known = {protocol.split(":")[0] for row in rows for protocol in row.protocols}
    _check_names("protocol", [protocol.split(":")[0] for protocol in selection.protocols], known)
    if selection.repetitions < 1:
        raise UsageError(f"{selection.repetitions} repetitions cannot be played.", "Ask for 1 or more.")
    who = describe_player(player)
    slots = [_slot(release["sha256"], player, words) for words in _episodes(rows, selection)]
    if not slots:
        raise UsageError(
            "the selection leaves no episode to play.", "Ask for more families, settings or protocols."
        )
    return Plan(release, who, selection, tuple(slots[: selection.limit]), options or {})


def describe_player(player: Player) -> dict[str, object]:
    """Return a player's name, spec and prompt digests by family, as they stand in a manifest."""
    return {"name": player.name, "spec": dict(player.spec), "prompts": dict(player.prompt_digests)}


def _episodes(rows: Sequence[TaskRow], selection: Selection) -> Iterable[dict[str, object]]:
    for row in rows:
        if selection.families and row.family not in selection.families:
            continue
        if selection.settings and row.setting not in selection.settings:
            continue
        for protocol in _protocols(row, selection.protocols):
            for repetition in range(selection.repetitions):
                yield {
                    "task": row.id,
                    "family": row.family,
                    "setting": row.setting,
                    "protocol": protocol,
                    "repetition": repetition,
                }


def _protocols(row: TaskRow, asked: tuple[str, ...]) -> Sequence[str]:
    if not asked:
        return row.protocols
    offered = {protocol.split(":")[0]: protocol for protocol in row.protocols}
    wanted = [p for p in asked if p.split(":")[0] in offered]
    # A bare word stands for the release's own parameters: "fixed" is the default "fixed:4".
    return list(dict.fromkeys(p if ":" in p else offered[p] for p in wanted))


def _slot(release: str, player: Player, words: dict[str, object]) -> Slot:
    prompt = player.prompt_digests.get(str(words["family"]), "")
    who = {"name": player.name, "spec": dict(player.spec), "prompt": prompt}
    return Slot.model_validate({"key": slot_key(release, who, words)} | words)


def _check_names(kind: str, asked: Iterable[str], known: set[str]) -> None:
    unknown = sorted(set(asked) - known)
    if unknown:
        raise UsageError(f"the release has no {kind} {unknown[0]!r}.", f"It has: {', '.join(sorted(known))}.")
