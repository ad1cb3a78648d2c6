"""The commands for one card: check, pair, equal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.commands_cards import app
from cards.acceptance import CHECKS
from cards.errors import AlmanacError
from cards.store import dump_card, historical

CARD = historical()[0]


def run(*arguments: str | Path) -> Result:
    """Run one command; deliberate errors stay exceptions, as the program's own main expects them."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(folder: Path, *changes: tuple[str, str], name: str = "card.yaml") -> Path:
    """Write a Historical card with some text replaced."""
    text = dump_card(CARD)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_sound_card_ends_with_0(tmp_path: Path) -> None:
    """check prints that the card is accepted, for people and as JSON."""
    path = write(tmp_path)
    plain = run("check", path)
    assert plain.exit_code == 0
    assert "accepted" in plain.output
    document = json.loads(run("check", path, "--json").output)
    assert document == {"card": CARD.id, "accepted": True, "findings": []}


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ((f"unit: {CARD.inputs[0].unit}", "unit: degC"), "unit_syntax"),
        ((f"unit: {CARD.inputs[0].unit}", "unit: 9**9**9**9"), "unit_syntax"),
        ((f"unit: {CARD.inputs[0].unit}", "unit: kmol^2"), "unit_dimension"),
        ((f"low: {CARD.inputs[0].low}", "low: 1.0e+300"), "domain"),
        ((f"low: {CARD.inputs[0].low}", "low: .nan"), "readable"),
        (("relation: ", "relation: 1 + nonsense*"), "name_undeclared"),
        (("relation: ", "relation: 1 +* "), "readable"),
    ],
)
def test_a_card_with_an_error_ends_with_1(tmp_path: Path, change: tuple[str, str], check: str) -> None:
    """Any error finding: exit 1, with its name, place and message, in both forms."""
    path = write(tmp_path, change)
    plain, machine = run("check", path), run("check", path, "--json")
    assert plain.exit_code == machine.exit_code == 1
    assert check in plain.output
    document = json.loads(machine.output)
    assert not document["accepted"]
    assert check in {finding["check"] for finding in document["findings"]}
    assert {finding["check"] for finding in document["findings"]} <= set(CHECKS)


def test_a_warning_does_not_refuse(tmp_path: Path) -> None:
    """A hidden parameter with too many digits is shown and ends with 0."""
    card = CARD.model_copy(
        update={
            "parameters": tuple(
                item if item.told else item.model_copy(update={"value": item.value * 1.00001})
                for item in CARD.parameters
            )
        }
    )
    path = tmp_path / "card.yaml"
    path.write_text(dump_card(card), encoding="utf-8")
    outcome = run("check", path)
    assert outcome.exit_code == 0
    assert "hidden_precision" in outcome.output


def test_files_are_found_in_the_workspace_and_by_id(tmp_path: Path) -> None:
    """A card may be named by path, by a path inside the workspace, or by a Historical id."""
    write(tmp_path, name="mine.yaml")
    assert run("check", "mine.yaml", "--workspace", tmp_path).exit_code == 0
    assert run("check", CARD.id).exit_code == 0
    missing = run("check", "mine.yaml")
    assert missing.exit_code == 1
    assert "mine.yaml" in missing.output


def test_a_card_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Control signs of a card's texts are replaced before they are printed."""
    path = tmp_path / "card.yaml"
    path.write_text('id: a\ntitle: "\\e[31mred"\nextra\\e: 1\n"\\e[2J": 1\n', encoding="utf-8")
    outcome = run("check", path)
    assert outcome.exit_code == 1
    assert "\x1b" not in outcome.output


def test_a_pair_is_the_same_every_time() -> None:
    """pair prints both twins and every certificate; card, seed and tier decide all of it."""
    first, again = (run("pair", CARD.id, "--seed", "7", "--tier", "easy", "--json") for _ in range(2))
    assert first.exit_code == 0
    assert first.stdout == again.stdout
    document = json.loads(first.stdout)
    assert document["card"] == CARD.id
    assert document["original"] != document["counterfactual"]
    assert {item["name"] for item in document["certificates"]} >= {"units", "finite", "distinguishable"}
    other = json.loads(run("pair", CARD.id, "--seed", "8", "--tier", "easy", "--json").stdout)
    assert other["seed"] != document["seed"]
    plain = run("pair", CARD.id, "--seed", "7", "--tier", "easy").stdout
    for word in (*document["mutations"][0]["constant"], "original", "counterfactual", "units"):
        assert word in plain


