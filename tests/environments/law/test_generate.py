"""Pairs: deterministic, tiered, checked; and what each part of the generator promises."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from cards.canonical import canonical_json
from cards.card import Card
from cards.errors import InputError
from cards.evaluate import evaluate
from cards.expression import bind
from cards.infix import print_infix
from environments.law.certificates import CHECKS, MAY_FAIL, certify
from environments.law.definition import LawDefinition
from environments.law.generate import Limits, make_pair
from environments.law.groups import Group
from environments.law.mutate import Change, apply, middle
from environments.law.propose import two_digits
from tests.environments.examples import BEAM, CARDS, LEVELS, SEED, SPRING, pair

SEEDS = [bytes([number]) * 32 for number in range(4)]
TIERS = ("easy", "medium", "hard")


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
@pytest.mark.parametrize("tier", TIERS)
def test_pairs_are_deterministic(card: Card, tier: str) -> None:
    """Card and seed decide every byte of a pair; another seed gives another."""
    one, again = (canonical_json(make_pair(card, SEED, tier).definition.model_dump()) for _ in range(2))
    other = canonical_json(make_pair(card, SEEDS[1], tier).definition.model_dump())
    assert one == again != other


@pytest.mark.parametrize("card", [BEAM, LEVELS], ids=lambda card: card.id)
@pytest.mark.parametrize("seed", SEEDS, ids=range(4))
def test_tiers_are_what_they_say(card: Card, seed: bytes) -> None:
    """easy: one coefficient or exponent. medium: one structural kind. hard: an interaction and another."""
    easy, medium, hard = (make_pair(card, seed, tier).definition for tier in TIERS)
    assert [m.kind for m in easy.mutations] in (["coefficient"], ["exponent"])
    assert len(medium.mutations) == 1
    assert medium.mutations[0].kind in ("transform", "interaction", "correction")
    assert [m.kind for m in hard.mutations] in (["interaction", "transform"], ["interaction", "correction"])
    assert len({name for m in hard.mutations for name in m.inputs}) >= 2
    assert medium.pair_class == hard.pair_class == "structural"


def test_a_card_without_a_second_input_falls_back_and_says_so() -> None:
    """Structural is the default; what cannot be had is recorded, never silent."""
    made = make_pair(SPRING, SEED, "hard")
    assert (made.requested, made.tier) == ("hard", "medium")
    assert "no hard change passes: there is none for this card" in made.reason
    assert made.definition.mutations[0].kind in ("transform", "correction")


def test_an_unknown_tier_is_refused() -> None:
    """A tier that does not exist is an error that lists those that do."""
    with pytest.raises(InputError, match="easy, medium, hard"):
        make_pair(BEAM, SEED, "extreme")


def test_a_card_that_admits_no_pair_says_which_checks_failed() -> None:
    """When no change can be seen the error names the card and the checks."""
    dull = tuple(item.model_copy(update={"absolute_tolerance": 1e6}) for item in BEAM.observables)
    blunt = BEAM.model_copy(update={"observables": dull})
    with pytest.raises(InputError, match=r"beam_two.*distinguishable"):
        make_pair(blunt, SEED)


def test_limits_reach_the_definition() -> None:
    """Threshold, cap and number of hidden inputs are settings."""
    known = make_pair(BEAM, SEED, limits=Limits(tau=0.8, call_cap=9, eval_points=64)).definition
    assert (known.tau, known.call_cap) == (0.8, 9)
    assert {len(column) for column in known.eval_inputs.values()} == {64}


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
@pytest.mark.parametrize("tier", TIERS)
def test_certificates_can_be_run_again(card: Card, tier: str) -> None:
    """Card and definition are enough to repeat every check, with the same figures."""
    made = make_pair(card, SEED, tier, others=CARDS)
    again = certify(card, LawDefinition.model_validate(made.definition.model_dump()), CARDS)
    assert tuple(again) == made.certificates
    assert len(again) == len(CHECKS)
    assert all(item.passed for item in again if item.name not in MAY_FAIL)


@pytest.mark.parametrize("tier", TIERS)
def test_constants_are_short_and_pivots_are_middles(tier: str) -> None:
    """New constants have at most two significant digits; a pivot is the middle of its input's domain."""
    for card in CARDS:
        made = make_pair(card, SEED, tier)
        middles = {middle(item) for item in card.inputs}
        for constant in made.definition.constants:
            if constant.role == "pivot":
                assert constant.original == constant.counterfactual
                assert constant.original in middles
            elif constant.original != constant.counterfactual:
                assert len(Decimal(repr(constant.counterfactual)).normalize().as_tuple().digits) <= 2


