"""Commands of the evaluator: evaluate, leaderboard, score."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.evaluate import Job, Wish
    from evaluation.plan import Selection
    from evaluation.run import Progress

app = typer.Typer()

WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="The workspace folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WORKSPACE = Path("workspace")


ReleaseOption = Annotated[str, typer.Option(help="A version, or latest.")]
PlayerOption = Annotated[
    str, typer.Option(help="A scripted player, for example candidate-checker; a wrong name lists all.")
]
ModelOption = Annotated[str, typer.Option(help="A model, as PROVIDER/NAME; it plays every family.")]
AddressOption = Annotated[
    str, typer.Option(help="The model's OpenAI-compatible address; by default ALMANAC_BASE_URL.")
]
AtOption = Annotated[str, typer.Option(help="The curator door of a service to play at.")]
KeyOption = Annotated[str, typer.Option(help="A key of scope evaluate, with --at.", envvar="ALMANAC_KEY")]
FamiliesOption = Annotated[
    list[str] | None,
    typer.Option(help="law, pgm, drone, organism, comma-separated; by default all that the player plays."),
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option(help="Settings, comma-separated; all that it plays by default, see --dry-run."),
]
ProtocolOption = Annotated[
    list[str] | None,
    typer.Option(help="Protocols, comma-separated, for laws prior, fixed:B, adaptive; all by default."),
]
RepsOption = Annotated[int, typer.Option(help="Repetitions (default: a model 3, a script 1).", min=0)]
LimitOption = Annotated[int, typer.Option(help="At most so many episodes.", min=0)]
ConcurrencyOption = Annotated[int, typer.Option(help="Episodes at a time, for a model.", min=1, max=64)]
TimeoutOption = Annotated[float, typer.Option(help="Seconds that one model call may take.", min=0.1)]
CostOption = Annotated[float, typer.Option(help="Most that the run may cost, in USD (0: no cap).", min=0)]
CutoffOption = Annotated[
    str, typer.Option(help="With --dry-run: when the model's knowledge ends, for example 2026-04.")
]
ResumeOption = Annotated[str, typer.Option(help="Continue a run, by name or path.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Print the plan and play nothing.")]


@app.command()
def evaluate(
    workspace: WorkspaceOption = WORKSPACE,
    release: ReleaseOption = "latest",
    player: PlayerOption = "",
    model: ModelOption = "",
    base_url: AddressOption = "",
    at: AtOption = "",
    key: KeyOption = "",
    families: FamiliesOption = None,
    setting: SettingOption = None,
    protocol: ProtocolOption = None,
    reps: RepsOption = 0,
    limit: LimitOption = 0,
    concurrency: ConcurrencyOption = 4,
    timeout: TimeoutOption = 120.0,
    max_cost: CostOption = 0.0,
    cutoff: CutoffOption = "",
    resume: ResumeOption = "",
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Play a release with a scripted player or a model, and score what comes out.

    Ends with 0 when every episode is settled, 3 when some are owed and the run can be resumed, 4 when
    the cap on cost is reached, 2 when what is asked for does not exist or the player cannot play it, 1 on
    any other error.

    Example: almanac evaluate --release latest --player candidate-checker
    """
    from api.evaluate import DEFAULT_REPETITIONS, Wish
    from evaluation.plan import Selection

    wish = Wish(
        release, player, model, base_url, at, key, max_cost or None, concurrency, timeout, cutoff, dry_run
    )
    repetitions = reps or DEFAULT_REPETITIONS["model" if model else "scripted"]
    chosen = (_words(families), _words(setting), _words(protocol))
    selection = Selection(*chosen, repetitions=repetitions, limit=limit or None)
    if resume:
        _resume(workspace, resume, wish, as_json=as_json)
    else:
        _start(workspace, wish, selection, dry=dry_run, as_json=as_json)


