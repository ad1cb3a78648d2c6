"""Commands for one card: check it, make its counterfactual twin, compare two expressions on its domain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from cards.card import Card
    from cards.expression import Tree
    from cards.finding import Finding

app = typer.Typer()

CardArgument = Annotated[
    str, typer.Argument(metavar="CARD.yaml", help="A card file, or the id of a Historical card.")
]
WorkspaceOption = Annotated[Path, typer.Option("--workspace", help="Card files are also looked for in it.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WORKSPACE = Path("workspace")
Tier = Literal["easy", "medium", "hard"]

EXIT_CODES = {"equal": 0, "different": 1, "undetermined": 3}
"""What ``equal`` ends with; 2 is a card or an expression that cannot be used."""


@app.command()
def check(card: CardArgument, workspace: WorkspaceOption = WORKSPACE, as_json: JsonOption = False) -> None:
    """Check one card and list the findings; ends with 1 when any is an error.

    Example: almanac check my_law.yaml
    """
    from cards.acceptance import accept
    from cards.check_table import failed
    from cards.errors import CardError
    from cards.finding import errors

    name = None
    try:
        loaded = _read(card, workspace)
        name, findings = loaded.id, accept(loaded)
    except CardError as trouble:
        findings = [failed("readable", "", str(trouble))]
    refused = bool(errors(findings))
    if as_json:
        rows = [finding.model_dump() for finding in findings]
        typer.echo(json.dumps({"card": name, "accepted": not refused, "findings": rows}))
    else:
        _print_findings(name or card, findings)
    raise typer.Exit(1 if refused else 0)


@app.command()
def pair(
    card: CardArgument,
    seed: Annotated[int, typer.Option(help="Stands in for the seed that a release would derive.")],
    tier: Annotated[Tier, typer.Option(help="How much is changed.")] = "medium",
    workspace: WorkspaceOption = WORKSPACE,
    as_json: JsonOption = False,
) -> None:
    """Make the counterfactual twin of a card and show its certificates.

    The same card, seed and tier give the same twin on every machine.

    Example: almanac pair ideal_gas --seed 7 --tier medium
    """
    from rich.console import Console

    from cards.store import historical
    from environments.law.generate import make_pair
    from environments.seeding import item_seed

    loaded = _sound(_read(card, workspace))
    others = [other for other in historical() if other.id != loaded.id]
    with Console(stderr=True).status(f"looking for a {tier} change that passes every check"):
        made = make_pair(loaded, item_seed(str(seed).encode(), "law", loaded.id), tier, others=others)
    if as_json:
        typer.echo(json.dumps(made.document()))
    else:
        _print_pair(loaded, made.document())


@app.command(context_settings={"ignore_unknown_options": True})
def equal(
    left: Annotated[str, typer.Argument(metavar="EXPR", help="The truth: infix text or a JSON document.")],
    right: Annotated[str, typer.Argument(metavar="EXPR", help="The answer: infix text or a JSON document.")],
    card: Annotated[
        str, typer.Option(metavar="CARD.yaml", help="The card that gives domain and parameters.")
    ],
    workspace: WorkspaceOption = WORKSPACE,
    as_json: JsonOption = False,
) -> None:
    """Decide whether two expressions are the same function on a card's domain.

    Ends with 0 when they are equal, 1 when different, 3 when it cannot be decided, 2 when an
    expression or the card cannot be used.

    Example: almanac equal "n*R*T/V" "R*T/(V/n)" --card ideal_gas
    """
    from cards.equality import decide
    from cards.errors import AlmanacError

    try:
        trees = [_expression(text) for text in (left, right)]  # hostile text is refused before anything else
        loaded = _sound(_read(card, workspace), _NEEDED_FOR_EQUAL)
        for tree in trees:
            _check_names(tree, loaded)
        verdict = decide(trees[0], trees[1], loaded.domain())
    except AlmanacError as trouble:
        trouble.exit_code = 2
        raise
    if as_json:
        document = {
            "outcome": verdict.outcome,
            "reason": verdict.reason,
            "difference": verdict.difference,
        }
        typer.echo(json.dumps(document))
    else:
        typer.echo(f"{verdict.outcome}: {_plain(verdict.reason)}")
    raise typer.Exit(EXIT_CODES[verdict.outcome])


def _read(text: str, workspace: Path) -> Card:
    """Read a card from a path, from a path inside the workspace, or from the Historical collection.

    Raises:
        CardError: when there is no such card or the file is not a card.
    """
    from cards.store import historical, read_card

    for path in (Path(text), workspace / text):
        if path.is_file():
            return read_card(path)
    known = {item.id: item for item in historical()}
    return known[text] if text in known else read_card(Path(text))


_NEEDED_FOR_EQUAL = (
    "name_invalid",
    "name_reserved",
    "name_duplicate",
    "domain",
    "domain_share",
    "number_size",
)
"""Checks that a card must pass to lend its domain; a giveaway in the background does not matter there."""


def _sound(card: Card, checks: tuple[str, ...] | None = None) -> Card:
    """Return the card when no check (of those named) finds an error.

    Raises:
        CardError: with the first error.
    """
    from cards.acceptance import accept
    from cards.errors import CardError
    from cards.finding import errors

    found = [finding for finding in errors(accept(card)) if checks is None or finding.check in checks]
    if found:
        place = f"{found[0].path}: " if found[0].path else ""
        raise CardError(
            f"the card {card.id} is refused ({found[0].check}): {place}{found[0].message}",
            "See all findings with: almanac check",
        )
    return card


def _expression(text: str) -> Tree:
    """Read infix text or a JSON document.

    Raises:
        ExpressionError: when it cannot be read.
    """
    from cards.document import loads_bounded, read_tree
    from cards.infix import parse_infix

    return read_tree(loads_bounded(text)) if text.lstrip().startswith("{") else parse_infix(text)


def _check_names(tree: Tree, card: Card) -> None:
    """Refuse an expression that names something beside the card's inputs and parameters.

    Raises:
        ExpressionError: with the name.
    """
    from cards.errors import ExpressionError
    from cards.expression import names

    known = {item.name for item in card.inputs} | set(card.values())
    if unknown := sorted(names(tree) - known):
        raise ExpressionError(
            f"{unknown[0]!r} is neither an input nor a parameter of {card.id}.",
            f"Known: {', '.join(sorted(known))}.",
        )


def _print_findings(name: str, findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from cards.check_table import CHECKS

    console = Console()
    styles = {"error": "bold red", "warning": "yellow", "info": "cyan"}
    for finding in findings:
        place = f"  {_plain(finding.path)}" if finding.path else ""
        head = Text.assemble((f"{finding.severity:7}", styles[finding.severity]), f" {finding.check}{place}")
        console.print(head)
        console.print(Padding(Text(_plain(finding.message)), (0, 0, 0, 8)))
        console.print(Padding(Text(CHECKS[finding.check].why, style="dim"), (0, 0, 0, 8)))
    counts = {severity: sum(item.severity == severity for item in findings) for severity in styles}
    told = ", ".join(f"{count} {severity}{'s' * (count > 1)}" for severity, count in counts.items() if count)
    verdict = "refused" if counts["error"] else "accepted"
    console.print(Text(f"{_plain(name)}: {verdict}" + (f" ({told})" if told else f", {len(CHECKS)} checks")))


def _print_pair(card: Card, document: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    tier = document["tier"]
    if tier != document["requested"]:
        tier += f" ({document['requested']} was asked for)"
    strict = "exact answers asked for" if document["strict"] else "weak-only"
    console.print(Text(f"{_plain(card.title)}: {tier}, {document['class']}, {strict}", style="bold"))
    if document["reason"]:
        console.print(Text(_plain(document["reason"])))
    relations = [
        (f"{name} {variant}", document[variant][name], "")
        for name in document["original"]
        for variant in ("original", "counterfactual")
    ]
    changes = [
        (
            change["kind"],
            f"of {change['target']} by {change['constant']} = {change['value']:g}",
            _inputs(change),
        )
        for change in document["mutations"]
    ]
    certificates = [
        (item["name"], "passed" if item["passed"] else "failed", item["message"] or _figures(item["values"]))
        for item in document["certificates"]
    ]
    for rows in (relations, changes, certificates):
        console.print(_grid(rows))


def _inputs(change: dict[str, Any]) -> str:
    return f"with {', '.join(change['inputs'])}" if change["inputs"] else ""


def _grid(rows: list[tuple[str, str, str]]) -> Table:
    """Return rows as columns of text; the first of a row is its name, nothing is cut off."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", style="dim")
    for row in rows:
        table.add_row(*(Text(_plain(part)) for part in row))
    table.add_row()
    return table


def _figures(values: dict[str, Any]) -> str:
    """Return a certificate's figures in one line, numbers at four digits; --json has them whole."""
    rounded = json.loads(json.dumps(values), parse_float=lambda text: float(f"{float(text):.4g}"))
    line = json.dumps(rounded, ensure_ascii=False).replace('"', "")[1:-1]
    return line if len(line) <= 120 else f"{line[:119]}…"


def _plain(text: str) -> str:
    """Return the text without control signs, so that a card cannot steer the terminal."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)
