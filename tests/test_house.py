"""The house stands as ARCHITECTURE.md draws it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("cards", "gateway", "environments", "curation", "evaluation", "api")

# One forbidden import for each contract: the file that sins, and how.
SINS = {
    "storeys": ("curation/rows.py", "import evaluation.plan"),
    "gateway-errors-only": ("gateway/ledger.py", "import cards.card"),
    "pure-worlds": ("environments/session.py", "import socket"),
    "families-apart": ("environments/session.py", "import environments.law.family"),
    "families-independent": ("environments/drone/engine.py", "import environments.law.definition"),
    "window-arxiv": ("evaluation/plan.py", "import arxiv"),
    "window-models": ("curation/extract.py", "import openai"),
    "window-web": ("evaluation/plan.py", "import sqlalchemy"),
    "window-algebra": ("environments/session.py", "import sympy"),
}


def _config() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_imports_only_go_down() -> None:
    """Every import contract holds for the tree as it is."""
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_every_contract_has_a_planted_sin() -> None:
    """No contract goes untested."""
    contracts = _config()["tool"]["importlinter"]["contracts"]  # type: ignore[index]
    assert {contract["id"] for contract in contracts} == set(SINS)


@pytest.mark.parametrize("contract", sorted(SINS))
def test_a_forbidden_import_is_refused(copy: Path, contract: str) -> None:
    """A forbidden import planted in a copy breaks exactly the contract that forbids it."""
    name, line = SINS[contract]
    path = copy / name
    clean = path.read_text()
    path.write_text(f"{clean}\n{line}\n")
    try:
        result = _lint(copy)
    finally:
        path.write_text(clean)
    titles = {c["id"]: c["name"] for c in _config()["tool"]["importlinter"]["contracts"]}  # type: ignore[index]
    assert result.returncode == 1, result.stdout + result.stderr
    assert re.search(re.escape(titles[contract]) + r".*BROKEN", result.stdout), result.stdout


@pytest.mark.parametrize("command", [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)])
def test_the_code_is_clean(command: tuple[str, ...]) -> None:
    """Lint, format and strict types hold."""
    result = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]


def test_files_stay_readable() -> None:
    """No source file is longer than 400 lines."""
    long = {
        str(path.relative_to(ROOT)): count
        for name in PACKAGES
        for path in (ROOT / name).rglob("*.py")
        if (count := len(path.read_text().splitlines())) > 400
    }
    assert not long


def test_no_drawer_for_everything() -> None:
    """No file is named utils, helpers, common, core or manager."""
    names = {path.stem for name in PACKAGES for path in (ROOT / name).rglob("*.py")}
    assert not names & {"utils", "helpers", "common", "core", "manager"}


@pytest.mark.parametrize("name", PACKAGES)
def test_every_package_has_a_door_plate(name: str) -> None:
    """Each package says in 10 to 20 lines what lives in it, what may not, and the one type to know."""
    lines = [line for line in (ROOT / name / "README.md").read_text().splitlines() if line.strip()]
    assert 5 <= len(lines) <= 20


def test_the_lock_names_no_address() -> None:
    """The lock pins every package by version alone."""
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        assert re.fullmatch(r"[a-z0-9._-]+==[^ ]+( ; .*)?", line), line


def test_every_command_stands_in_the_readme() -> None:
    """The README names every command of the command line."""
    import typer

    from api.cli import app

    group = typer.main.get_command(app)
    readme = (ROOT / "README.md").read_text()
    commands = group.commands  # type: ignore[attr-defined]
    missing = [n for n, c in commands.items() if not c.hidden and f"almanac {n}" not in readme]
    assert not missing


def test_help_is_light() -> None:
    """``almanac --help`` loads none of the heavy libraries."""
    heavy = [
        "numpy",
        "scipy",
        "sympy",
        "pint",
        "openai",
        "instructor",
        "dvc",
        "arxiv",
        "fastapi",
        "sqlalchemy",
        "matplotlib",
    ]
    code = f"import sys, api.cli; print([m for m in {heavy!r} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert result.stdout.strip() == "[]"


def test_installed_majors_are_the_tried_ones() -> None:
    """A resolver that falls back to old majors is noticed (it has happened silently)."""
    from importlib.metadata import version

    tried = {
        "openai": "3.",
        "instructor": "1.17",
        "arxiv": "4.",
        "dvc": "3.",
        "pydantic": "2.",
        "sympy": "1.14",
    }
    assert {n: v for n, v in tried.items() if not version(n).startswith(v)} == {}
