"""Cut a release: the whole way from arrivals to a published, verified version, in one place.

It composes the two wings (stages by curation, play through the doors) and is the single writer of a store.
A kill at any moment leaves the old ``latest`` or the new one; the next run finishes the job.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from api.buy import Buyer, Stage
from api.params import read_params
from api.play_gate import PlayGate
from api.tools import lock_digest, tool_versions
from api.workspace import PUBLIC_KEY, Workspace
from cards.canonical import canonical_json, sha256_hex
from cards.errors import AlmanacError, InputError, WorkspaceError
from cards.finding import Finding
from curation.cut_record import CUT_RECORD, CutRecord
from curation.dvc import Dvc, DvcError, write_local
from curation.git import Git, clone
from curation.pin import pin, pin_digest
from curation.publish import LATEST, Publication, finish, unfinished
from curation.rows import append_row, write_bytes
from curation.signature import read_public, sign
from environments.manifest import Parent
from environments.release import MANIFEST, check_version, parse_manifest, version_order
from environments.seeding import release_key

LAST_STAGE = "gate"
NEEDS: dict[Stage, str] = {"extract": "parse", "review": "extract"}
"""Stages whose replies are bought, and the stage that must have run before."""
SHOWN_FINDINGS = 10
SETTLED_DAYS, WINDOW_DAYS = 2, 31
"""By default a cut lists this many days, up to one that no longer changes."""


class GateError(AlmanacError):
    """A release that did not pass a gate; nothing was published."""

    def __init__(self, gate: str, findings: list[Finding]) -> None:
        lines = [f"{f.check} {f.path}: {f.message}" for f in findings[:SHOWN_FINDINGS]]
        more = len(findings) - len(lines)
        lines += [f"and {more} more"] if more > 0 else []
        super().__init__(
            f"the {gate} gate found {len(findings)} faults, nothing was published:\n  " + "\n  ".join(lines),
            "Mend the cause and cut again.",
        )
        self.findings = findings


@dataclass(frozen=True)
class Order:
    """What the command line asked for; ``at`` is the due time, by default now."""

    version: str = ""
    at: str = ""
    source: Path | None = None
    first: date | None = None
    last: date | None = None
    offline: bool = False


@dataclass(frozen=True)
class CutReport:
    """What a cut has done; ``new`` is false when the release was there already.

    ``papers`` counts what became of papers and drafts, by outcome/stage/reason.
    """

    version: str
    manifest_sha256: str
    tasks: dict[str, int]
    new: bool
    papers: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Cut:
    """One run of the cut.

    Args:
        workspace: whose store is written.
        order: what was asked for.
        clock: returns the time, in UTC.
        show: told the name of each step, for a progress display.
    """

    workspace: Workspace
    order: Order
    clock: Callable[[], datetime]
    show: Callable[[str], None] = lambda step: None

    def run(self) -> CutReport:
        """Cut the release, or finish or report the one that is there.

        Raises:
            WorkspaceError: when another cut is running, or the settings are not at the hub.
            GateError: when a gate does not open.
            OwedCallError: when a model still owes a reply; run again.
        """
        with single_writer(self.workspace.store):
            shutil.rmtree(self.workspace.store / "work", ignore_errors=True)
            for version in unfinished(self._hub):
                self._finish(version)
            version = self._version()
            if self._hub.has_tag(f"v{version}"):
                return self._report(version, new=False)
            self._check_settings()
            record = self._start(version)
            pending = _Run(self, record).publish()
            self._finish(version)
            shutil.rmtree(self.workspace.store / "work", ignore_errors=True)
            return self._report(version, new=True, pending=pending)

    @cached_property
    def environment(self) -> dict[str, str]:
        """The environment of all child processes."""
        return self.workspace.environment() | {"ALMANAC_STORE": str(self.workspace.store)}

    @property
    def _hub(self) -> Git:
        return Git(self.workspace.hub, self.environment)

    @cached_property
    def due(self) -> datetime:
        """The due time."""
        return parse_due(self.order.at) if self.order.at else self.clock().replace(microsecond=0)

    def note(self, version: str, step: str) -> None:
        """Show a step and write it into the cut's journal."""
        self.show(step)
        row = {"step": step, "at": self.clock().isoformat()}
        append_row(self.cut_folder(version) / "journal.jsonl", row)

    def cut_folder(self, version: str) -> Path:
        """Return where the records of one cut lie."""
        return self.workspace.store / "cuts" / version

    def fresh_clone(self, name: str) -> Path:
        """Return a fresh clone of the hub, with both remotes at the store."""
        target = self.work(name)
        clone(str(self.workspace.hub), target, self.environment)
        write_local(target, self.workspace.store)
        return target

    def work(self, name: str) -> Path:
        """Return a new empty folder; names are never used twice, a killed run's children may still write."""
        work = self.workspace.store / "work"
        work.mkdir(exist_ok=True)
        return Path(tempfile.mkdtemp(dir=work, prefix=f"{name}-"))

    def _version(self) -> str:
        version = check_version(self.order.version or f"{self.due.year}.{self.due.month}.0")
        latest = _latest(self._hub)
        if latest and not self._hub.has_tag(f"v{version}") and version_order(version) < version_order(latest):
            remedy = f"Choose a later one with --version; the newest is {latest}."
            raise InputError(f"version {version} would come before a published release.", remedy)
        return version

    def _check_settings(self) -> None:
        """A setting that was changed in the working tree but is not at the hub must not be ignored."""
        for name in ("params.yaml", "dvc.yaml"):
            own = self.workspace.root / name
            if own.is_file() and own.read_bytes() != self._hub.show("main", name):
                raise WorkspaceError(
                    f"{name} in {self.workspace.root} differs from the hub's, which is what a cut reads.",
                    "Commit and push it: git commit -m 'Change settings' "
                    f"{name} && git pull --rebase && git push",
                )

    def _start(self, version: str) -> CutRecord:
        """Return the cut's record: the one that an interrupted run left, or a new one where things moved."""
        path = self.cut_folder(version) / "cut.json"
        held = CutRecord.read(path) if path.exists() else None
        first, last = self._window(held)
        wanted = CutRecord(
            version=version,
            due=held.due if held and not self.order.at else due_text(self.due),
            first=first,
            last=last,
            commit=self._hub.head("main"),
            parent=self._parent(),
            tools=tool_versions(),
            lock_digest=lock_digest(),
        )
        if held is None or wanted != held.model_copy(update={"arrivals": None}):
            shutil.rmtree(self.cut_folder(version) / "arrivals", ignore_errors=True)
            wanted.write(path)
            return wanted
        return held

    def _window(self, held: CutRecord | None) -> tuple[str | None, str | None]:
        """Return the first and the last day to list: as asked, as begun, or the last that have settled."""
        first, last = self.order.first, self.order.last
        if held is not None and first is None and last is None:
            return held.first, held.last
        params = read_params(self._hub.show("main", "params.yaml") or b"")
        if first is None and last is None and (self.order.offline or not params["sources"]["categories"]):
            return None, None
        last = last or self.due.date() - timedelta(days=SETTLED_DAYS)
        first = first or last - timedelta(days=WINDOW_DAYS - 1)
        if last < first:
            raise InputError(f"the window from {first} to {last} is empty.", "Give --from before --to.")
        return first.isoformat(), last.isoformat()

    def _parent(self) -> Parent | None:
        latest = _latest(self._hub)
        if latest is None:
            return None
        digest = json.loads(self._hub.show("main", LATEST) or b"")["manifest_sha256"]
        return Parent(version=latest, manifest_sha256=digest)

    def _finish(self, version: str) -> None:
        self.note(version, "latest")
        tree = Git(self.fresh_clone("latest"), self.environment)
        finish(tree, version)
        shutil.rmtree(tree.folder, ignore_errors=True)
        self.note(version, "done")

    def _report(self, version: str, *, new: bool, pending: Sequence[str] = ()) -> CutReport:
        data = self._hub.show(f"v{version}", f"data/releases/{version}/{MANIFEST}") or b""
        manifest = parse_manifest(data)
        tasks = {name: count.tasks for name, count in manifest.counts.items()}
        params = read_params(self._hub.show(f"v{version}", "params.yaml") or b"")
        left_out = left_out_of(params, self.order, self.workspace.settings.base_url) if new else []
        papers = ({"accepted": manifest.sources} if manifest.sources else {}) | manifest.rejects
        return CutReport(version, sha256_hex(data), tasks, new, papers, [*left_out, *pending])


