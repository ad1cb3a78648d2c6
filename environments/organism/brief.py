"""What a player is told: of a session here, of a probe item in ``probe_text``."""

from __future__ import annotations

from environments.organism.definition import OrganismDefinition
from environments.organism.measure import measure
from environments.organism.tools import task_name
from environments.task import JSON

_INVENTED = (
    "Every name here is invented and stands for nothing outside this session. What you know of biology does "
    "not apply; only experiments tell you how this organism works."
)
_ORGANISM = (
    "The organism is a network of genes that act on one another and are driven by external signals. Its "
    "genes and wiring cannot be seen; what can be read is the listed phenotypes, numbers between 0 and 1. "
    "BLOCK holds a gene at zero, BOOST at its highest, DAMPEN lowers it in part; ON switches a signal on. "
    "Readings carry a little noise; the same experiment always reads the same."
)
_DISEASE = (
    "The organism is ill: exactly one component is broken. Either a gene is locked high (LOCK_HI) or locked "
    "low (LOCK_LO), or a signal is on all the time (PERSIST). An intervention acts on a locked gene too."
)
_GOALS = {
    "predict": "Predict every phenotype under each prediction task (submit_prediction).",
    "diagnose": "Name the broken component and how it is broken (submit_malfunction_hypothesis). Once only.",
    "rescue": (
        "After that, find an intervention that brings the aberrant phenotypes back into their healthy ranges "
        "(test_rescue). Each test costs one experiment; the last one counts."
    ),
    "finish": "End the session (finish).",
}


def brief(definition: OrganismDefinition) -> dict[str, JSON]:
    """Return the brief of a session."""
    organism = definition.organism
    baseline = measure(organism, [{}], diseased=definition.diseased)[0]
    told: dict[str, JSON] = {
        "background": [_INVENTED, _ORGANISM, *([_DISEASE] if definition.diseased else [])],
        "goals": [
            text for name, text in _GOALS.items() if definition.diseased or name in ("predict", "finish")
        ],
        "genes": list(definition.visible),
        "signals": list(definition.signals),
        "phenotypes": list(definition.phenotypes),
        "healthy_ranges": {
            name: [round(low, 4), round(high, 4)]
            for name, (low, high) in zip(definition.phenotypes, organism.ranges(), strict=True)
        },
        "baseline": definition.phenotype_values(baseline),
        "prediction_tasks": {task_name(i): dict(task) for i, task in enumerate(definition.tasks)},
        "budget": definition.budget,
    }
    if definition.diseased:
        told["aberrant"] = aberrant_names(definition)
    return told


def aberrant_names(definition: OrganismDefinition) -> list[str]:
    """Return the phenotypes that the fault moves out of their healthy range."""
    pairs = zip(definition.phenotypes, definition.organism.aberrant.tolist(), strict=True)
    return [name for name, outside in pairs if outside]
