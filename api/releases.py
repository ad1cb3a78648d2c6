"""List the releases that are published."""

from __future__ import annotations

import json
from typing import Any

from api.workspace import Workspace
from cards.canonical import sha256_hex
from curation.publish import LATEST, state_path
from environments.release import MANIFEST, parse_manifest, version_order


def listed(workspace: Workspace) -> list[dict[str, Any]]:
    """Return one row a release, newest first: version, due time, tasks, state, whether it is latest."""
    git = workspace.git()
    versions = sorted((tag[1:] for tag in git.tags() if tag.startswith("v")), key=version_order, reverse=True)
    pointer = git.show("main", LATEST)
    latest = json.loads(pointer)["version"] if pointer else None
    rows = []
    for version in versions:
        data = git.show(f"v{version}", f"data/releases/{version}/{MANIFEST}") or b""
        manifest = parse_manifest(data, f"the manifest of {version}")
        states = (git.show("main", state_path(version)) or b"").splitlines()
        rows.append(
            {
                "version": version,
                "due": manifest.window.clock,
                "tasks": sum(count.tasks for count in manifest.counts.values()),
                "families": {name: count.tasks for name, count in manifest.counts.items()},
                "state": json.loads(states[-1])["state"] if states else "unfinished",
                "latest": version == latest,
                "manifest_sha256": sha256_hex(data),
            }
        )
    return rows
