"""The command that reads the organisms of stored runs: pictures and tables of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evaluation.organisms import Study

app = typer.Typer()

WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="The workspace folder.")]


@app.command()
def organisms(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by name or path; all of the workspace by default.")
    ] = None,
    workspace: WorkspaceOption = Path("workspace"),
    html: Annotated[Path | None, typer.Option(help="Write the report as one static page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show diagnosis, rescue, exploration, evidence and probes of runs on organisms.

    Runs of several releases are not mixed: the newest release among them is shown.

    Example: almanac organisms --html organisms.html
    """
    import json
    from dataclasses import asdict
    from datetime import UTC, datetime

    version, studies = _studies(workspace, runs)
    if html is not None:
        from evaluation.organism_page import render

        html.write_text(render(studies, version, datetime.now(UTC)), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps({"release": version, "players": [asdict(study) for study in studies]}))
        return
    _show(studies, version)
    if html is not None:
        typer.echo(f"page: {html}")


def _studies(workspace: Path, names: list[str] | None) -> tuple[str, list[Study]]:
    from api.evaluate import all_runs, find_run, runs_folder
    from environments.release import version_order
    from evaluation.episode import EpisodeRow
    from evaluation.leaderboard import load_run
    from evaluation.organisms import FAMILY, study

    folder = runs_folder(workspace)
    stored = [
        load_run(path) for path in ([find_run(folder, n) for n in names] if names else all_runs(folder))
    ]
    stored = [run for run in stored if any(row.family == FAMILY for row in run.rows)]
    if not stored:
        return "none", []
    version = max((str(run.manifest["release"]["version"]) for run in stored), key=version_order)
    players: dict[str, dict[str, EpisodeRow]] = {}
    for run in sorted(stored, key=lambda run: run.name):
        if run.manifest["release"]["version"] == version:
            own = players.setdefault(run.manifest["player"]["name"], {})
            own |= {row.slot: row for row in run.rows if row.settled or row.slot not in own}
    return version, [study(name, rows.values()) for name, rows in sorted(players.items())]


def _show(studies: list[Study], version: str) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not studies:
        console.print("no run has an organism; make one with `almanac evaluate --families organism`")
        return
    headings = ("player", "tier", "n", "prediction", "diagnosis", "exact", "rescue", "gap")
    table = Table(title=f"release {version}", title_justify="left")
    for heading in headings:
        table.add_column(heading, no_wrap=heading == "player")
    for study in studies:
        for tier, found in study.scores.items():
            values = [found[name].value for name in ("prediction", "diagnosis", "exact", "rescue", "gap")]
            n = found["rescue"].n
            table.add_row(study.player, tier, str(n), *(f"{value:.3f}" for value in values))
    console.print(table)
    for study in studies:
        probes = ", ".join(
            f"{name} {figure.value:.2f}" for name, figure in study.probes.items() if "/" not in name
        )
        if probes:
            console.print(f"  {study.player}: {probes}", highlight=False, soft_wrap=True)
