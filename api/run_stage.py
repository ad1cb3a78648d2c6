"""Run one stage in a clone: what dvc.yaml's commands do."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from api.models import answered_by, gateways
from api.params import read_params
from api.workspace import Workspace
from cards.errors import ReleaseError
from curation import stages
from curation.cut_record import CUT_RECORD, CutRecord
from curation.git import Git
from curation.pin import lay_out
from curation.workbench import Workbench
from environments.seeding import release_key


def run_stage(name: str, root: Path) -> None:
    """Run one stage in the clone at ``root``; replies are replayed, nothing is bought.

    Raises:
        OwedCallError: when a reply that the stage needs was never bought.
        ReleaseError: when the gate finds a fault.
    """
    workspace = Workspace.find(root)
    record = CutRecord.read(workspace.root / CUT_RECORD)
    params = read_params((workspace.root / "params.yaml").read_bytes())
    secret = workspace.root_secret()
    key = release_key(secret, record.version)
    if name == "harvest":
        pinned = workspace.store / "cuts" / record.version / "arrivals"
        lay_out(pinned, workspace.root / "data" / "arrivals", key, record.arrivals)
    bench = Workbench(workspace.root, params, key, gateways(workspace, params, buy=False))
    # Families say what they built (expectations, attempts) to whoever runs the stage.
    logging.basicConfig(format="%(message)s", stream=sys.stdout)
    logging.getLogger("environments").setLevel(logging.INFO)
    if name != "gate":
        getattr(stages, name)(bench)
        return
    history = Git(workspace.root, workspace.environment()).history()
    findings = stages.gate(bench, secret, history, answered_by(workspace))
    for finding in findings:
        print(f"{finding.check} {finding.path}: {finding.message}", file=sys.stderr)
    if findings:
        raise ReleaseError(f"the gate found {len(findings)} faults.", "gate.json lists them.")