class _Run:
    """The steps between the cut's record and its tag, in a fresh clone."""

    def __init__(self, cut: Cut, record: CutRecord) -> None:
        self._cut = cut
        self._workspace = cut.workspace
        self._version = record.version
        self._key = release_key(cut.workspace.root_secret(), record.version)
        self._note("clone")
        self._clone = cut.fresh_clone("cut")
        self._params = read_params((self._clone / "params.yaml").read_bytes())
        self._buyer = Buyer(self._workspace, self._params, cut.clock, offline=cut.order.offline)
        self._record = self._pin(record)

    def publish(self) -> list[str]:
        """Build, play, publish up to the tag; return a line for everything that waits for a later cut."""
        self._build()
        publication = Publication(self._clone, self._workspace.store, self._record, self._cut.environment)
        public_key = read_public((self._clone / PUBLIC_KEY).read_bytes())
        self._note("freeze")
        manifest = (self._clone / "data" / "build" / MANIFEST).read_bytes()
        frozen = publication.freeze(sign(manifest, public_key, self._workspace.settings.config_home))
        self._note("play")
        self._play(frozen)
        self._note("add")
        publication.add_data()
        self._note("push data")
        publication.push_data()
        self._note("commit")
        publication.commit()
        self._note("verify")
        findings = publication.verify(self._cut.work("verify"), public_key)
        if findings:
            raise GateError("verify", findings)
        self._note("tag")
        publication.push_tag()
        self._keep(frozen)
        return self._buyer.pending

    def _note(self, step: str) -> None:
        self._cut.note(self._version, step)

    def _pin(self, record: CutRecord) -> CutRecord:
        """Collect what the cut may read, then pin it; once pinned, only a folder is read again."""
        folder = self._cut.cut_folder(self._version)
        pinned = folder / "arrivals"
        if self._cut.order.source is not None or not pinned.exists():
            self._note("collect")
            shutil.rmtree(pinned, ignore_errors=True)
            self._buyer.collect(record, self._cut.order.source)
            pin(self._workspace.arrivals, pinned)
        self._buyer.leave_out(pinned, self._key)
        record = record.model_copy(update={"arrivals": pin_digest(pinned, self._key)})
        record.write(folder / "cut.json")
        record.write(self._clone / CUT_RECORD)
        return record

    def _build(self) -> None:
        """Let DVC run the stages, and stop before each one whose replies are to be bought."""
        dvc = Dvc(self._clone, self._cut.environment)
        for stage in self._buyer.stages():
            dvc.reproduce(NEEDS[stage], started=self._note)
            self._note(f"buy {stage}")
            self._buyer.buy(stage, self._clone, self._key)
        try:
            dvc.reproduce(LAST_STAGE, started=self._note)
        except DvcError:
            self._raise_findings()
            raise

    def _raise_findings(self) -> None:
        """Turn the failure of the gate stage into its findings."""
        report = self._clone / "data" / "build" / "gate.json"
        if report.is_file():
            found = [Finding.model_validate(row) for row in json.loads(report.read_bytes())["findings"]]
            if found:
                raise GateError("build", found)

    def _play(self, frozen: Path) -> None:
        gate = PlayGate(
            Workspace(self._clone, self._workspace.settings),
            frozen,
            self._cut.work("play"),
            self._cut.clock(),
            lambda done, total: self._cut.show(f"play {done}/{total}"),
        )
        report, findings = gate.run()
        write_bytes(self._clone / "data" / "build" / "play.json", canonical_json(report) + b"\n")
        if findings:
            raise GateError("play", findings)

    def _keep(self, frozen: Path) -> None:
        """Keep the bytes that were just verified, so that the first evaluation need not fetch them."""
        target = self._workspace.store / "releases" / self._version
        if not target.exists():
            making = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{self._version}."))
            shutil.copytree(frozen, making / "whole", ignore=shutil.ignore_patterns("*.dvc", ".gitignore"))
            (making / "whole").rename(target)
            making.rmdir()


