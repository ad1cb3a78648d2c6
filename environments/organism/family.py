"""The organism family: what Session, release, seal and doors need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cards.card import Card
from environments.family import NullBound, Policy, World
from environments.organism.definition import OrganismDefinition
from environments.organism.probes import PROBES, ProbeDefinition, ProbeWorld, judge_probe, knowing
from environments.organism.protocol import ITEM, SESSION, check_protocol
from environments.organism.tiers import TIERS
from environments.organism.world import OrganismWorld
from environments.task import JSON, Options, Record, Score, Task

Insider = Callable[[Mapping[str, JSON], Options], Policy]

NULL_RESCUES = 0.15
"""Doing nothing may look like a rescue this often: noise moves a near-edge phenotype inside."""


class OrganismFamily:
    """Gene-network organisms, healthy and diseased, and the probes made of them; stateless."""

    name = "organism"
    version = "1"
    settings: Sequence[str] = (
        *(f"{state}-{tier}" for state in ("healthy", "diseased") for tier in TIERS),
        *PROBES,
    )
    twins = False

    def protocols(self, setting: str) -> Sequence[str]:
        """Return the one protocol of a setting."""
        return (ITEM,) if setting in PROBES else (SESSION,)

    def build(self, materials: Sequence[Card], params: Mapping[str, Any], key: bytes) -> Sequence[Task]:
        """Build every organism and probe item; cards are not needed."""
        from environments.organism.build import build  # playing does not need it

        return build(params, key)

    def open(self, definition: Mapping[str, JSON], options: Options, seed: bytes) -> World:
        """Open a world; its noise is the organism's own, so no session seed is used."""
        known = _read(definition)
        if isinstance(known, ProbeDefinition):
            check_protocol(options.protocol, ITEM)
            return ProbeWorld(known)
        check_protocol(options.protocol, SESSION)
        return OrganismWorld(known)

    def judge(self, definition: Mapping[str, JSON], record: Record) -> Score:
        """Score a finished session or reply."""
        from environments.organism.judge import judge  # the doors that play import no judge

        known = _read(definition)
        return judge_probe(known, record) if isinstance(known, ProbeDefinition) else judge(known, record)

    def reference(self, definition: Mapping[str, JSON], options: Options) -> Policy:
        """Return the player that knows the truth."""
        from environments.organism.insiders import reference

        known = _read(definition)
        return knowing(known) if isinstance(known, ProbeDefinition) else reference(known)

    def null(self, options: Options) -> Policy:
        """Return the player that knows nothing and does nothing."""
        from environments.organism.rules import nothing

        return nothing()

    def null_bound(self, task: Task) -> NullBound | None:
        """Doing nothing may restore by noise alone; elsewhere chance is free."""
        diseased = task.row.setting.startswith("diseased-")
        return NullBound("rescue", 0.0, NULL_RESCUES) if diseased else None

    def analyses(self, definition: Mapping[str, JSON], record: Record) -> Mapping[str, JSON]:
        """Return the course of one record."""
        from environments.organism.analyses import analyses

        known = _read(definition)
        return {} if isinstance(known, ProbeDefinition) else analyses(known, record)

    @property
    def insiders(self) -> Mapping[str, Insider]:
        """Scripted players that need the sealed definition, by name."""
        return {
            "reference": self.reference,
            "causal-sweep": self._sweeping("causal-sweep"),
            "sweep-best": self._sweeping("sweep-best"),
            "contrast-sweep-40": self._sweeping("contrast-sweep-40"),
        }

    @property
    def rules(self) -> Mapping[str, Callable[[], Policy]]:
        """Scripted players that know their brief alone and that the family needs itself, by name."""
        from environments.organism.rules import contrast

        return {"contrast-sweep": contrast}

    def _sweeping(self, name: str) -> Insider:
        def policy(definition: Mapping[str, JSON], options: Options) -> Policy:
            from environments.organism import insiders, sweeps
            from environments.organism.script import silent

            decide = {
                "causal-sweep": sweeps.causal_sweep,
                "sweep-best": sweeps.sweep_best,
                "contrast-sweep-40": sweeps.contrast_sweep,
            }[name]
            known = _read(definition)
            return silent() if isinstance(known, ProbeDefinition) else insiders.sweep(known, decide)

        return policy


def _read(definition: Mapping[str, JSON]) -> OrganismDefinition | ProbeDefinition:
    kind = ProbeDefinition if definition.get("kind") == "probe" else OrganismDefinition
    return kind.model_validate(definition)


ORGANISM = OrganismFamily()
