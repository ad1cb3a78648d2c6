"""Build the games of a release: fresh seeds, archives that show what they must, the best known twice over."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import ValidationError

from cards.errors import InputError
from environments.drone.archive import find_archive
from environments.drone.brief import task_brief
from environments.drone.components import MAX_DEF, MODULES
from environments.drone.definition import Budgets, Build, DroneDefinition, Expected, TaskReport
from environments.drone.engine import Value
from environments.drone.optimum import confirm, expected_survival, find_optimum
from environments.drone.scenario import FamilyName, Scenario
from environments.drone.scenarios import SCENARIOS
from environments.drone.template import TEMPLATES, Template
from environments.drone.tools import PROTOCOLS, SETTING, tool_names
from environments.seeding import derive, generator, item_seed, opaque_id
from environments.task import Task, TaskRow

NAME = "drone"
RANDOM_DESIGNS = 20_000
_CHUNK = 1_000

log = logging.getLogger(__name__)


def build(
    params: Mapping[str, Any], key: bytes, scenarios: Iterable[Scenario] = tuple(SCENARIOS.values())
) -> list[Task]:
    """Build the games of a release, in the order of their opaque ids.

    Args:
        params: the ``drone`` section of the settings: drones, deployments, queries, fleet, call_cap,
            calls_per_turn.
        key: the release's key.
        scenarios: the games; the fourteen by default.

    Raises:
        InputError: a setting that cannot be used, or a scenario that cannot be won, is won by the default
            design though it must not be, or whose simulation and expectation disagree.
    """
    try:
        budgets = Budgets.model_validate(dict(params))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"drone.{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    tasks = [game(item, budgets, key) for item in scenarios]
    return sorted(tasks, key=lambda task: task.row.id)


def game(scenario: Scenario, budgets: Budgets, key: bytes) -> Task:
    """Build the task of one scenario."""
    definition = define(scenario, budgets, item_seed(key, NAME, scenario.name))
    expected = definition.expected
    log.info(
        "%s: expected survival: best %.4f, default %.4f, random %.4f, uniform high %.4f; target %.2f",
        scenario.name,
        expected.optimum,
        expected.default,
        expected.random,
        expected.uniform_high,
        definition.template.threshold,
    )
    cluster = opaque_id(key, NAME, scenario.name)
    return Task(
        row=TaskRow(
            id=opaque_id(key, NAME, scenario.name, SETTING),
            family=NAME,
            setting=SETTING,
            protocols=PROTOCOLS,
            tools={protocol: tool_names(protocol) for protocol in PROTOCOLS},
            limits={
                "calls": float(budgets.call_cap),
                "drones": float(budgets.drones),
                "deployments": float(budgets.deployments),
                "queries": float(budgets.queries),
            },
        ),
        brief=task_brief(definition),
        definition=definition.model_dump(mode="json"),
        answer={"scenario": scenario.name, "report": definition.report.model_dump(mode="json")},
        seed=definition.item,
        cluster=cluster,
        facets=_facets(definition),
        link={"scenario": scenario.name},
    )


def define(scenario: Scenario, budgets: Budgets, seed: bytes) -> DroneDefinition:
    """Return a game's definition, its best design found, confirmed and held against the target.

    Raises:
        InputError: as ``build``.
    """
    template = TEMPLATES[scenario.family]
    _check_names(scenario, template)
    parameters, defaults = template.model.bind(scenario.parameters), template.defaults(scenario)
    frozen = tuple(parameters.items()), tuple(defaults.items())
    columns, survival = find_optimum(scenario.family, *frozen)
    confirmed = confirm(template, columns, survival, parameters, derive(seed, "confirmation"))
    expected = _expected(scenario.family, *frozen).model_copy(update={"optimum": survival})
    _check_target(scenario, template, expected)
    attempt = 0
    if scenario.archive is not None:
        first = template.model.bind(scenario.parameters, scenario.first_stage)
        attempt = find_archive(template, scenario.archive, defaults, first, seed)
    module = int(columns.get("module", 0))
    best = Build(
        parts={part.name: columns[part.name] for part in template.parts},
        module=MODULES[module - 1] if module else None,
    )
    return DroneDefinition(
        scenario=scenario,
        budgets=budgets,
        item=seed.hex(),
        attempt=attempt,
        expected=expected,
        confirmed=confirmed,
        report=TaskReport(
            chain=template.chain,
            mediators=template.mediators,
            trap=scenario.trap,
            optimum=best,
            optimum_survival=survival,
            threshold=template.threshold,
        ),
    )


def _check_names(scenario: Scenario, template: Template) -> None:
    """Refuse a scenario whose words do not all belong to its family."""
    parts = {part.name for part in template.parts}
    archive = scenario.archive
    named = set(scenario.defaults)
    if archive is not None:
        named |= {habit.part for habit in archive.habits}
        named |= set(archive.champion.ranges if archive.champion else ())
        if bool(template.modules) != (archive.modules is not None):
            raise InputError(
                f"{scenario.name}: an archive chooses modules exactly where the family has them."
            )
    unknown = sorted(named - parts)
    if unknown:
        raise InputError(f"{scenario.name}: the family {scenario.family} has no part {unknown[0]!r}.")


def _check_target(scenario: Scenario, template: Template, expected: Expected) -> None:
    if expected.optimum < template.threshold:
        raise InputError(f"{scenario.name} cannot be won: {expected.optimum:.3f} is the best expectation.")
    if (expected.default >= template.threshold) != scenario.null_may_win:
        what = "wins" if expected.default >= template.threshold else "does not win"
        raise InputError(f"{scenario.name}: the default design {what} ({expected.default:.3f} expected).")


@lru_cache(64)
def _expected(
    family: FamilyName, parameters: tuple[tuple[str, Value], ...], defaults: tuple[tuple[str, float], ...]
) -> Expected:
    """Return the exact expectations of the designs that take no thought."""
    template, bound = TEMPLATES[family], dict(parameters)
    none = {"module": 0.0} if template.modules else {}
    high = {part.name: MAX_DEF for part in template.parts}
    return Expected(
        optimum=0.0,
        default=expected_survival(template, dict(defaults) | none, bound),
        random=_random_survival(template, bound),
        uniform_high=expected_survival(template, high | none, bound),
    )


def _random_survival(template: Template, parameters: Mapping[str, Value]) -> float:
    """Return the mean expectation over designs with every DEF from U(0, 50) and any module alike."""
    rng = generator(b"random designs of all")
    total = 0.0
    for _ in range(RANDOM_DESIGNS // _CHUNK):
        columns = {part.name: rng.uniform(0, MAX_DEF, _CHUNK) for part in template.parts}
        if template.modules:
            columns["module"] = rng.integers(1, len(template.modules) + 1, _CHUNK).astype(np.float64)
        total += float(template.model.expectation(columns, parameters).sum())
    return total / RANDOM_DESIGNS


def _facets(definition: DroneDefinition) -> dict[str, str]:
    scenario = definition.scenario
    words = {True: "yes", False: "no"}
    return {
        "variant": "games",
        "collection": "generated",
        "scenario": scenario.name,
        "group": scenario.family,
        "selection_bias": words[scenario.selection_bias],
        "confounder": words[scenario.confounder],
        "measurement_error": words[definition.template.measurement_error],
        "history": words[scenario.archive is not None],
        "null_may_win": words[scenario.null_may_win],
    }
