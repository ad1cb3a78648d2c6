"""The command that reads the organisms of stored runs: pictures and tables of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from environments.organism.summary import CensusSummary
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

    folder, version, studies = _studies(workspace, runs)
    if html is not None:
        from evaluation.organism_page import render

        html.write_text(render(studies, version, datetime.now(UTC)), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps({"release": version, "players": [asdict(study) for study in studies]}))
        return
    _show(studies, version, folder)
    if html is not None:
        typer.echo(f"page: {html}")


@app.command()
def census(
    workspace: WorkspaceOption = Path("workspace"),
    release: Annotated[str, typer.Option(help="A version, or latest.")] = "latest",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the census of a release's organisms, which needs its sealed part.

    The census is exhaustive and never chosen. Below it stands the null organism of each tier, which has no
    regulation and is part of no release. none: no other fault fits; rivals: other faults that fit, where any
    does; telling: interventions that tell one from the cause; single: resolvable by one experiment.

    Example: almanac census --release latest
    """
    import json
    from dataclasses import asdict

    lines = _census(workspace, release)
    if as_json:
        typer.echo(json.dumps({name: asdict(summary) for name, summary in lines.items()}))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for heading in ("tier", "n", "none", "resolvable", "structural", "rivals", "telling", "single"):
        table.add_column(heading, no_wrap=True)
    for name, found in lines.items():
        classes = (found.organisms, found.unambiguous, found.resolvable, found.structural)
        telling = "–" if found.chance is None else f"{found.discriminating:.1f} ({found.chance:.0%})"
        alternatives = "–" if found.alternatives is None else f"{found.alternatives:.2f}"
        single = f"{found.single}/{found.resolvable}"
        table.add_row(name, *(str(count) for count in classes), alternatives, telling, single)
    Console().print(table)


def _census(workspace: Path, release: str) -> dict[str, CensusSummary]:
    from api.workspace import Workspace
    from environments.organism.census import take_census
    from environments.organism.control import null_organism
    from environments.organism.definition import OrganismDefinition
    from environments.organism.summary import summarise
    from environments.organism.tiers import TIERS

    opened = Workspace.find(workspace).release(release)
    own = [row for row in opened.rows() if row.setting.startswith("diseased-")]
    known = [OrganismDefinition.model_validate(opened.task(row.id).definition) for row in own]
    censuses = {name: [take_census(d.organism) for d in known if d.wiring.tier == name] for name in TIERS}
    lines = {name: summarise(found) for name, found in censuses.items()}
    lines["all"] = summarise([census for found in censuses.values() for census in found])
    return lines | {f"null, {name}": summarise([take_census(null_organism(name))]) for name in TIERS}


def _studies(workspace: Path, names: list[str] | None) -> tuple[Path, str, list[Study]]:
    from api.stored_runs import runs_on_offer
    from environments.release import version_order
    from evaluation.episode import EpisodeRow
    from evaluation.organisms import FAMILY, study
    from evaluation.stored import load_run

    folder, offered = runs_on_offer(workspace, names)
    stored = [load_run(path) for path in offered]
    stored = [run for run in stored if any(row.family == FAMILY for row in run.rows)]
    if not stored:
        return folder, "none", []
    version = max((str(run.manifest["release"]["version"]) for run in stored), key=version_order)
    players: dict[str, dict[str, EpisodeRow]] = {}
    for run in sorted(stored, key=lambda run: run.name):
        if run.manifest["release"]["version"] == version:
            own = players.setdefault(run.manifest["player"]["name"], {})
            own |= {row.slot: row for row in run.rows if row.settled or row.slot not in own}
    return folder, version, [study(name, rows.values()) for name, rows in sorted(players.items())]


def _show(studies: list[Study], version: str, folder: Path) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not studies:
        missing = f"no run in {folder} has an organism; make one with `almanac evaluate --families organism`"
        console.print(missing, highlight=False, markup=False, soft_wrap=True)
        return
    headings = ("player", "tier", "n", "prediction", "diagnosis", "exact", "rescue", "gap")
    table = Table(title=f"release {version}", title_justify="left", box=SIMPLE_HEAD)
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
