"""The files that a new workspace begins with; the pipeline and its settings are the project's own."""

from __future__ import annotations

from importlib.resources import files

GITIGNORE = """# Secrets, arrivals and intermediate results never enter git; the cut's record and reports do.
/.almanac/
/runs/
/leaderboard.html
/data/arrivals/*
!/data/arrivals/cut.json
/data/build/*
!/data/build/gate.json
!/data/build/manifest.json
!/data/build/play.json
"""

DVCIGNORE = """__pycache__/
/.almanac/
/runs/
"""


def template() -> dict[str, bytes]:
    """Return the files of a new workspace by path."""
    package = files("curation")
    return {
        "dvc.yaml": package.joinpath("pipeline.yaml").read_bytes(),
        "params.yaml": package.joinpath("settings.yaml").read_bytes(),
        ".gitignore": GITIGNORE.encode(),
        ".dvcignore": DVCIGNORE.encode(),
        "data/errata.jsonl": b"",
    }