def test_middles_are_exact_decimals() -> None:
    """The middle is computed on the printed decimals: 0.105 and not 0.10500000000000001."""
    item = BEAM.inputs[0].model_copy(update={"low": 0.01, "high": 0.2})
    assert middle(item) == 0.105
    assert middle(item.model_copy(update={"scale": "log", "low": 1e-6, "high": 1e-4})) == 1e-05
    assert middle(BEAM.inputs[1]) == pytest.approx(math.sqrt(18), rel=1e-15)


@pytest.mark.parametrize("tier", TIERS)
def test_told_parameters_never_change(tier: str) -> None:
    """The brief's constants are the same for both twins: none of them is a constant of the pair."""
    for seed in SEEDS:
        known = make_pair(BEAM, seed, tier).definition
        assert "g" not in {constant.name for constant in known.constants}
        assert known.told_values() == {"g": 1.6021}


@pytest.mark.parametrize("tier", TIERS)
def test_the_original_is_the_cards_relation(tier: str) -> None:
    """With neutral constants the parametric tree is the card's relation: in values, and as written."""
    for card in CARDS:
        known = make_pair(card, SEED, tier).definition
        truth = known.truth("original")
        columns = known.columns(known.eval_inputs)
        for item in card.observables:
            hidden = {p.name: p.value for p in card.parameters if not p.told}
            assert truth[item.name] == bind(item.relation, hidden)
            expected = evaluate(item.relation, {**columns, **card.values()})
            assert np.array_equal(known.respond(columns, "original")[item.name], expected)


def test_a_mutated_quantity_changes_everywhere() -> None:
    """Rule 2: the quantity is replaced in every relation and at every place where it occurs."""
    form = apply(BEAM, [Change("exponent", "w", 0.5, ("w",))])
    assert print_infix(form.relations["b"]) == "g*q*(w*(w/w_ref)^d1) + h*(w*(w/w_ref)^d1)^2"
    assert print_infix(form.relations["p"]) == "2*q + h*(w*(w/w_ref)^d1)"


def test_two_changes_are_made_at_once() -> None:
    """A second change does not reach into the terms that the first one added."""
    form = apply(
        LEVELS,
        [Change("interaction", "s", 0.2, ("a", "s"), -1), Change("exponent", "s", 0.3, ("s",))],
    )
    changed = "(s*(1 + c1*(a/a_ref)*(s_ref/s))*(s/s_ref)^d1)"
    assert print_infix(form.relations["y"]) == f"{changed}*(1/a^2 - 1/b^2)"


def test_a_coefficient_is_a_new_value_of_a_hidden_parameter() -> None:
    """A plain coefficient change adds no constant and leaves the form as it is."""
    form = apply(SPRING, [Change("coefficient", "k", 17.0)])
    assert form.relations["F"] == SPRING.observables[0].relation
    assert [(c.name, c.original, c.counterfactual) for c in form.constants] == [("k", 12.0, 17.0)]


def test_a_factor_is_one_in_the_original() -> None:
    """Where there is no hidden parameter the coefficient is a factor k."""
    form = apply(LEVELS, [Change("coefficient", "y", 1.5)])
    assert print_infix(form.relations["y"]) == "(s*(1/a^2 - 1/b^2))*k1"
    assert [(c.name, c.original, c.counterfactual) for c in form.constants] == [("k1", 1.0, 1.5)]


