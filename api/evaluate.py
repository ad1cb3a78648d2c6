"""Compose an evaluation: release or doors, player, plan, run directory; then play and sum up."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from api.agent_client import CuratorClient
from api.seats import Hall, LocalHall, RemoteHall
from api.settings import Settings
from api.workspace import Workspace
from cards.errors import AlmanacError, NoRunError, ReleaseError, RunError, UsageError
from environments.families import family
from evaluation.episode import EpisodeRow, Player
from evaluation.leaderboard import Known, summary
from evaluation.plan import Plan, Selection, describe_player, make_plan
from evaluation.players import families_of, scripted_player, settings_of
from evaluation.run import Progress, Run, read_manifest, write_json
from evaluation.score import rescore
from evaluation.stored import StoredRun, load_run

DEFAULT_REPETITIONS = {"model": 3, "scripted": 1}
"""Models are asked three times (arXiv 2610.37919, section 4.1); a rule would only repeat itself."""


@dataclass(frozen=True)
class Wish:
    """What the command line asked for."""

    release: str = "latest"
    player: str = ""
    model: str = ""
    base_url: str = ""
    at: str = ""
    key: str = ""
    max_cost: float | None = None
    concurrency: int = 1
    call_seconds: float = 120.0
    cutoff: str = ""
    """When the model's knowledge ends; by default as the shipped table says."""
    dry: bool = False
    """Whether nothing is to be played; then no address is needed."""

    def options(self) -> dict[str, Any]:
        """Return what a run's manifest keeps, so that it can be resumed; never a key."""
        return {
            "player": self.player,
            "model": self.model,
            "base_url": self.base_url,
            "at": self.at,
            "max_cost": self.max_cost,
        }


@dataclass(frozen=True)
class Job:
    """An evaluation that is ready to be planned or continued."""

    hall: Hall
    player: Callable[[Path], Player]
    """Makes the player; the path is the run directory, where its ledger goes."""
    families: tuple[str, ...] = ()
    """The families that the player can play; empty: all."""
    settings: tuple[str, ...] = ()
    """The settings of those families that the player can play; empty: all."""

    def refuse(self, selection: Selection, who: str) -> None:
        """Raise UsageError where the selection asks for a seat that the player cannot take."""
        for asked, played in ((selection.families, self.families), (selection.settings, self.settings)):
            foreign = [name for name in asked if played and name not in played]
            if foreign:
                raise UsageError(f"{who} does not play {foreign[0]}.", f"It plays: {', '.join(played)}.")


def prepare(wish: Wish, workspace: Path, settings: Settings) -> Job:
    """Open the release and choose the player.

    Raises:
        AlmanacError: when there is neither a readable sealed part nor a service, or no such player.
    """
    if bool(wish.player) == bool(wish.model):
        raise UsageError(
            "an evaluation needs one player.", "Give either --player NAME or --model PROVIDER/NAME."
        )
    hall = _hall(wish, workspace, settings)
    if wish.player:
        insider = hall.definition if hall.sealed else None
        scripted = scripted_player(wish.player, family, insider)
        seats = settings_of(wish.player, hall.rows)
        return Job(hall, lambda folder: scripted, families_of(wish.player), seats)
    return Job(hall, lambda folder: _model_player(wish, folder, settings))


def plan_run(job: Job, wish: Wish, selection: Selection, folder: Path) -> Plan:
    """Return the plan of a new run that will lie in ``folder``.

    Raises:
        UsageError: when the selection asks for a family or setting that the player cannot play, or for a
            protocol that a family does not know.
    """
    job.refuse(selection, wish.player or wish.model)
    seats = replace(
        selection,
        families=selection.families or job.families,
        settings=selection.settings or job.settings,
    )
    plan = make_plan(job.hall.release, job.hall.rows, job.player(folder), seats, wish.options())
    for name, setting, protocol in sorted({(s.family, s.setting, s.protocol) for s in plan.slots}):
        known = family(name).protocols(setting)
        if protocol not in known:
            raise UsageError(
                f"there is no protocol {protocol[:40]!r} in {name} {setting}.",
                f"The protocols are: {', '.join(known)}.",
            )
    return plan


