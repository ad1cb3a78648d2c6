"""The null organism of each tier: the tier's genes, signals and phenotypes without any regulation.

It is the floor under a printed census: what ambiguity is left when no gene acts on another. Its seed is
a constant in this file, so it is no secret, and for that reason it is never part of a release.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cards.errors import InputError
from environments.organism.generate import MOST_ATTEMPTS, Organism, choose_fault, make_network
from environments.organism.network import Network
from environments.organism.tiers import GENES, tier
from environments.seeding import derive, generator

_SEED = b"null organism"


def null_organism(tier_name: str, n: int = GENES) -> Organism:
    """Return the null organism of a tier; always the same one.

    Raises:
        InputError: an unknown tier, or a size at which no fault can be undone.
    """
    kind = tier(tier_name)
    for attempt in range(MOST_ATTEMPTS):
        rng = generator(derive(_SEED, tier_name, str(n), str(attempt)))
        network = _unwired(make_network(rng, kind, n))
        fault = choose_fault(network, rng)
        if fault is not None:
            return Organism(derive(_SEED, "noise", tier_name, str(n)), network, fault, attempt)
    raise InputError(f"no null organism of {n} genes came out.", "Use another number of genes.")


def _unwired(network: Network) -> Network:
    """Take every edge out, and with it the part of the bias that balances the edges."""
    bias = network.bias + 0.5 * network.weights.sum(axis=1)
    return replace(network, weights=np.zeros_like(network.weights), bias=bias)
