"""params.yaml: what can change a number on the leaderboard, read and checked once."""

from __future__ import annotations

from typing import Any

import yaml

from cards.errors import InputError

REQUIRED = {
    "window": ("after", "guard_days"),
    "sources": ("categories",),
    "extract": ("extractor", "model"),
    "review": ("model",),
    "release": ("soak_days", "families"),
}
"""Settings that every cut reads, by section; a family reads its own section."""


def read_params(data: bytes) -> dict[str, Any]:
    """Return the settings that ``data`` holds.

    Raises:
        InputError: when they are not YAML, or a setting is missing or not possible yet; names it.
    """
    try:
        params = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        raise InputError(
            f"params.yaml is not YAML ({first}).", "Compare it with the project's own."
        ) from error
    for section, names in REQUIRED.items():
        held = params.get(section) if isinstance(params, dict) else None
        for name in names:
            if not isinstance(held, dict) or name not in held:
                raise InputError(f"params.yaml lacks {section}.{name}.", "Compare it with the project's own.")
    if params["release"]["soak_days"] != 0:
        raise InputError("release.soak_days must be 0: a cut ends published.", "Set it to 0 in params.yaml.")
    return dict(params)
