"""Commands of releases: init, cut, releases, verify, get, and the stages that DVC runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()

WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="The workspace folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The folder to make; its store lies beside it.")],
    workspace: Annotated[Path | None, typer.Option("--workspace", hidden=True)] = None,
    public_url: Annotated[str, typer.Option(help="Address at which strangers will read the data.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a workspace: a git and DVC working tree, and beside it the store with hub, remotes and keys.

    Example: almanac init workspace
    """
    import json
    from datetime import UTC, datetime

    from api.found import PUBLIC_URL, Founding, found
    from api.settings import Settings

    root = folder.expanduser().resolve()
    founding = Founding(root, Settings.from_environment(), datetime.now(UTC), public_url or PUBLIC_URL)
    made = found(founding)
    if as_json:
        row = {"workspace": str(root), "store": str(founding.store), "made": made}
        typer.echo(json.dumps(row))
    elif made:
        typer.echo(f"made {folder} and its store {founding.store}")
        typer.echo("The store holds the root secret (sealed/root.key): keep a copy, let nobody read it.")
    else:
        typer.echo(f"{folder} is a workspace already; nothing was changed")


@app.command()
def cut(
    workspace: WorkspaceOption = Path("workspace"),
    version: Annotated[str, typer.Option(help="YYYY.M.PATCH; by default YYYY.M.0 of --at.")] = "",
    at: Annotated[str, typer.Option(help="Due time (ISO); by default now.")] = "",
    source: Annotated[
        Path | None, typer.Option(help="A folder of papers: NAME.tex or NAME.txt, each beside NAME.yaml.")
    ] = None,
    first: Annotated[str, typer.Option("--from", help="First UTC day to list (YYYY-MM-DD).")] = "",
    last: Annotated[str, typer.Option("--to", help="Last UTC day to list.")] = "",
    offline: Annotated[
        bool, typer.Option(help="List nothing, ask no model, open no outside socket.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Cut a release: collect, build, seal, check, play, and publish to the workspace's hub and remotes.

    A version that is published already is printed and left alone. After an interruption run it again.
    Settings are read from params.yaml as it was pushed to the hub.

    Example: almanac cut --version 2026.11.1 --source papers --offline
    """
    import json
    from dataclasses import asdict

    from api.workspace import Workspace

    found = Workspace.find(workspace)
    from datetime import UTC, datetime

    from api.cut import Cut, Order

    order = Order(version, at, source, _day(first), _day(last), offline)
    try:
        with _steps(log=not as_json) as show:
            report = Cut(found, order, lambda: datetime.now(UTC), show).run()
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command finishes the job", err=True)
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(asdict(report)))
        return
    typer.echo(f"{'published' if report.new else 'published already:'} {report.version}")
    typer.echo(f"manifest  {report.manifest_sha256}")
    for family, count in report.tasks.items():
        typer.echo(f"tasks     {family} {count}")
    for end, count in report.papers.items():
        typer.echo(f"papers    {count} {end}")
    for line in report.left_out:
        typer.echo(f"left out  {line}")
    if not report.new:
        typer.echo("nothing was cut; a further release needs a later --version (see `almanac releases`)")


@app.command()
def releases(workspace: WorkspaceOption = Path("workspace"), as_json: JsonOption = False) -> None:
    """List the published releases.

    Example: almanac releases
    """
    import json

    from api.releases import listed
    from api.workspace import Workspace

    rows = listed(Workspace.find(workspace))
    if as_json:
        typer.echo(json.dumps(rows))
        return
    if not rows:
        typer.echo("no release is published yet; cut one with `almanac cut --offline`")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("version", "due", "tasks", "state", "latest", "manifest", box=None)
    for row in rows:
        latest = "yes" if row["latest"] else ""
        table.add_row(
            row["version"], row["due"], str(row["tasks"]), row["state"], latest, row["manifest_sha256"][:16]
        )
    Console().print(table)


@app.command()
def verify(
    version: Annotated[str, typer.Argument(help="A version, or latest.")],
    workspace: WorkspaceOption = Path("workspace"),
    at: Annotated[Path | None, typer.Option(help="Check a folder that `almanac get` made instead.")] = None,
    remote_url: Annotated[str, typer.Option(help="Path or address of the public DVC remote.")] = "",
    deep: Annotated[
        bool, typer.Option(help="Rebuild the release and play its answers; takes minutes.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a release: signature, digests, schemas, commitments, parents, tag, states.

    What could not be checked with the parts at hand is said. Exit code 1 when a check fails.

    Example: almanac verify latest
    """
    import json

    from api.verify import Verification
    from api.workspace import Workspace

    with _steps(log=deep and not as_json) as show:
        if at is not None:
            from curation.verify import check_folder

            checked = check_folder(at, version)
        else:
            checked = Verification(Workspace.find(workspace), version, remote_url, show).run(deep=deep)
    failed = [item for item in checked if item.outcome == "failed"]
    if as_json:
        typer.echo(json.dumps({"passed": not failed, "checks": [item.model_dump() for item in checked]}))
    else:
        for item in checked:
            typer.echo(f"{item.outcome:8} {item.check:14} {item.message}".rstrip())
        typer.echo("verified" if not failed else f"{len(failed)} checks failed")
    if failed:
        raise typer.Exit(1)


@app.command()
def get(
    version: Annotated[str, typer.Argument(help="A version, or latest (resolved and recorded).")],
    source: Annotated[str, typer.Option("--from", help="A workspace, a hub, a clone, or an address of one.")],
    to: Annotated[Path, typer.Option("--to", help="The folder to make.")],
    sha256: Annotated[str, typer.Option(help="The manifest's digest, as it was published.")] = "",
    remote_url: Annotated[str, typer.Option(help="Path or address of the public DVC remote.")] = "",
    workspace: Annotated[Path | None, typer.Option("--workspace", hidden=True)] = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch a release's public part, verify it whole, and pin it in almanac.lock.

    A failure of any kind leaves no folder behind.

    Example: almanac get 2026.11.0 --from ./workspace --to ./pinned
    """
    import json
    import os

    from curation.get import Wanted, get_release

    wanted = Wanted(version, source, to, sha256.lower(), remote_url)
    lock = get_release(wanted, dict(os.environ))
    if as_json:
        typer.echo(json.dumps(lock))
        return
    typer.echo(f"verified  {lock['version']} in {to}")
    typer.echo(f"manifest  {lock['manifest_sha256']}")


@contextmanager
def _steps(*, log: bool = False) -> Iterator[Callable[[str], None]]:
    """Show on stderr the step that is being worked at; elsewhere than on a terminal only with ``log``."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal or not log:
        with console.status("starting") as status:
            yield lambda step: status.update(step)
        return
    shown: set[str] = set()

    def show(step: str) -> None:
        name = step.partition(" ")[0] if "/" in step else step  # a count of episodes is not a new step
        if name not in shown:
            shown.add(name)
            typer.echo(f"{name} …", err=True)

    yield show


def _day(text: str) -> date | None:
    from cards.errors import InputError

    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a day.", "Write YYYY-MM-DD.") from error


def _stage(name: str) -> Callable[[Path], None]:
    def run(workspace: WorkspaceOption = Path()) -> None:
        from api.run_stage import run_stage

        run_stage(name, workspace)

    run.__doc__ = f"Run the stage {name} in a clone of the hub; DVC calls it."
    return run


for _name in ("harvest", "parse", "extract", "review", "decide", "build", "seal", "gate"):
    app.command(_name, hidden=True)(_stage(_name))
