"""Make a counterfactual twin for a card: deterministic in card and seed, checked, and recorded.

Source: arXiv 2610.37919, section 3.2 and appendix C.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cards.card import Card
from cards.domain import contains, points
from cards.errors import InputError
from cards.expression import Tree
from cards.infix import print_infix
from environments.law.certificates import CHECKS, MAY_FAIL
from environments.law.definition import DESIGN_SIZE, Certificate, FloatArray, LawDefinition, Measured, Told
from environments.law.mutate import Change, apply
from environments.law.propose import TIERS, Ladder, Proposals
from environments.law.protocol import CALL_CAP, TAU
from environments.law.study import Study
from environments.seeding import derive, generator
from environments.task import JSON

EVAL_POINTS = 256
MOST_TRIED = 30
"""Ladders of one kind that are tried before the next kind is."""
_TOO_FAINT = ("distinguishable", "structural", "influence")
"""Checks that a stronger change of the same kind may pass."""
_MOST_WEAK_ONLY = 4
"""Weak-only pairs of one kind after which a better one of that kind is no longer hoped for."""
_DESIGNS = 6
"""Preset designs that are looked at for one mutation."""
_INPUT_DIGITS = 4
"""Significant digits of preset inputs, where the domain admits the rounding."""


@dataclass(frozen=True)
class Limits:
    """Settings that a release chooses: threshold, call cap, number of hidden inputs, noise of readings."""

    tau: float = TAU
    call_cap: int = CALL_CAP
    eval_points: int = EVAL_POINTS
    noise: float = 0.0


@dataclass(frozen=True)
class Pair:
    """A card's twins: one parametric form, two sets of constants, and what was checked.

    ``requested`` is the tier that was asked for, ``tier`` the one that was made; ``reason`` says why
    they differ, or why exact recovery is not asked for.
    """

    card: Card
    seed: bytes
    requested: str
    tier: str
    reason: str
    definition: LawDefinition

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The checks that the pair passed, with their figures."""
        return self.definition.certificates

    def document(self) -> JSON:
        """Return the pair as plain JSON for people and programs."""
        definition = self.definition
        return {
            "card": self.card.id,
            "seed": self.seed.hex(),
            "requested": self.requested,
            "tier": self.tier,
            "reason": self.reason,
            "class": definition.pair_class,
            "strict": definition.strict,
            "original": _formulas(definition.truth("original")),
            "counterfactual": _formulas(definition.truth("counterfactual")),
            "parametric": _formulas(definition.relations),
            "constants": [item.model_dump(mode="json") for item in definition.constants],
            "mutations": [item.model_dump(mode="json") for item in definition.mutations],
            "certificates": [item.model_dump(mode="json") for item in definition.certificates],
        }


def make_pair(
    card: Card,
    seed: bytes,
    tier: str = "medium",
    *,
    others: Sequence[Card] = (),
    limits: Limits = Limits(),
) -> Pair:
    """Make the twins of a card.

    Args:
        seed: 32 bytes that decide everything that is drawn.
        tier: "easy", "medium" or "hard"; a card that admits no pair of it falls back to the next
            easier one, and the pair says why.
        others: cards of other families, whose originals the counterfactual must not equal.

    Raises:
        InputError: an unknown tier, or a card that admits no pair at all.
    """
    if tier not in TIERS:
        raise InputError(f"there is no tier {tier!r}.", f"The tiers are: {', '.join(TIERS)}.")
    maker = _Maker(card, seed, Study(card, others), limits)
    reasons: list[str] = []
    for level in reversed(TIERS[: TIERS.index(tier) + 1]):
        pair = maker.make(tier, level, reasons)
        if pair is not None:
            return pair
    raise InputError(
        f"card {card.id}: no counterfactual passes the checks ({'; '.join(reasons)}).",
        "Widen the domain or tighten the tolerance, so that a change can be seen.",
    )


