"""Causal worlds: speed against pyAgrum and pgmpy, the build, acceptance, the players' table.

    python benchmarks/pgm.py [speed] [build] [unique] [acceptance] [players]      default: all

pyAgrum comes with the test extra. pgmpy is compared where it is installed; it is large and slow to import,
so it is no dependency: install it into an environment of its own and run the part ``speed`` there.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from environments.pgm.archetypes import MEDIATOR_KINDS, draw
from environments.pgm.build import build, wanted
from environments.pgm.derive import derive
from environments.pgm.eliminate import respond
from environments.pgm.network import Network
from environments.pgm.oracle import EliminationOracle
from environments.pgm.question import CHOICES
from environments.pgm.rules import accepted_share
from environments.pgm.sample import sample
from environments.pgm.separation import separated
from environments.pgm.structural import Graph, list_world, yes_no_world
from environments.pgm.unique import fingerprint
from environments.pgm.validate import misleads, validate
from tests.environments.pgm.agrum import public, pyagrum, to_agrum

ROWS, QUERIES, KEY = 100_000, 1000, b"key of the benchmark of worlds..."[:32]


def best(work: Callable[[], object], times: int = 5) -> float:
    """Return the shortest of some wall times in seconds, after one run that warms up."""
    work()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def speed() -> None:
    """Compare sampling, do-queries and d-separation on 10 and 37 nodes."""
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        alarm, _ = public("alarm", Path(folder))
    ten = next(g for g in (Graph(np.random.default_rng(seed)) for seed in range(99)) if len(g.cards) == 10)
    print(f"{'network':10} {'work':28} {'ours':>10} {'pyAgrum':>10} {'pgmpy':>10}   ratios")
    for name, network in (("10 nodes", ten.draw().network), ("37 nodes", alarm)):
        bn, peer = to_agrum(network), to_pgmpy(network)
        rng = np.random.default_rng(1)
        pairs = [tuple(int(n) for n in rng.choice(len(network), 3, replace=False)) for _ in range(QUERIES)]
        row(name, f"{ROWS:,} rows (ms)", sampling(network, bn, peer), 1e3)
        row(name, "P(Y | do X = 0) (ms)", queries(network, bn, peer, pairs), 1e3)
        row(name, "d-separation (µs)", separations(network, bn, peer, pairs), 1e6)


def row(name: str, work: str, times: Sequence[float | None], unit: float) -> None:
    """Print one line; a ratio is a peer's time over ours."""
    shown = [f"{t * unit:10.3f}" if t is not None else f"{'-':>10}" for t in times]
    ratios = [f"{t / times[0]:.1f}" for t in times[1:] if t is not None and times[0]]
    print(f"{name:10} {work:28} {' '.join(shown)}   {', '.join(ratios)}")


def sampling(network: Network, bn: Any, peer: Any) -> list[float | None]:
    """Forward sampling."""

    def theirs() -> None:
        generator = pyagrum.BNDatabaseGenerator(bn)
        generator.drawSamples(ROWS)

    def pgmpy() -> None:
        from pgmpy.sampling import BayesianModelSampling

        BayesianModelSampling(peer).forward_sample(size=ROWS, show_progress=False)

    ours = best(lambda: sample(network, ROWS, np.random.default_rng(1)))
    return [ours, best(theirs, 3), None if peer is None else best(pgmpy, 2)]


def queries(network: Network, bn: Any, peer: Any, pairs: Sequence[tuple[int, ...]]) -> list[float | None]:
    """One posterior under one intervention, each peer by its own engine on the mutilated network."""

    def ours() -> None:
        for x, y, _ in pairs:
            respond(network, (y,), do={x: 0})

    mutilated = {x: cut(bn, x) for x in {x for x, _, _ in pairs}}

    def theirs() -> None:
        for x, y, _ in pairs:
            engine = pyagrum.VariableElimination(mutilated[x])
            engine.addEvidence(x, 0)
            engine.addTarget(y)
            engine.makeInference()
            engine.posterior(y)

    found: list[float | None] = [best(ours, 3) / len(pairs), best(theirs, 3) / len(pairs), None]
    if peer is not None:
        from pgmpy.inference import VariableElimination

        some = pairs[:100]
        parts = {x: peer.do(f"v{x}") for x in {x for x, _, _ in some}}

        def pgmpy() -> None:
            for x, y, _ in some:
                VariableElimination(parts[x]).query([f"v{y}"], evidence={f"v{x}": 0}, show_progress=False)

        found[2] = best(pgmpy, 2) / len(some)
    return found


