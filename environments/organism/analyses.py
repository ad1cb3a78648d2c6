"""What an organism record shows beside its score: the course of a session, experiment by experiment."""

from __future__ import annotations

from collections.abc import Mapping

from environments.organism.audit import discriminating
from environments.organism.census import take_census
from environments.organism.definition import OrganismDefinition
from environments.organism.record import read_play
from environments.task import JSON, Record


def analyses(definition: OrganismDefinition, record: Record) -> Mapping[str, JSON]:
    """Return named values of one record.

    ``trajectory``: the experiments in order by name, each with whether it came before the hypothesis.
    ``refused``: actions that were not carried out. For a diseased organism ``ambiguity``,
    ``alternatives``, and ``telling``: which of the experiments before the hypothesis tell an alternative
    from the cause.
    """
    play = read_play(definition, record)
    found: dict[str, JSON] = {
        "trajectory": [
            {"plan": definition.named(plan), "before": number < len(play.before)}
            for number, plan in enumerate(play.experiments)
        ],
        "refused": sum(event.outcome != "succeeded" for event in record.events),
        "rescues": [definition.named(plan) for plan in play.rescues],
    }
    if definition.diseased:
        census = take_census(definition.organism)
        found |= {
            "ambiguity": census.ambiguity,
            "alternatives": [
                {"target": definition.names[fault.target], "type": fault.kind}
                for fault in census.alternatives
            ],
            "telling": discriminating(definition.organism, census, play.before) if census.relevant else [],
        }
    return found
