"""Drones a second on one core, and a whole evaluation of a scripted player; prints one JSON line.

    python benchmarks/drone.py

Exits 1 when fewer than 300,000 drones a second fly through the slowest family, or fourteen games take a
scripted player more than 10 s.
"""

from __future__ import annotations

import json
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

from cards.canonical import digest
from environments.checks import play
from environments.drone.flights import Flights, fly
from environments.drone.template import TEMPLATES, Template
from environments.families import family
from environments.task import Options
from evaluation.episode import Slot
from evaluation.players import scripted_player

DRONES = 1_000_000
RECORDS = 20_000
AT_LEAST = 300_000
AT_MOST_SECONDS = 10.0


def design(template: Template) -> dict[str, float]:
    """Return a family's default design."""
    parts = {part.name: part.default for part in template.parts}
    return {**parts, **({"module": 0.0} if template.modules else {})}


def fleet(template: Template) -> float:
    """Return drones a second when only survival is wanted, as in Stage 2; CPU time of this process."""
    parameters = template.model.bind()
    start = time.process_time()
    template.model.simulate(design(template), DRONES, b"bench", parameters=parameters, wanted=("survived",))
    return DRONES / (time.process_time() - start)


def variables(template: Template) -> float:
    """Return drones a second when every variable of the model is wanted."""
    start = time.process_time()
    fly(template, design(template), DRONES, template.model.bind(), b"bench")
    return DRONES / (time.process_time() - start)


def records(template: Template) -> float:
    """Return whole records a second: damage, readings and JSON values included."""
    start = time.process_time()
    columns = fly(template, design(template), RECORDS, template.model.bind(), b"bench")
    Flights(template, columns, b"bench", "D1", whole=True).records(())
    return RECORDS / (time.process_time() - start)


def evaluation(name: str) -> float:
    """Return the seconds in which a scripted player plays and is judged in all fourteen games."""
    drone = family("drone")
    tasks = drone.build((), {}, b"benchmark key of thirty-two byte")
    truths = {task.row.id: task.definition for task in tasks}
    player = scripted_player(name, family, truths.__getitem__)
    start = time.perf_counter()
    for task in tasks:
        words = {"task": task.row.id, "family": "drone", "setting": "survival", "protocol": "agentic"}
        slot = Slot.model_validate({**words, "repetition": 0, "key": digest([name, task.row.id])})
        options = Options(setting="survival", protocol="agentic")
        hand = player.sit(slot, None)  # type: ignore[arg-type]
        drone.judge(task.definition, play(drone, task, options, hand))
    return time.perf_counter() - start


def main() -> int:
    """Measure, print, and say whether the floor is kept."""
    found = {
        "drones_per_second": {name: round(fleet(item)) for name, item in TEMPLATES.items()},
        "all_variables_per_second": {name: round(variables(item)) for name, item in TEMPLATES.items()},
        "records_per_second": {name: round(records(item)) for name, item in TEMPLATES.items()},
        "fourteen_games_seconds": {
            name: round(evaluation(name), 2) for name in ("reference", "best-of-10", "contrast")
        },
    }
    print(json.dumps(found))
    slow = min(found["all_variables_per_second"].values()) < AT_LEAST
    late = max(found["fourteen_games_seconds"].values()) > AT_MOST_SECONDS
    return int(slow or late)


if __name__ == "__main__":
    sys.exit(main())
