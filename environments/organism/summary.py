"""The census of many organisms in one line.

Source: "Treating the Symptom, Missing the Cause", section 4.2 and appendix 8.2 (the figures that it gives).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from environments.organism.census import Census


@dataclass(frozen=True)
class CensusSummary:
    """Counts over some organisms, and means over those that they concern (None where there are none).

    ``alternatives``: other faults that fit, where any does. ``discriminating``, ``chance``: interventions
    that tell some alternative from the cause, their number and share, where any does. ``single``:
    resolvable organisms of which one experiment settles everything. ``relevant``: organisms with a
    separable alternative.
    """

    organisms: int
    unambiguous: int
    resolvable: int
    structural: int
    relevant: int
    single: int
    alternatives: float | None
    discriminating: float | None
    chance: float | None


def summarise(censuses: Sequence[Census]) -> CensusSummary:
    """Return the summary of some organisms' censuses."""
    classes = [census.ambiguity for census in censuses]
    ambiguous = [census for census in censuses if census.alternatives]
    relevant = [census for census in censuses if census.relevant]
    return CensusSummary(
        organisms=len(censuses),
        unambiguous=classes.count("unambiguous"),
        resolvable=classes.count("resolvable"),
        structural=classes.count("structural"),
        relevant=len(relevant),
        single=sum(census.single for census in censuses if census.ambiguity == "resolvable"),
        alternatives=_mean([len(census.alternatives) for census in ambiguous]),
        discriminating=_mean([int(census.discriminating.sum()) for census in relevant]),
        chance=_mean([census.chance for census in relevant]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
