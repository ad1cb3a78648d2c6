"""The independent oracle: pyAgrum, asked the questions that our own inference answers."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from environments.pgm.network import FloatArray, Network

with warnings.catch_warnings():
    # Its binding warns while it is imported, and cannot bear that a warning becomes an error.
    warnings.simplefilter("ignore")
    import pyagrum

NETWORKS = Path(__file__).parent / "networks"


def to_agrum(network: Network) -> pyagrum.BayesNet:
    """Return the same network as pyAgrum's."""
    bn = pyagrum.BayesNet()
    for node, card in enumerate(network.cards):
        bn.add(pyagrum.RangeVariable(f"v{node}", "", 0, card - 1))
    for node, above in enumerate(network.parents):
        for parent in above:
            bn.addArc(parent, node)
    for node, above in enumerate(network.parents):
        _fill(bn, node, network.tables[node], above)
    return bn


def public(name: str, folder: Path) -> tuple[Network, pyagrum.BayesNet]:
    """Read a public network both ways, its rows normalised."""
    path = folder / f"{name}.bif"
    path.write_bytes(gzip.decompress((NETWORKS / f"{name}.bif.gz").read_bytes()))
    bn = pyagrum.loadBN(str(path))
    parents, tables = [], []
    for node in sorted(bn.nodes()):
        names = list(bn.cpt(node).names)
        table = bn.cpt(node).toarray()
        parents.append([bn.idFromName(above) for above in reversed(names)][:-1])
        tables.append(table / table.sum(axis=-1, keepdims=True))
    network = Network(parents, tables)
    return network, to_agrum(network)


def posteriors(
    bn: pyagrum.BayesNet,
    targets: Sequence[int],
    do: Mapping[int, int] | None = None,
    given: Mapping[int, int] | None = None,
) -> list[FloatArray]:
    """Return P(target | do, given) for each target, by surgery and lazy propagation."""
    cut = pyagrum.BayesNet(bn)
    for node, state in (do or {}).items():
        for parent in list(cut.parents(node)):
            cut.eraseArc(parent, node)
        share = np.zeros(cut.variable(node).domainSize())
        share[state] = 1.0
        cut.cpt(node).fillWith(share.tolist())
    engine = pyagrum.LazyPropagation(cut)
    engine.setEvidence({**(do or {}), **(given or {})})
    engine.setTargets(set(targets))
    engine.makeInference()
    return [engine.posterior(target).toarray() for target in targets]


def _fill(bn: pyagrum.BayesNet, node: int, table: FloatArray, parents: Sequence[int]) -> None:
    names = [bn.variable(other).name() for other in (*parents, node)]
    wanted = [names.index(name) for name in reversed(list(bn.cpt(node).names))]
    bn.cpt(node)[:] = np.ascontiguousarray(table.transpose(wanted))