def cut(bn: Any, node: int) -> Any:
    """Return a copy of pyAgrum's network without the edges into a node; the surgery is not timed."""
    copy = pyagrum.BayesNet(bn)
    for parent in list(copy.parents(node)):
        copy.eraseArc(parent, node)
    copy.cpt(node).fillWith(1.0)
    copy.cpt(node).normalizeAsCPT()
    return copy


def separations(network: Network, bn: Any, peer: Any, pairs: Sequence[tuple[int, ...]]) -> list[float | None]:
    """One question of d-separation given one node."""

    def ours() -> None:
        for x, y, z in pairs:
            separated(network, x, y, (z,))

    def theirs() -> None:
        for x, y, z in pairs:
            bn.isIndependent(x, y, [z])

    def pgmpy() -> None:
        for x, y, z in pairs:
            peer.is_dconnected(f"v{x}", f"v{y}", observed=[f"v{z}"])

    found = [best(ours, 3) / len(pairs), best(theirs, 3) / len(pairs)]
    return [*found, None if peer is None else best(pgmpy, 2) / len(pairs)]


def to_pgmpy(network: Network) -> Any:
    """Return the network as pgmpy's, or None where pgmpy is not installed."""
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        return None
    model = DiscreteBayesianNetwork(
        [(f"v{p}", f"v{n}") for n, above in enumerate(network.parents) for p in above]
    )
    model.add_nodes_from([f"v{node}" for node in range(len(network))])
    for node, above in enumerate(network.parents):
        flat = network.tables[node].reshape(-1, network.cards[node]).T
        evidence = [f"v{p}" for p in above] or None
        cards = [network.cards[p] for p in above] or None
        model.add_cpds(TabularCPD(f"v{node}", network.cards[node], flat, evidence, cards))
    return model


def build_time() -> None:
    """Time a whole set on one core, twice for determinism."""
    times, sets = [], []
    for _ in range(2):
        start = time.process_time()
        sets.append(build({}, KEY))
        times.append(time.process_time() - start)
    print(f"a set of {len(sets[0])} tasks: {min(times):.1f} s of CPU; equal twice: {sets[0] == sets[1]}")


def unique(seeds: int = 5) -> None:
    """Count how often worlds repeat within and between sets of several keys."""
    found: list[str] = []
    for number in range(seeds):
        worlds: dict[str, list[Any]] = {}
        for task in build({}, bytes([number]) * 32):
            worlds.setdefault(task.cluster, []).append(definition_of(task))
        for known in worlds.values():
            asked, truths = [d.question for d in known], [d.truth for d in known]
            found.append(fingerprint(known[0].world, asked, truths))
    print(f"{len(found)} worlds of {seeds} keys, {len(set(found))} different")


def acceptance(tries: int = 200) -> None:
    """Print acceptance, traps, chance and speed of every kind of world."""
    rng = np.random.default_rng(1)
    print(f"{'worlds':22} {'accepted':>8} {'trapped':>8} {'chance':>7} {'worlds/s':>9}")
    for archetype in CHOICES:
        print(acceptance_row(archetype, "", tries, rng))
    for kind in MEDIATOR_KINDS:
        print(acceptance_row("mediator", kind, tries, rng))
    for name, make in (
        ("yes/no", lambda number: yes_no_world(rng, wanted(number))),
        ("lists", lambda number: list_world(rng)),
    ):
        start = time.process_time()
        found = sum(make(number) is not None for number in range(tries))
        rate = found / (time.process_time() - start)
        print(f"{name:22} {found / tries:8.2f} {'-':>8} {'-':>7} {rate:9.0f}")


