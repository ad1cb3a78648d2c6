"""The one visible table of scripted players. A model player is in ``model``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from cards.errors import InputError, UsageError
from environments.family import Family, Policy, WithRules
from environments.task import JSON, TaskRow
from evaluation.episode import Slot
from evaluation.players.candidate_checker import CandidateChecker
from evaluation.players.drone import BestOfTen, Contrast, OneDesign
from evaluation.players.organism import Closer, Heuristic, RandomGuess
from evaluation.players.pgm import FullSweep, PassiveGreedy, RandomArms, RandomLegal
from evaluation.players.regression import Regression
from evaluation.players.scripted import ScriptedPlayer, options_of
from evaluation.players.sparse import sparse_fit
from evaluation.players.symbolic import symbolic_fitter

Definitions = Callable[[str], Mapping[str, JSON]]
"""Returns a task's sealed definition by id; what an insider needs and nobody else gets."""


@dataclass(frozen=True)
class Entry:
    """One scripted player: what it is, and whether it must know the truth."""

    kind: Literal["null", "insider", "rule"]
    version: int
    about: str
    families: tuple[str, ...] = ()
    """The families that it can play; empty: all."""
    rule: Callable[[bytes], Policy] | None = None
    """Makes the policy of a rule from a seed that belongs to the slot; None: the family's own rule."""
    settings: tuple[str, ...] = ()
    """Patterns of the settings in those families that it can play; empty: all."""


SESSIONS = ("healthy-*", "diseased-*")
PREDICTIONS = ("probe-1", "probe-2")
"""The probes that weigh two predictions against one observation."""


SCRIPTED: dict[str, Entry] = {
    "null": Entry("null", 1, "knows nothing and claims little"),
    "candidate-checker": Entry(
        "rule",
        1,
        "solves Identification for s with one observation",
        ("law",),
        lambda _: CandidateChecker(),
        ("identification",),
    ),
    "sparse-regression": Entry(
        "rule",
        2,
        "fits few dimensionless terms to what it reads",
        ("law",),
        lambda _: Regression(sparse_fit),
    ),
    "symbolic-regression": Entry(
        "rule",
        1,
        "evolves expressions with gplearn (extra: symbolic)",
        ("law",),
        lambda seed: Regression(symbolic_fitter(seed)),
    ),
    "perfect-memory": Entry(
        "insider", 1, "answers with the Original relation, whatever it observes", ("law",)
    ),
    "reference": Entry("insider", 1, "knows the truth"),
    "default": Entry("null", 1, "submits the default design unchanged", ("drone",)),
    "random": Entry("rule", 1, "submits a random design", ("drone",), lambda seed: OneDesign("random", seed)),
    "uniform-high": Entry(
        "rule",
        1,
        "submits every DEF at its highest",
        ("drone",),
        lambda seed: OneDesign("uniform-high", seed),
    ),
    "best-of-10": Entry(
        "rule", 1, "submits the best of ten random designs, 20 drones each", ("drone",), BestOfTen
    ),
    "contrast": Entry(
        "rule", 1, "tests one factor at a time at its extremes", ("drone",), lambda _: Contrast()
    ),
    "random-guess": Entry(
        "rule",
        1,
        "predicts one half, names any fault, tries any one intervention",
        ("organism",),
        RandomGuess,
        SESSIONS,
    ),
    "heuristic": Entry(
        "rule",
        1,
        "blocks every gene once and adds the effects up",
        ("organism",),
        lambda _: Heuristic(),
        SESSIONS,
    ),
    "contrast-sweep": Entry(
        "rule",
        1,
        "blocks every gene, boosts some, and looks for a contrast",
        ("organism",),
        settings=SESSIONS,
    ),
    "closer": Entry(
        "rule",
        1,
        "answers probes by the closer prediction",
        ("organism",),
        lambda _: Closer(),
        PREDICTIONS,
    ),
    "random-legal": Entry("rule", 1, "gives a random legal answer", ("pgm",), RandomLegal),
    "passive-greedy": Entry(
        "rule", 1, "takes association in ordinary records for effect", ("pgm",), PassiveGreedy
    ),
    "random-arms": Entry("rule", 1, "draws 18 random arms and answers by plug-in", ("pgm",), RandomArms),
    "full-sweep": Entry("rule", 1, "draws every arm that the budget allows", ("pgm",), FullSweep),
    "causal-sweep": Entry(
        "insider",
        1,
        "blocks and boosts every gene, beyond any budget",
        ("organism",),
        settings=SESSIONS,
    ),
    "sweep-best": Entry(
        "insider",
        1,
        "takes the best of all 40 actions, beyond any budget",
        ("organism",),
        settings=SESSIONS,
    ),
    "contrast-sweep-40": Entry(
        "insider", 1, "ContrastSweep over all 40 actions", ("organism",), settings=SESSIONS
    ),
}


def families_of(name: str) -> tuple[str, ...]:
    """Return the families that a scripted player can play; empty: all, or no such player."""
    return SCRIPTED[name].families if name in SCRIPTED else ()


def settings_of(name: str, rows: Iterable[TaskRow]) -> tuple[str, ...]:
    """Return those settings of a release's ``rows`` that a scripted player can play.

    Empty: all of its families' settings, or no such player.
    """
    entry = SCRIPTED.get(name)
    if entry is None or not entry.settings:
        return ()
    offered = sorted({row.setting for row in rows if row.family in entry.families})
    return tuple(name for name in offered if any(fnmatchcase(name, one) for one in entry.settings))


def scripted_player(
    name: str, family: Callable[[str], Family], definition: Definitions | None = None
) -> ScriptedPlayer:
    """Return a scripted player by name.

    Args:
        name: a key of ``SCRIPTED``.
        family: returns a family by name.
        definition: access to sealed definitions, where there is any.

    Raises:
        UsageError: when there is no such player.
        InputError: when it needs sealed definitions that are not here.
    """
    entry = SCRIPTED.get(name)
    if entry is None:
        raise UsageError(f"there is no player {name!r}.", f"The scripted players are: {', '.join(SCRIPTED)}.")
    if entry.kind == "insider" and definition is None:
        remedy = "Run it in a workspace that can read the release's sealed part, or choose another player."
        raise InputError(f"the player {name!r} knows the truth, and the sealed part is not here.", remedy)

    def policy(slot: Slot) -> Policy:
        if entry.kind == "null":
            return family(slot.family).null(options_of(slot))
        if entry.kind == "insider":
            assert definition is not None
            return family(slot.family).insiders[name](definition(slot.task), options_of(slot))
        if entry.rule is None:
            return _own_rule(family(slot.family), name)
        return entry.rule(slot.key.encode())

    return ScriptedPlayer(name, entry.version, policy)


def _own_rule(family: Family, name: str) -> Policy:
    assert isinstance(family, WithRules)
    return family.rules[name]()