def resume_wish(folder: Path, given: Wish) -> Wish:
    """Return the wish with which a stored run was started; a key or cap may be given anew.

    Raises:
        RunError: when there is no run in ``folder``.
    """
    manifest = read_manifest(folder)
    options = manifest["options"]
    return Wish(
        release=manifest["release"]["version"],
        player=options["player"],
        model=options["model"],
        base_url=given.base_url or options["base_url"],
        at=given.at or options["at"],
        key=given.key,
        max_cost=given.max_cost if given.max_cost is not None else options["max_cost"],
        concurrency=given.concurrency,
        call_seconds=given.call_seconds,
    )


def check_resumable(folder: Path, job: Job, player: Player) -> None:
    """Refuse to continue a run on another release or with another player.

    Raises:
        RunError: when slots of the plan would no longer mean the same.
    """
    manifest = read_manifest(folder)
    if manifest["release"]["sha256"] != job.hall.release["sha256"]:
        raise RunError(f"the run {folder.name} was made on another release.", "Start a new run.")
    if manifest["player"] != describe_player(player):
        message = f"the player of {folder.name} has changed since (version, prompt or settings)."
        raise RunError(message, "Start a new run.")


def play_run(
    folder: Path,
    job: Job,
    player: Player,
    *,
    concurrency: int,
    now: Callable[[], datetime],
    notify: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Play what a run owes, write summary.json, and return where the run stands.

    The first SIGINT or SIGTERM lets the actions in flight end and marks the run interrupted; a second
    one has its usual effect.
    """
    run = Run(folder, player, job.hall, now, notify)
    with _interruptible(run.interrupt):
        run.play(concurrency)
    write_json(folder / "summary.json", summary(load_run(folder), known_words(job.hall)))
    return run.progress


def known_words(hall: Hall) -> Known | None:
    """Return (cluster, facets) by task where the sealed part is at hand."""
    return hall.known() if isinstance(hall, LocalHall) else None


def known_by_release(workspace: Path, runs: Sequence[StoredRun]) -> dict[str, Known]:
    """Return the sealed words of the runs' releases, by manifest digest, where this machine has them."""
    found: dict[str, Known] = {}
    for version in sorted({run.manifest["release"]["version"] for run in runs}):
        try:
            hall = LocalHall(Workspace.find(workspace).release(version))
        except AlmanacError:
            continue
        if hall.sealed:
            found[hall.release["sha256"]] = hall.known()
    return found


def score_run(workspace: Path, name: str) -> tuple[int, list[str]]:
    """Score a run again from its records; return how many rows, and what differs.

    Raises:
        AlmanacError: when the run or its release's sealed part is not at hand.
    """
    folder = find_run(runs_folder(workspace), name)
    manifest = read_manifest(folder)
    hall = LocalHall(Workspace.find(workspace).release(manifest["release"]["version"]))
    if hall.release["sha256"] != manifest["release"]["sha256"]:
        raise RunError(f"the run {folder.name} was made on another release of this version.")
    pairs = rescore(folder, hall.judge)
    differing = [
        f"{now.task} {now.protocol}: {_difference(stored, now)}" for stored, now in pairs if stored != now
    ]
    return len(pairs), differing


def _difference(stored: EpisodeRow, now: EpisodeRow) -> str:
    before, after = stored.model_dump(), now.model_dump()
    return ", ".join(
        f"{name} {before[name]!r} → {after[name]!r}" for name in before if before[name] != after[name]
    )


def run_folder(runs: Path, player: str, now: datetime, token: str) -> Path:
    """Return the directory of a new run: <utc>-<slug>-<6 hex>."""
    slug = "".join(c if c.isalnum() else "-" for c in player.lower()).strip("-")[:40] or "player"
    return runs / f"{now:%Y%m%dT%H%M%SZ}-{slug}-{token}"


def find_run(runs: Path, name: str) -> Path:
    """Return a run's directory by its name, a unique beginning of its name, or its path.

    Raises:
        RunError: when there is none, or more than one.
    """
    if (Path(name) / "manifest.json").is_file():
        return Path(name)
    found = [path for path in all_runs(runs) if path.name == name] or [
        path for path in all_runs(runs) if path.name.startswith(name)
    ]
    if len(found) != 1:
        what = "there is no run" if not found else f"{len(found)} runs begin with"
        raise NoRunError(f"{what} {name!r} in {runs}.", "Name one folder of runs/, or give its path.")
    return found[0]


def all_runs(runs: Path) -> list[Path]:
    """Return all run directories, oldest first."""
    return sorted(path.parent for path in runs.glob("*/manifest.json"))


def runs_folder(workspace: Path) -> Path:
    """Return where runs lie: in the workspace, or below the current folder where there is none."""
    return (workspace if workspace.is_dir() else Path.cwd()) / "runs"


def _hall(wish: Wish, workspace: Path, settings: Settings) -> Hall:
    if wish.at:
        if not wish.key:
            raise UsageError(
                "--at needs a key.", "Give --key KEY; `almanac key create --scope evaluate` makes one."
            )
        return RemoteHall(CuratorClient(wish.at, wish.key), wish.release, _local(wish, workspace, settings))
    hall = LocalHall(Workspace.find(workspace, settings).release(wish.release))
    if not hall.sealed:
        message = f"the sealed part of release {hall.release['version']} is not readable here."
        raise ReleaseError(message, "Play through a service with --at URL --key KEY.")
    return hall


def _local(wish: Wish, workspace: Path, settings: Settings) -> LocalHall | None:
    """Return the release at hand for insiders; a player who needs none does not ask for it."""
    if not wish.player:
        return None
    try:
        hall = LocalHall(Workspace.find(workspace, settings).release(wish.release))
    except AlmanacError:
        return None
    return hall if hall.sealed else None


def _model_player(wish: Wish, folder: Path, settings: Settings) -> Player:
    """Return the model's player; its ledger lies in the run directory.

    Raises:
        UsageError: when no address is known, or a cap is set for a model without a known price.
    """
    import random

    from evaluation.players.model import model_player
    from evaluation.purse import Cap, Purse
    from gateway.client import Endpoint, Gateway, Limits, system_clock
    from gateway.ledger import Ledger
    from gateway.prices import price_for

    provider, _, model = wish.model.partition("/")
    if not provider or not model:
        raise UsageError(f"{wish.model!r} names no model.", "Write PROVIDER/NAME, for example openai/gpt-5.")
    base_url = wish.base_url or settings.base_url
    if not base_url and not wish.dry:
        raise UsageError("no model server is configured.", "Give --base-url URL or set ALMANAC_BASE_URL.")
    if base_url and not base_url.startswith(("http://", "https://")):
        source = "--base-url" if wish.base_url else "ALMANAC_BASE_URL"
        raise UsageError(
            f"{base_url[:80]!r} is no address of a model server.",
            f"Give {source} as http://HOST:PORT/v1 or https://….",
        )
    clock = system_clock()
    ledger = Ledger(folder / "ledger.jsonl", clock.now)
    purse = None
    if wish.max_cost is not None:
        price = price_for(provider, model)
        if price is None:
            message = f"the price of {wish.model} is not known, so a cap on its cost cannot be kept."
            raise UsageError(message, "Leave out --max-cost, or add the model to gateway/prices.json.")
        purse = Purse(Cap(wish.max_cost, price), ledger.totals().usd or 0.0)
    gateway = Gateway(
        Endpoint(provider, model, base_url or "http://nowhere.invalid", settings.api_key or None),
        ledger=ledger,
        calls=None,
        clock=clock,
        rng=random.Random(),
        limits=Limits(concurrency=wish.concurrency, call_seconds=wish.call_seconds),
    )
    return model_player(gateway, purse=purse)


@contextmanager
def _interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    before: Mapping[int, Any] = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
    }

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def handle(number: int, frame: FrameType | None) -> None:
        restore()
        interrupt()

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()