def acceptance_row(archetype: str, kind: str, tries: int, rng: np.random.Generator) -> str:
    """Return one line of the table of acceptance."""
    found, trapped, shares, start = 0, 0, [], time.process_time()
    for _ in range(tries):
        oracle = EliminationOracle(draw(archetype, rng, kind))
        question = validate(archetype, oracle, kind)
        if question is not None:
            found += 1
            if archetype in CHOICES:
                truth = derive(question, oracle)
                trapped += misleads(question, truth, oracle)
                shares.append(accepted_share(question, truth.effects))
    rate = found / (time.process_time() - start)
    trap = f"{trapped / tries:8.2f} {np.mean(shares):7.3f}" if shares else f"{'-':>8} {'-':>7}"
    return f"{kind or archetype:22} {found / tries:8.2f} {trap} {rate:9.0f}"


def players() -> None:
    """Print the players' table over a whole set, with the diagnostics of the evidence ledger."""
    from environments.pgm.family import PGM
    from environments.pgm.policies import Guess, Reference
    from evaluation.players.pgm import FullSweep, PassiveGreedy, RandomArms, RandomLegal

    tasks = build({}, KEY)
    columns = [
        *CHOICES,
        "mediator",
        "all_causes_of",
        "all_effects_of",
        "causal_effect",
        "marginal",
        "conditional",
    ]
    heads = [
        "safety",
        "satisf.",
        "subgr.",
        "invalid",
        "mediat.",
        "causes",
        "effects",
        "c.eff.",
        "marg.",
        "cond.",
    ]
    print(
        f"{'player':15} {'budget':10}"
        + "".join(f"{head:>8}" for head in [*heads, "CORE", "QUAL", "F1", "acq.", "ret."])
    )
    table: list[tuple[str, str, Callable[[Any], Any]]] = [
        ("guess", "four_turn", lambda task: Guess()),
        ("random-legal", "four_turn", lambda task: RandomLegal(bytes.fromhex(task.seed))),
        ("passive-greedy", "four_turn", lambda task: PassiveGreedy(bytes.fromhex(task.seed))),
        *(
            (
                f"{arms} arms of 500",
                "sweep",
                partial(lambda arms, task: RandomArms(bytes.fromhex(task.seed), arms), arms),
            )
            for arms in (3, 6, 12, 18)
        ),
        *(
            (f"{name}", protocol, partial(lambda make, task: make(bytes.fromhex(task.seed)), make))
            for name, make in (("random-arms", RandomArms), ("full-sweep", FullSweep))
            for protocol in ("four_turn", "samp5k")
        ),
        ("full-sweep", "sweep", lambda task: FullSweep(bytes.fromhex(task.seed))),
        *(("reference", p, lambda task: Reference(definition_of(task))) for p in ("four_turn", "samp5k")),
    ]
    for name, protocol, make in table:
        print(players_row(PGM, tasks, (name, protocol, make), columns), flush=True)


def players_row(
    family: Any, tasks: Sequence[Any], player: tuple[str, str, Callable[[Any], Any]], columns: list[str]
) -> str:
    """Play one player over all tasks; return its line."""
    from environments.checks import play
    from environments.pgm.diagnostics import diagnose, trajectory
    from environments.task import Options

    name, protocol, make = player
    right: dict[str, list[float]] = {}
    f1, core, qual, paths = [], [], [], []
    for task in tasks:
        record = play(family, task, Options(setting=task.row.setting, protocol=protocol), make(task))
        score = family.judge(task.definition, record)
        passed = score.passed["weak"] is True
        right.setdefault(task.facets["variant"], []).append(passed)
        (qual if task.row.setting == "qual" else core).append(passed)
        f1 += [score.parts["f1"]] if "f1" in score.parts else []
        if task.row.setting != "qual":
            paths.append(trajectory(score.parts, correct=passed))
    found = diagnose(paths)
    figures = [*(np.mean(right[column]) for column in columns), np.mean(core), np.mean(qual), np.mean(f1)]
    tail = [found.acquisition, found.retention]
    shown = [f"{value:8.2f}" if value is not None else f"{'-':>8}" for value in [*figures, *tail]]
    return f"{name:15} {protocol:10}" + "".join(shown)


def definition_of(task: Any) -> Any:
    """Return a task's definition."""
    from environments.pgm.definition import PgmDefinition

    return PgmDefinition.model_validate(task.definition)


PARTS = {"speed": speed, "build": build_time, "unique": unique, "acceptance": acceptance, "players": players}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
        print()