@contextmanager
def single_writer(store: Path) -> Iterator[None]:
    """Hold the store's lock, which the system lets go however this process ends.

    Raises:
        WorkspaceError: when another process holds it.
    """
    with (store / "cut.lock").open("a+b") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            remedy = "Wait until it has ended; two cuts never run at once."
            raise WorkspaceError(f"another cut is running on {store}.", remedy) from error
        yield


def parse_due(text: str) -> datetime:
    """Return a due time; a text without a zone is UTC.

    Raises:
        InputError: when it is not an ISO date or time.
    """
    try:
        due = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            f"{text!r} is not an ISO date or time.", "Write 2026-11-30 or 2026-11-30T12:00Z."
        ) from error
    return due.replace(tzinfo=UTC) if due.tzinfo is None else due.astimezone(UTC)


def due_text(due: datetime) -> str:
    """Return the one text of a due time: UTC, whole seconds."""
    return due.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def left_out_of(params: dict[str, Any], order: Order, base_url: str) -> list[str]:
    """Say what a cut left out, and which setting brings it back."""
    lines = []
    if order.offline:
        lines.append("offline: nothing was listed, looked up or asked; cut without --offline")
    if not params["sources"]["categories"]:
        lines.append("arXiv papers: set sources.categories in params.yaml and give --from and --to")
    by_model = params["extract"]["extractor"] == "model"
    if by_model and not params["extract"]["model"]:
        lines.append(
            "extraction by a model: set extract.model in params.yaml (or extract.extractor: pattern)"
        )
    if not params["review"]["model"]:
        lines.append("review by a model: set review.model in params.yaml")
    if not base_url:
        lines.append("any model: set ALMANAC_BASE_URL and ALMANAC_API_KEY")
    return lines


def _latest(hub: Git) -> str | None:
    text = hub.show("main", LATEST)
    return None if text is None else str(json.loads(text)["version"])
