"""The command that writes the report of some runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()

WORKSPACE = Path("workspace")
PAGE = Path("report.html")
NOTE_EVERY_S = 5.0


@app.command()
def report(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by name or path; all of the workspace by default.")
    ] = None,
    workspace: Annotated[Path, typer.Option("--workspace", help="The workspace folder.")] = WORKSPACE,
    release: Annotated[str, typer.Option(help="A version; by default that of the latest run.")] = "",
    html: Annotated[
        Path | None, typer.Option(help="Where the page is written (report.html, with --json nowhere).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Write the analyses of law runs as one static page: curves, beliefs, failures, fairness.

    A report is about one release. Runs of another one, and runs without a law, are left out and named.

    Example: almanac report --release 2026.11.0 --html report.html
    """
    import json
    from datetime import UTC, datetime

    from api.report import gather, render
    from api.stored_runs import runs_on_offer
    from cards.errors import RunError

    folder, chosen = runs_on_offer(workspace, runs)
    if not chosen:
        raise RunError(f"there is no run in {folder}.", "Make one with `almanac evaluate`.")
    with _display() as notify:
        made = gather(workspace, chosen, release, named=bool(runs), notify=notify)
    page = html or (None if as_json else PAGE)
    if page is not None:
        page.write_text(render(made, datetime.now(UTC)), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(made.document(), allow_nan=False))
        return
    typer.echo(f"release   {made.chosen.version}")
    for player, names in made.players.items():
        typer.echo(f"player    {player}: {', '.join(names)}")
    for name, reason in made.chosen.left_out:
        typer.echo(f"left out  {name}: {reason}")
    typer.echo(f"page      {page}")


@contextmanager
def _display() -> Iterator[Callable[[int, int], None]]:
    """Say on stderr how far the work is: a live bar at a terminal, a line now and then elsewhere."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    if console.is_terminal:
        columns = (TextColumn("analysing"), BarColumn(), MofNCompleteColumn(), TextColumn("episodes"))
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("")
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    next_note = time.monotonic()

    def note(done: int, total: int) -> None:
        nonlocal next_note
        if time.monotonic() >= next_note:
            next_note = time.monotonic() + NOTE_EVERY_S
            typer.echo(f"analysing episode {done} of {total} …", err=True)

    yield note
