"""The command that writes the report of some runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()

WORKSPACE = Path("workspace")


@app.command()
def report(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by name or path; all of the workspace by default.")
    ] = None,
    workspace: Annotated[Path, typer.Option("--workspace", help="The workspace folder.")] = WORKSPACE,
    html: Annotated[Path, typer.Option(help="Where the page is written.")] = Path("report.html"),
) -> None:
    """Write the analyses of law runs as one static page: curves, beliefs, failures, fairness.

    Example: almanac report 20261101T120000Z-reference-1a2b3c --html report.html
    """
    from datetime import UTC, datetime

    from api.evaluate import all_runs, find_run, runs_folder
    from api.report import report as write

    folder = runs_folder(workspace)
    chosen = [find_run(folder, name) for name in runs] if runs else all_runs(folder)
    html.write_text(write(workspace, chosen, datetime.now(UTC)), encoding="utf-8")
    typer.echo(f"page: {html}")