def test_a_transformation_acts_on_a_group() -> None:
    """q becomes q(1 + c f(group)) everywhere; the group is a ratio to its pivot or stands bare."""
    ratio = Change("transform", "h", 0.4, ("w",), shape="tanh", group=Group((("w", 1),), bare=False))
    form = apply(BEAM, [ratio])
    assert print_infix(form.relations["p"]) == "2*q + (h*(1 + c1*tanh(w/w_ref)))*w"
    assert "(h*(1 + c1*tanh(w/w_ref)))*w^2" in print_infix(form.relations["b"])
    bare = Change(
        "transform", "F", 0.4, ("x",), shape="saturating", group=Group((("x", 2), ("k", -1)), bare=True)
    )
    assert print_infix(apply(SPRING, [bare]).relations["F"]) == "(k*x)*(1 + c1*(x^2/k/(1 + x^2/k)))"


def test_a_correction_carries_the_unit_of_what_it_is_added_to() -> None:
    """A term is switched on: its coefficient is zero in the original and has the quantity's unit."""
    term = Change("correction", "F", 3.1, ("x",), shape="square", group=Group((("x", 1),), bare=False))
    form = apply(SPRING, [term])
    assert print_infix(form.relations["F"]) == "k*x + k1*(x/x_ref)^2"
    constant = next(c for c in form.constants if c.name == "k1")
    assert (constant.unit, constant.original, constant.counterfactual) == ("N", 0.0, 3.1)


def test_dependent_parameters_follow() -> None:
    """A parameter that depends on a changed one is worked out anew; it is no constant of its own."""
    document = SPRING.model_dump(mode="json")
    document["parameters"].append(
        {"name": "k2", "value": 24.0, "unit": "N/m", "source": "twice k", "relation": "2*k"}
    )
    document["observables"][0]["relation"] = "k*x + k2*x"
    card = Card.model_validate(document)
    form = apply(card, [Change("coefficient", "k", 17.0)])
    assert print_infix(form.relations["F"]) == "k*x + (2*k)*x"
    assert [c.name for c in form.constants] == ["k"]
    made = make_pair(card, SEED, "easy")
    assert next(c for c in made.certificates if c.name == "complete").passed


def test_new_names_never_collide() -> None:
    """A card that already uses c1 or w_ref keeps its names; the new constants step aside."""
    card = BEAM.model_copy(
        update={
            "parameters": (
                BEAM.parameters[0].model_copy(update={"name": "c1"}),
                BEAM.parameters[1].model_copy(update={"name": "w_ref"}),
            ),
            "observables": tuple(
                o.model_copy(update={"relation": apply(BEAM, []).relations[o.name]}) for o in BEAM.observables
            ),
        }
    )
    form = apply(card, [Change("interaction", "q", 0.2, ("w", "q"), 1)])
    made = {constant.name for constant in form.constants} - {"w_ref"}
    assert made == {"c2", "w_ref1", "q_ref"}


@pytest.mark.parametrize("value", [0.123, 9.99, 1234.0, -0.0456, 5e-7])
def test_two_digits(value: float) -> None:
    """Rounded to two significant digits, within half a unit of the second."""
    assert two_digits(value) == pytest.approx(value, rel=0.05)
    assert len(Decimal(repr(two_digits(value))).normalize().as_tuple().digits) <= 2


def test_a_pair_is_plain_json_for_people() -> None:
    """The document names card, tier, class, both relations, constants, mutations and certificates."""
    document = pair().document()
    canonical_json(document)
    assert document["original"] == {"b": "g*q*w + 3.5*w^2", "p": "2*q + 3.5*w"}
    assert document["counterfactual"] != document["original"]
    assert {"card", "seed", "tier", "class", "strict", "reason", "certificates"} <= set(document)