def test_a_refused_card_makes_no_pair(tmp_path: Path) -> None:
    """pair names the first finding of a card that does not pass, and points to check."""
    path = write(tmp_path, (f"unit: {CARD.inputs[0].unit}", "unit: kmol^2"))
    outcome = run("pair", path, "--seed", "1")
    assert isinstance(outcome.exception, AlmanacError)
    assert outcome.exception.exit_code == 1
    assert "unit_dimension" in str(outcome.exception)
    assert "almanac check" in str(outcome.exception)


def test_usage_errors_end_with_2() -> None:
    """A missing seed, an unknown tier and an unknown option are usage errors."""
    for arguments in (
        ("pair", CARD.id),
        ("pair", CARD.id, "--seed", "x"),
        ("check",),
        ("check", "a", "--no"),
    ):
        assert run(*arguments).exit_code == 2
    assert run("pair", CARD.id, "--seed", "1", "--tier", "giant").exit_code == 2


def test_the_program_prints_errors_in_two_lines_and_exits_by_their_code(tmp_path: Path) -> None:
    """Through the real program: 1 for a refused card, 2 for a bad expression, never a traceback."""
    for arguments, code in (
        (["check", "missing.yaml"], 1),
        (["equal", "n", "n*", "--card", CARD.id], 2),
        (["equal", "-1", "-1", "--card", CARD.id], 0),
        (["pair", "missing.yaml", "--seed", "1"], 1),
    ):
        outcome = subprocess.run(
            [sys.executable, "-P", "-m", "api.cli", *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert outcome.returncode == code
        assert "Traceback" not in outcome.stderr
        assert len(outcome.stderr.splitlines()) <= 2


GAS = next(card for card in historical() if card.id == "ideal_gas")
TRUTH = "n*R*T/V"
EQUAL: list[tuple[str, str, int]] = [
    (TRUTH, "R*T/(V/n)", 0),
    (TRUTH, "n*8.314462618*T/V", 0),
    (TRUTH, '{"op": "mul", "args": [{"var": "n"}, {"op": "div", "args": [{"op": "mul", "args": '
     '[{"var": "R"}, {"var": "T"}]}, {"var": "V"}]}]}', 0),
    (f"-({TRUTH})", "-n*R*T/V", 0),
    (TRUTH, "n*8.31*T/V", 1),
    (TRUTH, "n*R*T/V + 0.01*R*T/V", 1),
    ("log(n - 100*n)", TRUTH, 3),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "code"), EQUAL)
def test_equal_ends_with_the_outcome(left: str, right: str, code: int) -> None:
    """equal ends with 0, 1 or 3, reads infix text and documents, and says the outcome in JSON too."""
    outcome = run("equal", left, right, "--card", GAS.id, "--json")
    assert outcome.exit_code == code
    document: dict[str, Any] = json.loads(outcome.stdout)
    assert document["outcome"] == {0: "equal", 1: "different", 3: "undetermined"}[code]
    assert run("equal", left, right, "--card", GAS.id).stdout.startswith(document["outcome"])


@pytest.mark.parametrize(
    ("left", "right", "card", "word"),
    [
        (TRUTH, "n*R*T/", GAS.id, "the end"),
        (TRUTH, "n*R*T/q", GAS.id, "'q'"),
        (TRUTH, "p", GAS.id, "'p'"),
        (TRUTH, "__import__('os')", GAS.id, "character"),
        (TRUTH, "[" * 100_000, GAS.id, ""),
        (TRUTH, '{"op":"neg","args":[' * 100_000, GAS.id, ""),
        (TRUTH, TRUTH, "no_such_card", "no_such_card"),
        ('{"op":"neg","args":[' * 100_000, TRUTH, "no_such_card", "characters"),
    ],
)
def test_equal_ends_with_2_on_what_it_cannot_use(left: str, right: str, card: str, word: str) -> None:
    """A bad expression or card is a usage error (2), never mistaken for 'different' (1)."""
    outcome = run("equal", left, right, "--card", card)
    assert isinstance(outcome.exception, AlmanacError)
    assert outcome.exception.exit_code == 2
    assert word in str(outcome.exception)
    assert len(str(outcome.exception)) < 600


def test_every_command_has_an_example_and_a_workspace_option() -> None:
    """The help of each command holds an example and --workspace."""
    for command in ("check", "pair", "equal"):
        text = run(command, "--help").output
        assert f"Example: almanac {command}" in text
        assert "--workspace" in text
        assert "--json" in text
