"""What ``evaluate --dry-run`` says: episodes by cell and, for a model, costs, contamination, first prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from api.evaluate import Job, Wish
from api.seats import LocalHall
from cards.dates import DateInterval, parse_interval
from cards.errors import InputError, UsageError
from evaluation.contamination import EXPOSURES, exposure
from evaluation.forecast import forecast
from evaluation.plan import Plan
from gateway.cutoffs import cutoff_for
from gateway.prices import price_for


def dry_run(job: Job, wish: Wish, plan: Plan, folder: Path) -> dict[str, Any]:
    """Return the plan as a document; nothing is bought, and no episode is made at a service.

    ``cost.usd`` is null where the model has no known price; ``first_prompt`` holds messages as {"role",
    "content"}, of the first slot, and the system message alone where the brief lies at a service.
    """
    cells = Counter((slot.family, slot.setting, slot.protocol) for slot in plan.slots)
    document: dict[str, Any] = {
        "release": dict(plan.release),
        "player": dict(plan.player),
        "cells": [
            {"family": family, "setting": setting, "protocol": protocol, "episodes": count}
            for (family, setting, protocol), count in cells.items()
        ],
    }
    if not wish.model:
        return document
    rows = {row.id: row for row in job.hall.rows}
    provider, _, model = wish.model.partition("/")
    return document | {
        "cost": asdict(forecast(plan.slots, rows, price_for(provider, model))),
        "contamination": contamination(job, wish, plan),
        "first_prompt": first_prompt(job, plan, folder),
    }


def contamination(job: Job, wish: Wish, plan: Plan) -> dict[str, Any]:
    """Return the cutoff that verdicts rest on, and episodes by family and verdict.

    Raises:
        UsageError: when the given cutoff is no date.
    """
    provider, _, model = wish.model.partition("/")
    cutoff = wish.cutoff or cutoff_for(provider, model)
    until = _interval(cutoff) if cutoff else None
    cards = job.hall.cards() if isinstance(job.hall, LocalHall) else {}
    counts: dict[str, dict[str, int]] = {}
    for slot in plan.slots:
        verdict = exposure(slot.family, cards.get(slot.task), until)
        family = counts.setdefault(slot.family, dict.fromkeys(EXPOSURES, 0))
        family[verdict] += 1
    return {"cutoff": cutoff, "episodes": counts}


def _interval(cutoff: str) -> DateInterval:
    try:
        return parse_interval(cutoff)
    except InputError as error:
        raise UsageError(error.message, error.remedy) from error


def first_prompt(job: Job, plan: Plan, folder: Path) -> list[dict[str, str]]:
    """Return the messages with which the first slot begins."""
    from evaluation.players.model import ModelPlayer

    player, slot = job.player(folder), plan.slots[0]
    assert isinstance(player, ModelPlayer)
    if not isinstance(job.hall, LocalHall):
        return [player.system_message(slot).as_json()]
    seat, _ = job.hall.open(slot, None)
    return [message.as_json() for message in player.first_messages(slot, seat)]


def dry_run_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the same for people."""
    release, player, cells = document["release"], document["player"], document["cells"]
    yield f"release {release['version']} · {release['window']}"
    yield f"player {player['name']}; {sum(cell['episodes'] for cell in cells)} episodes, nothing is played"
    for cell in cells:
        yield f"  {cell['episodes']:5}  {cell['family']}  {cell['setting']}  {cell['protocol']}"
    if "cost" not in document:
        return
    yield _cost_line(document["cost"])
    split = document["contamination"]
    known = f"knowledge until {split['cutoff']}" if split["cutoff"] else "cutoff not known, see --cutoff"
    yield f"contamination ({known}):"
    for family, counts in split["episodes"].items():
        yield f"  {family}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    yield "first prompt:"
    for message in document["first_prompt"]:
        yield f"--- {message['role']}"
        yield message["content"].rstrip()


def _cost_line(cost: Mapping[str, Any]) -> str:
    (few, many), (low_in, high_in), (low_out, high_out) = cost["calls"], cost["tokens_in"], cost["tokens_out"]
    size = f"{few:,} to {many:,} calls, {_short(low_in)} to {_short(high_in)} tokens in, "
    size += f"{_short(low_out)} to {_short(high_out)} out"
    if cost["usd"] is None:
        return f"cost unpriced, the model's price is not known; {size}"
    low, high = cost["usd"]
    return f"cost about ${low:,.2f} to ${high:,.2f}, {size}; --max-cost caps it"


def _short(count: int) -> str:
    return f"{count / 1e6:,.1f} M" if count >= 1e5 else f"{count:,}"
