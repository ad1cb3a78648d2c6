"""The command that reads the drone games of stored runs as tables of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from evaluation.one_release import Chosen

app = typer.Typer()

WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="The workspace folder.")]


@app.command()
def games(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by name or path; all of the workspace by default.")
    ] = None,
    workspace: WorkspaceOption = Path("workspace"),
    release: Annotated[str, typer.Option(help="A version; by default that of the latest run.")] = "",
    scores: Annotated[
        Path | None,
        typer.Option(help="A CSV file of lines PLAYER,SCORE of another test, to correlate survival with."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the drone games of stored runs: survival, wins, gaps, behaviour, correlation.

    Tables are about one release. Runs of another one, and runs without a game, are left out and named.

    Example: almanac games --scores other_test.csv
    """
    import json

    from api.stored_runs import chosen_document, chosen_runs
    from evaluation.games import FAMILY, spearman

    folder, chosen = chosen_runs(workspace, runs, release, FAMILY)
    tables = _tables(chosen)
    document = chosen_document(chosen) | {"players": tables}
    if scores is not None:
        ours = {name: table["overall"]["with_zeros"] for name, table in tables.items()}
        document["spearman"] = spearman(ours, read_scores(scores))
    if as_json:
        typer.echo(json.dumps(document))
        return
    _show(document, folder)


def read_scores(path: Path) -> dict[str, float]:
    """Return a table of scores by player.

    Raises:
        InputError: when the file cannot be read or a line is not ``PLAYER,SCORE``.
    """
    import csv
    import math

    from cards.errors import InputError

    try:
        lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read ({error}).", "Give a CSV file of PLAYER,SCORE.") from error
    found: dict[str, float] = {}
    for number, line in enumerate(lines, start=1):
        try:
            name, score = line
            found[name.strip()] = float(score)
        except ValueError:
            if number == 1:
                continue  # a heading
            raise InputError(f"{path}, line {number}: {','.join(line)[:60]!r} is not PLAYER,SCORE.") from None
    if not all(math.isfinite(value) for value in found.values()):
        raise InputError(f"{path} holds a score that is not a finite number.")
    return found


def _tables(chosen: Chosen | None) -> dict[str, Any]:
    """Return the tables of every player that has a settled game."""
    from evaluation.games import FAMILY, report
    from evaluation.stored import seatings

    found = {}
    for seated in seatings(chosen.runs, FAMILY) if chosen else ():
        rows = [row for row in seated.rows.values() if row.settled]
        if rows:
            found[seated.player] = report(rows)
    return found


def _show(document: Mapping[str, Any], folder: Path) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not document["players"]:
        missing = f"no run in {folder} has a drone game; make one with `almanac evaluate --families drone`"
        console.print(missing, highlight=False, markup=False, soft_wrap=True)
        return
    console.print(f"release {document['release']}", highlight=False)
    for item in document["left_out"]:
        console.print(f"left out {item['run']}: {item['reason']}", highlight=False, soft_wrap=True)
    for player, report in document["players"].items():
        table = Table(title=player, title_justify="left", box=SIMPLE_HEAD)
        table.add_column("game", overflow="fold")
        for heading in ("n", "wins", "survival %", "95 % interval", "with 0s"):
            table.add_column(heading, no_wrap=True)
        for name, item in report["scenarios"].items():
            table.add_row(
                name,
                f"{item['finished']}/{item['n']}",
                f"{item['wins']}",
                _spread(item["mean"], item["sd"]),
                _interval(item["low"], item["high"]),
                f"{100 * item['with_zeros']:.1f}",
            )
        console.print(table)
        whole = report["overall"]
        console.print(
            f"{whole['games']:.0f} games, {whole['games_won']:.1f} won; mean survival "
            f"{_spread(whole['survival'], whole['sd'])}, unfinished as 0: {100 * whole['with_zeros']:.1f}",
            highlight=False,
        )
        _lines(console, report)
    if "spearman" in document:
        found = document["spearman"]
        rho = "undefined" if found["rho"] is None else f"{found['rho']:+.2f}"
        console.print(f"Spearman with the given table: {rho} over {found['n']:.0f} players", highlight=False)


def _lines(console: Any, report: Mapping[str, Any]) -> None:
    for name, sides in report["splits"].items():
        shown = ", ".join(f"{answer} {_spread(item['mean'], None)}" for answer, item in sides.items())
        console.print(f"  {name.replace('_', ' ')}: {shown}", highlight=False)
    for tier, item in report["gaps_by_stage1"].items():
        console.print(
            f"  Stage 1 {tier}: gap {100 * item['gap']:+.1f} points over {item['n']:.0f} games",
            highlight=False,
        )
    for name, item in report["behaviour"].items():
        console.print(f"  {name.replace('_', ' ')}: {item['share']:.0%} of {item['n']:.0f}", highlight=False)


def _interval(low: float | None, high: float | None) -> str:
    """Return a t interval in per cent, cut at 0 and 100, beyond which no survival lies."""
    if low is None or high is None:
        return "–"
    return f"{100 * max(low, 0.0):.1f} to {100 * min(high, 1.0):.1f}"


def _spread(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "–"
    return f"{100 * mean:.1f}" + ("" if sd is None else f" ± {100 * sd:.1f}")
