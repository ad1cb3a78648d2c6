"""The command that reads the organisms of stored runs: pictures and tables of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from environments.organism.summary import CensusSummary
    from evaluation.one_release import Chosen
    from evaluation.organisms import Study

app = typer.Typer()

LEGEND = """\
none     organisms of which no other fault fits
resol.   of which other faults fit, and interventions tell all of them from the cause
struct.  of which another fault fits that no intervention tells from the cause
rivals   other faults that fit, where any does
telling  interventions that tell one from the cause, and their share
single   resolvable by one experiment"""

WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="The workspace folder.")]


@app.command()
def organisms(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by name or path; all of the workspace by default.")
    ] = None,
    workspace: WorkspaceOption = Path("workspace"),
    release: Annotated[str, typer.Option(help="A version; by default that of the latest run.")] = "",
    html: Annotated[Path | None, typer.Option(help="Write the report as one static page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show diagnosis, rescue, exploration, evidence and probes of runs on organisms.

    Tables are about one release. Runs of another one, and runs without an organism, are left out and named.

    Example: almanac organisms --html organisms.html
    """
    import json
    from dataclasses import asdict
    from datetime import UTC, datetime

    from api.stored_runs import chosen_document

    folder, chosen, studies = _studies(workspace, runs, release)
    if html is not None:
        from evaluation.organism_page import render

        version, left_out = (chosen.version, chosen.left_out) if chosen else ("none", ())
        html.write_text(render(studies, version, datetime.now(UTC), left_out), encoding="utf-8")
    if as_json:
        players = [asdict(study) for study in studies]
        typer.echo(json.dumps(chosen_document(chosen) | {"players": players}))
        return
    _show(chosen, studies, folder)
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
    from rich.console import Console

    console = Console()
    console.print(_census_table(lines))
    console.print(LEGEND, highlight=False)


def _census_table(lines: Mapping[str, CensusSummary]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("tier", "n", "none", "resol.", "struct.", "rivals", "telling", "single"):
        table.add_column(heading, no_wrap=True)
    for name, found in lines.items():
        classes = (found.organisms, found.unambiguous, found.resolvable, found.structural)
        telling = "–" if found.chance is None else f"{found.discriminating:.1f} ({found.chance:.0%})"
        alternatives = "–" if found.alternatives is None else f"{found.alternatives:.2f}"
        single = f"{found.single}/{found.resolvable}"
        table.add_row(name, *(str(count) for count in classes), alternatives, telling, single)
    return table


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


def _studies(
    workspace: Path, names: list[str] | None, release: str
) -> tuple[Path, Chosen | None, list[Study]]:
    from api.stored_runs import chosen_runs
    from evaluation.organisms import FAMILY, study
    from evaluation.stored import seatings

    folder, chosen = chosen_runs(workspace, names, release, FAMILY)
    seated = seatings(chosen.runs, FAMILY) if chosen else []
    studies = [study(one.player, one.rows.values()) for one in seated if one.rows]
    return folder, chosen, studies


def _show(chosen: Chosen | None, studies: list[Study], folder: Path) -> None:
    from rich.console import Console

    console = Console()
    if chosen is None or not studies:
        missing = f"no run in {folder} has an organism; make one with `almanac evaluate --families organism`"
        console.print(missing, highlight=False, markup=False, soft_wrap=True)
        return
    console.print(f"release {chosen.version}", highlight=False)
    for name, reason in chosen.left_out:
        console.print(f"left out {name}: {reason}", highlight=False, markup=False, soft_wrap=True)
    if not any(study.sessions for study in studies):
        probed = "; the probes that were stand below" if any(study.probes for study in studies) else ""
        console.print(f"no session on a diseased organism was played{probed}")
    else:
        console.print(_score_table(studies))
    for study in studies:
        probes = ", ".join(
            f"{name} {figure.value:.2f}" for name, figure in study.probes.items() if "/" not in name
        )
        if probes:
            console.print(f"  {study.player}: {probes}", highlight=False, soft_wrap=True)


def _score_table(studies: list[Study]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    headings = ("player", "tier", "n", "prediction", "diagnosis", "exact", "rescue", "gap")
    table = Table(box=SIMPLE_HEAD)
    for heading in headings:
        table.add_column(heading, no_wrap=heading == "player")
    for study in studies:
        for tier, found in study.scores.items():
            values = [found[name].value for name in ("prediction", "diagnosis", "exact", "rescue", "gap")]
            n = found["rescue"].n
            table.add_row(study.player, tier, str(n), *(f"{value:.3f}" for value in values))
    return table
