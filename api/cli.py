"""The command line: one program, every command with the name of the function behind it.

Heavy libraries are imported inside the command that needs them, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from api import (
    commands_cards,
    commands_evaluation,
    commands_games,
    commands_organisms,
    commands_release,
    commands_report,
    commands_service,
    commands_worlds,
)
from cards.errors import AlmanacError

app = typer.Typer(
    name="almanac",
    help="A live, sealed and signed benchmark of scientific discovery.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for commands in (
    commands_release,
    commands_evaluation,
    commands_report,
    commands_games,
    commands_organisms,
    commands_worlds,
    commands_cards,
    commands_service,
):
    app.add_typer(commands.app)

PACKAGES = ("cards", "gateway", "environments", "curation", "evaluation", "api")


def main() -> None:
    """Run the command line; deliberate errors become one or two lines and their exit code."""
    try:
        _check_packages()
        app()
    except AlmanacError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.remedy:
            print(f"       {error.remedy}", file=sys.stderr)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        print(
            f"error: this command needs the package {error.name!r}, which is not installed.", file=sys.stderr
        )
        print("       Install Almanac with the extra that has it: curation, service or all.", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of a pipe has gone; keep Python from complaining at exit as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        # A full disk, a folder that may not be written: the machine's fault, which a traceback hides.
        place = f" ({error.filename})" if error.filename else ""
        print(f"error: {error.strerror or error}{place}", file=sys.stderr)
        print("       Mend that and run the command again; what was finished is kept.", file=sys.stderr)
        sys.exit(1)


def _check_packages() -> None:
    """Refuse to run when another distribution's package of the same name shadows one of ours."""
    from importlib.util import find_spec

    home = Path(__file__).resolve().parent.parent
    for name in PACKAGES:
        spec = find_spec(name)
        found = Path(spec.origin).resolve().parent.parent if spec and spec.origin else None
        if found != home:
            raise AlmanacError(
                f"the package {name!r} is not Almanac's own (it comes from {found}).",
                "Install Almanac into an environment of its own.",
            )


if __name__ == "__main__":
    main()
