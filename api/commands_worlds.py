"""The command that reads the causal worlds of stored runs as tables of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evaluation.one_release import Chosen
    from evaluation.worlds import Budget, Rate, Study

app = typer.Typer()

WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="The workspace folder.")]


@app.command()
def worlds(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by name or path; all of the workspace by default.")
    ] = None,
    workspace: WorkspaceOption = Path("workspace"),
    release: Annotated[str, typer.Option(help="A version; by default that of the latest run.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the causal worlds of stored runs: CORE and QUAL, evidence, and what rows buy over turns.

    Tables are about one release. Runs of another one, and runs without a world, are left out and named.

    Example: almanac worlds
    """
    import json
    from dataclasses import asdict

    from api.stored_runs import chosen_document

    folder, chosen, studies = _studies(workspace, runs, release)
    if as_json:
        players = [asdict(study) for study in studies]
        typer.echo(json.dumps(chosen_document(chosen) | {"players": players}))
    else:
        _show(chosen, studies, folder)


def _studies(
    workspace: Path, names: list[str] | None, release: str
) -> tuple[Path, Chosen | None, list[Study]]:
    from api.stored_runs import chosen_runs
    from evaluation.stored import seatings
    from evaluation.worlds import FAMILY, study

    folder, chosen = chosen_runs(workspace, names, release, FAMILY)
    seated = seatings(chosen.runs, FAMILY) if chosen else []
    studies = [study(one.player, one.rows.values()) for one in seated if one.rows]
    return folder, chosen, studies


def _show(chosen: Chosen | None, studies: list[Study], folder: Path) -> None:
    from rich.console import Console

    console = Console()
    if chosen is None or not studies:
        missing = f"no run in {folder} has a causal world; make one with `almanac evaluate --families pgm`"
        console.print(missing, highlight=False, markup=False, soft_wrap=True)
        return
    console.print(f"release {chosen.version}; accepted answers with 95 % intervals; † fewer than 20 worlds")
    for name, reason in chosen.left_out:
        console.print(f"left out {name}: {reason}", highlight=False, markup=False, soft_wrap=True)
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