@app.command()
def leaderboard(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by name or path; all of the workspace by default.")
    ] = None,
    workspace: WorkspaceOption = WORKSPACE,
    html: Annotated[Path | None, typer.Option(help="Write the board as one static page.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show runs side by side, one board for each release.

    Example: almanac leaderboard --html leaderboard.html
    """
    import json
    from datetime import UTC, datetime

    from rich.console import Console

    from api.evaluate import known_by_release
    from api.stored_runs import runs_on_offer
    from evaluation.leaderboard import board_document, boards, print_boards
    from evaluation.stored import load_run

    folder, offered = runs_on_offer(workspace, runs)
    stored = [load_run(path) for path in offered]
    found = boards(stored, known_by_release(workspace, stored))
    if html is not None:
        from evaluation.report import render

        html.write_text(render(found, datetime.now(UTC)), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps([board_document(board) for board in found]))
        return
    console = Console()
    print_boards(found, console)
    if not found:
        console.print(
            f"no run in {folder}; make one with `almanac evaluate`", highlight=False, soft_wrap=True
        )
    if html is not None:
        console.print(f"page: {html}", highlight=False, soft_wrap=True)


@app.command()
def score(
    run: Annotated[str, typer.Argument(help="A run, by name or path.")],
    workspace: WorkspaceOption = WORKSPACE,
    as_json: JsonOption = False,
) -> None:
    """Score a run again from its stored records, and say where the rows differ (exit 1).

    Example: almanac score 20261101T120000Z-reference-1a2b3c
    """
    import json

    from api.evaluate import score_run

    rescored, differing = score_run(workspace, run)
    if as_json:
        typer.echo(json.dumps({"rescored": rescored, "differing": differing}))
    else:
        typer.echo(f"{rescored} episodes scored again, {len(differing)} differ")
        for line in differing[:10]:
            typer.echo(f"  {line}")
    raise typer.Exit(1 if differing else 0)


def _start(workspace: Path, wish: Wish, selection: Selection, *, dry: bool, as_json: bool) -> None:
    import json
    import secrets
    from datetime import UTC, datetime

    from api.dry_run import dry_run, dry_run_lines
    from api.evaluate import plan_run, prepare, run_folder, runs_folder
    from api.settings import Settings
    from evaluation.run import create_run

    job = prepare(wish, workspace, Settings.from_environment())
    now = datetime.now(UTC)
    folder = run_folder(runs_folder(workspace), wish.player or wish.model, now, secrets.token_hex(3))
    plan = plan_run(job, wish, selection, folder)
    if dry:
        document = dry_run(job, wish, plan, folder)
        typer.echo(json.dumps(document) if as_json else "\n".join(dry_run_lines(document)))
        return
    create_run(folder, plan, now)
    _play(folder, job, wish, as_json=as_json)


def _resume(workspace: Path, name: str, given: Wish, *, as_json: bool) -> None:
    from api.evaluate import find_run, prepare, resume_wish, runs_folder
    from api.settings import Settings

    folder = find_run(runs_folder(workspace), name)
    wish = resume_wish(folder, given)
    _play(folder, prepare(wish, workspace, Settings.from_environment()), wish, as_json=as_json)


def _play(folder: Path, job: Job, wish: Wish, *, as_json: bool) -> None:
    """Play a run's owed slots under a progress display, then say how it stands."""
    from datetime import UTC, datetime

    from api.evaluate import check_resumable, play_run
    from evaluation.run import EXIT_CODES

    player = job.player(folder)
    check_resumable(folder, job, player)
    with _display(show=not as_json) as notify:
        progress = play_run(
            folder,
            job,
            player,
            concurrency=wish.concurrency if wish.model else 1,
            now=lambda: datetime.now(UTC),
            notify=notify,
        )
    _report(folder, job, progress, as_json=as_json)
    job.hall.close()
    raise typer.Exit(EXIT_CODES[progress.state])


@contextmanager
def _display(*, show: bool) -> Iterator[Callable[[Progress], None]]:
    """A live bar with counts, spend and time left, on stderr and only at a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not show or not console.is_terminal:
        yield lambda progress: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")

        def notify(progress: Progress) -> None:
            counts = ", ".join(f"{count} {status}" for status, count in sorted(progress.statuses.items()))
            spent = f" · ${progress.usd:.2f}" if progress.usd else ""
            bar.update(task, total=progress.planned, completed=progress.settled, description=counts + spent)

        yield notify


def _report(folder: Path, job: Job, progress: Progress, *, as_json: bool) -> None:
    import json

    from api.evaluate import known_words, runs_folder
    from evaluation.leaderboard import boards, print_boards
    from evaluation.stored import load_run

    if as_json:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        status = json.loads((folder / "status.json").read_text(encoding="utf-8"))
        typer.echo(
            json.dumps({"run": folder.name, "folder": str(folder), "status": status, "summary": summary})
        )
        return
    from rich.console import Console

    console = Console()
    words = known_words(job.hall)
    print_boards(boards([load_run(folder)], {job.hall.release["sha256"]: words} if words else None), console)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(progress.statuses.items()))
    console.print(f"run {folder}: {progress.state}; {counts}", highlight=False, soft_wrap=True, markup=False)
    if progress.last_error:
        console.print(f"last error: {progress.last_error}", highlight=False, soft_wrap=True, markup=False)
    if progress.state != "complete":
        where = "" if folder.parent == runs_folder(WORKSPACE) else f" --workspace {folder.parent.parent}"
        console.print(
            f"continue with: almanac evaluate --resume {folder.name}{where}", highlight=False, soft_wrap=True
        )


def _words(given: list[str] | None) -> tuple[str, ...]:
    return tuple(word.strip() for text in given or () for word in text.split(",") if word.strip())