class _Maker:
    def __init__(self, card: Card, seed: bytes, study: Study, limits: Limits) -> None:
        self._card, self._seed, self._study, self._limits = card, seed, study, limits
        self._eval = points(study.domain, limits.eval_points, _whole(derive(seed, "eval")))
        self._designs = [self._design(number) for number in range(_DESIGNS)]

    def make(self, requested: str, level: str, reasons: list[str]) -> Pair | None:
        """Try one tier; the best that is merely weak-only is kept for when nothing better comes."""
        kinds = Proposals(self._study, generator(derive(self._seed, "mutate", level))).of_tier(level)
        if requested != "easy":
            kinds.sort(key=lambda found: bool(found) and found[0][0][0].kind == "coefficient")
        weak_only: list[LawDefinition] = []
        refusals: dict[str, int] = {}
        for found in kinds:
            strict = self._search(found, level, weak_only, refusals)
            if strict is not None:
                return self._pair(requested, level, reasons, strict)
        if weak_only:
            return self._pair(requested, level, [*reasons, _why_weak(weak_only[0])], weak_only[0])
        tried = sum(len(found) for found in kinds)
        reasons.append(f"no {level} change passes: {_summary(refusals, tried)}")
        return None

    def _search(
        self,
        found: Sequence[Ladder],
        level: str,
        weak_only: list[LawDefinition],
        refusals: dict[str, int],
    ) -> LawDefinition | None:
        """Return the first definition of one kind that is to be met exactly; collect those that are not."""
        seen = 0
        for ladder in found[:MOST_TRIED]:
            definition = self._climb(ladder, level, refusals)
            if definition is not None and definition.strict:
                return definition
            if definition is not None:
                weak_only.append(definition)
                seen += 1
            if seen == _MOST_WEAK_ONLY:
                break
        return None

    def _climb(
        self, ladder: Sequence[tuple[Change, ...]], level: str, refusals: dict[str, int]
    ) -> LawDefinition | None:
        """Take the first rung that passes; a rung that is too faint leads to the next stronger one.

        A parametric pair is of tier easy. There too a structural one higher up the ladder is preferred,
        where there can be one.
        """
        may_fail = MAY_FAIL if level == "easy" else MAY_FAIL - {"structural"}
        plain = ladder[0][0].kind == "coefficient"
        failed, parametric = "", None
        for changes in ladder:
            for design in self._designs:
                definition, failed = self._certified(self._define(changes, design), may_fail)
                if definition is not None and (definition.pair_class == "structural" or plain):
                    return definition
                if failed != "distinguishable":
                    break
            parametric = parametric or definition
            if failed and failed not in _TOO_FAINT:
                break
        if parametric is None:
            refusals[failed] = refusals.get(failed, 0) + 1
        return parametric

    def _certified(
        self, definition: LawDefinition, may_fail: Collection[str]
    ) -> tuple[LawDefinition | None, str]:
        certificates: list[Certificate] = []
        for check in CHECKS:
            certificates.append(check(self._study, definition))
            if not certificates[-1].passed and certificates[-1].name not in may_fail:
                return None, certificates[-1].name
        passed = {item.name for item in certificates if item.passed}
        update = {
            "certificates": tuple(certificates),
            "strict": "recoverable" in passed,
            "pair_class": "structural" if "structural" in passed else "parametric",
        }
        return definition.model_copy(update=update), ""

    def _define(self, changes: Sequence[Change], design: dict[str, FloatArray]) -> LawDefinition:
        card, form = self._card, apply(self._card, changes)
        told = [item for item in card.parameters if item.told]
        return LawDefinition.model_construct(
            inputs=card.inputs,
            constraints=tuple(self._study.domain.constraints),
            told=tuple(_told(item) for item in told),
            observables=tuple(_measured(item) for item in card.observables),
            relative_tolerance=card.relative_tolerance,
            background=card.background,
            conditions=card.conditions,
            relations=dict(form.relations),
            constants=form.constants,
            mutations=form.mutations,
            s=0,
            tau=self._limits.tau,
            call_cap=self._limits.call_cap,
            noise=self._limits.noise,
            design={name: tuple(float(v) for v in column) for name, column in design.items()},
            eval_inputs={name: tuple(float(v) for v in column) for name, column in self._eval.items()},
            strict=False,
            pair_class="parametric",
        )

    def _design(self, number: int) -> dict[str, FloatArray]:
        """Return a preset design: low-discrepancy, with short decimals where the domain admits them."""
        seed = _whole(derive(self._seed, "design", str(number)))
        exact = points(self._study.domain, DESIGN_SIZE, seed)
        rows = [{name: float(column[i]) for name, column in exact.items()} for i in range(DESIGN_SIZE)]
        short = [{name: float(f"{value:.{_INPUT_DIGITS}g}") for name, value in row.items()} for row in rows]
        kept = [s if contains(self._study.domain, s) is None else r for s, r in zip(short, rows, strict=True)]
        return {name: np.array([row[name] for row in kept]) for name in exact}

    def _pair(self, requested: str, level: str, reasons: Sequence[str], definition: LawDefinition) -> Pair:
        return Pair(self._card, self._seed, requested, level, "; ".join(reasons), definition)


def _formulas(trees: Mapping[str, Tree]) -> dict[str, str]:
    return {name: print_infix(tree) for name, tree in trees.items()}


def _told(item: object) -> Told:
    return Told.model_validate(item, from_attributes=True)


def _measured(item: object) -> Measured:
    return Measured.model_validate(item, from_attributes=True)


def _whole(seed: bytes) -> int:
    return int.from_bytes(seed[:8], "big")


def _why_weak(definition: LawDefinition) -> str:
    lost = next(item.message for item in definition.certificates if item.name == "recoverable")
    return f"weak-only: {lost}"


def _summary(refusals: dict[str, int], tried: int) -> str:
    if not tried:
        return "there is none for this card"
    counts = sorted(refusals.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} fail {name}" for name, count in counts)
