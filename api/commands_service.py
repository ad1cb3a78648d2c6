"""Commands of the service: serve, key create, key list, key revoke."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()
key_app = typer.Typer(no_args_is_help=True, help="API keys of the curator door.")
app.add_typer(key_app, name="key")

WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="The workspace folder.")]


@app.command()
def serve(
    workspace: WorkspaceOption = Path("workspace"),
    only: Annotated[str, typer.Option(help="Serve one door in this process: agent or curator.")] = "",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(help="Port of the door that --only names (0 takes a free one).", min=0, max=65535),
    ] = None,
    agent_url: Annotated[
        str, typer.Option(help="Where players reach the agent door (curator door only).")
    ] = "",
    with_parent: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Serve the agent door and the curator door, each in a process of its own.

    Their ports are 8401 and 8402, or ALMANAC_AGENT_PORT and ALMANAC_CURATOR_PORT.

    Example: almanac serve --workspace ./workspace
    """
    from api.serve import end_with_parent, run_door
    from api.settings import Settings
    from cards.errors import InputError

    if with_parent:
        end_with_parent()

    settings = Settings.from_environment()
    ports = {"agent": settings.agent_port, "curator": settings.curator_port}
    if only:
        address = (host, ports.get(only, 0) if port is None else port)
        run_door(only, workspace, address, agent_url or f"http://{host}:{settings.agent_port}")
        return
    if port is not None:
        raise InputError(
            "--port is for one door, with --only.",
            "For both set ALMANAC_AGENT_PORT and ALMANAC_CURATOR_PORT.",
        )
    _serve_both(workspace, host, ports, agent_url)


def _serve_both(workspace: Path, host: str, ports: dict[str, int], agent_url: str) -> None:
    import signal
    import time

    from rich.console import Console

    from api.serve import DoorProcess, ServeError
    from api.workspace import Workspace

    Workspace.find(workspace)
    console = Console()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with DoorProcess("agent", workspace, ports["agent"], ("--host", host)) as agent:
        extra = ("--host", host, "--agent-url", agent_url or agent.url)
        with DoorProcess("curator", workspace, ports["curator"], extra) as curator:
            console.print(f"agent door    {agent.url}\ncurator door  {curator.url}\nCtrl-C stops both.")
            try:
                while agent.process.poll() is None and curator.process.poll() is None:
                    time.sleep(0.2)
            except KeyboardInterrupt:
                console.print("stopping")
                return
            raise ServeError("a door ended by itself; both are stopped.", "Start `almanac serve` again.")


@key_app.command("create")
def key_create(
    scope: Annotated[
        str, typer.Option(help="What the key opens: evaluate plays; review and release are for later.")
    ],
    workspace: WorkspaceOption = Path("workspace"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make an API key. It is shown this once; only its digest is kept.

    Example: almanac key create --scope evaluate
    """
    import json
    from datetime import UTC, datetime

    from api.store import Store
    from api.workspace import Workspace

    store = Store(Workspace.find(workspace).database)
    try:
        key = store.create_key(scope, datetime.now(UTC))
        identity = store.key_id(key, scope)
    finally:
        store.close()
    if as_json:
        typer.echo(json.dumps({"key": key, "scope": scope, "id": identity}))
    else:
        typer.echo(key)
        typer.echo(f"its id, for `almanac key revoke`: {identity}", err=True)


@key_app.command("list")
def key_list(
    workspace: WorkspaceOption = Path("workspace"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the keys that open something: id, scope, when made. The keys themselves are not kept.

    Example: almanac key list
    """
    import json

    from api.store import Store
    from api.workspace import Workspace

    store = Store(Workspace.find(workspace).database)
    try:
        rows = store.list_keys()
    finally:
        store.close()
    if as_json:
        typer.echo(json.dumps(rows))
    else:
        typer.echo("\n".join(f"{row['id']}  {row['scope']:8}  {row['created']}" for row in rows) or "no keys")


@key_app.command("revoke")
def key_revoke(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The key's id, from `almanac key list`.")],
    workspace: WorkspaceOption = Path("workspace"),
) -> None:
    """Take a key back: it opens nothing from now on, at doors that run as well.

    Example: almanac key revoke 3f9a01bc
    """
    from datetime import UTC, datetime

    from api.store import Store
    from api.workspace import Workspace

    store = Store(Workspace.find(workspace).database)
    try:
        store.revoke_key(identity, datetime.now(UTC))
    finally:
        store.close()
    typer.echo(f"revoked {identity}")
