"""The command that reads the causal worlds of stored runs as tables of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evaluation.worlds import Budget, Rate, Study

app = typer.Typer()

WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="The workspace folder.")]


@app.command()
def worlds(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by name or path; all of the workspace by default.")
    ] = None,
    workspace: WorkspaceOption = Path("workspace"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the causal worlds of stored runs: CORE and QUAL, evidence, and what rows buy over turns.

    Runs of several releases are not mixed: the newest release among them is shown.

    Example: almanac worlds
    """
    import json
    from dataclasses import asdict

    folder, version, studies = _studies(workspace, runs)
    if as_json:
        typer.echo(json.dumps({"release": version, "players": [asdict(study) for study in studies]}))
    else:
        _show(version, studies, folder)


def _studies(workspace: Path, names: list[str] | None) -> tuple[Path, str, list[Study]]:
    from api.stored_runs import runs_on_offer
    from environments.release import version_order
    from evaluation.episode import EpisodeRow
    from evaluation.stored import load_run
    from evaluation.worlds import FAMILY, study

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


def _show(version: str, studies: list[Study], folder: Path) -> None:
    from rich.console import Console

    console = Console()
    if not studies:
        missing = f"no run in {folder} has a causal world; make one with `almanac evaluate --families pgm`"
        console.print(missing, highlight=False, markup=False, soft_wrap=True)
        return
    console.print(f"release {version}; accepted answers with 95 % intervals; † fewer than 20 worlds")
    for study in studies:
        for line in _lines(study):
            console.print(line, highlight=False, soft_wrap=True)


def _lines(study: Study) -> Iterator[str]:
    for budget in study.budgets:
        yield f"{study.player} · {budget.protocol}"
        for name, rate in budget.accepted.items():
            yield f"  {name:16} {_text(rate)}  exact {budget.exact[name].value:.0%}"
        yield f"  {_words(budget)}"
        for name, found in budget.ledger.items():
            shares = (found.acquisition, found.retention, found.ignored, found.extra_turns)
            words = ("acquired", "retained", "ignored", "extra turns")
            shown = [f"{w} {'–' if s is None else f'{s:.2f}'}" for w, s in zip(words, shares, strict=True)]
            yield f"  evidence on {name}: {', '.join(shown)}"
    if study.gain is not None:
        found_gain = study.gain
        yield (
            f"{study.player} · samp5k minus four_turn on core: {found_gain.points:+.1f} points; cells up "
            f"{found_gain.up}, equal {found_gain.equal}, down {found_gain.down}"
        )


def _text(rate: Rate) -> str:
    found = rate.interval
    shown = "" if found is None else f" [{found.low:.0%}, {found.high:.0%}]"
    return f"{rate.value:5.0%}{shown} of {rate.n}{'†' if rate.flagged else ''}"


def _words(budget: Budget) -> str:
    parts = [f"{name.replace('_', ' ')} {value:.1f}" for name, value in budget.logged.items()]
    parts += [f"F1 {budget.f1:.2f}"] if budget.f1 is not None else []
    parts += [f"said yes {budget.yes_share:.0%}"] if budget.yes_share is not None else []
    return ", ".join(parts)
