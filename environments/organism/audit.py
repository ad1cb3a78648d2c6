"""How a session explored, and whether it met evidence that tells the cause from its rivals.

Source: "Treating the Symptom, Missing the Cause", section 4 and appendices 8.2 and 8.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from environments.organism.census import Census, separates, take_census
from environments.organism.definition import OrganismDefinition
from environments.organism.generate import Organism
from environments.organism.network import Plan
from environments.organism.record import Play

_DOWN, _UP = ("BLOCK", "DAMPEN"), ("BOOST", "ON")


def axes(definition: OrganismDefinition, play: Play) -> dict[str, float]:
    """Return volume, breadth and direction.

    ``experiments``: experiment calls. ``breadth``: share of the visible genes probed. ``both_directions``:
    share of the probed targets pushed down and up. ``budget_used``: share of the budget, rescue tests
    included.
    """
    genes = set(definition.organism.network.visible)
    probed = {target for plan in play.experiments for target in plan}
    both = _pushed(play.experiments, _DOWN) & _pushed(play.experiments, _UP)
    return {
        "experiments": float(len(play.experiments)),
        "breadth": len(probed & genes) / len(genes),
        "both_directions": len(both) / len(probed) if probed else 0.0,
        "budget_used": (len(play.experiments) + len(play.rescues)) / definition.budget,
    }


def audit(definition: OrganismDefinition, play: Play) -> dict[str, float]:
    """Return what the experiments before the hypothesis could have told.

    ``before``: experiments before the hypothesis. ``cause_directions``: 0 when the true cause was never
    probed by then, 1 in one direction, 2 in both. Where the organism has a separable alternative also
    ``discriminating`` (share of those experiments that tell some alternative from the cause; absent
    without any), ``chance`` (the same of a uniform choice among single interventions), ``encountered``
    (any at all), and where so ``lag`` (experiments after the first) and ``single_evidence`` (one of them
    has a single target).
    """
    organism = definition.organism
    found = {
        "before": float(len(play.before)),
        "cause_directions": float(_directions(play.before, organism.fault.target)),
    }
    census = take_census(organism)
    if not census.relevant:
        return found
    telling = discriminating(organism, census, play.before)
    found |= {"chance": census.chance, "encountered": float(any(telling))}
    if telling:
        found["discriminating"] = sum(telling) / len(telling)
    if any(telling):
        found["lag"] = float(len(telling) - 1 - telling.index(True))
        alone = [told for told, plan in zip(telling, play.before, strict=True) if len(plan) == 1]
        found["single_evidence"] = float(any(alone))
    return found


def discriminating(organism: Organism, census: Census, plans: Sequence[Plan]) -> list[bool]:
    """Return which experiments tell some alternative from the cause; combinations are simulated."""
    singles = list(organism.network.interventions)
    known = census.discriminating
    return [
        bool(known[singles.index(plan)])
        if len(plan) == 1
        else any(separates(organism.network, organism.fault, census.alternatives, plan))
        for plan in plans
    ]


def _pushed(plans: Sequence[Plan], actions: Sequence[str]) -> set[int]:
    return {target for plan in plans for target, action in plan.items() if action in actions}


def _directions(plans: Sequence[Plan], target: int) -> int:
    return (target in _pushed(plans, _DOWN)) + (target in _pushed(plans, _UP))
