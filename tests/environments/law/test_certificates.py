"""Each check of a pair refuses what it is there to refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cards.card import Card
from cards.document import read_tree
from cards.evaluate import evaluate
from cards.expression import Apply, Tree, Variable, bind, names
from cards.infix import parse_constraint, parse_infix
from environments.law import certificates as checks
from environments.law.definition import Certificate, Constant, LawDefinition, Mutation
from environments.law.distinguish import distinguishable, structural
from environments.law.fit import FINE, fit, tolerance_weights
from environments.law.identification import candidates, mixing_name, mixtures
from environments.law.oracle import observe
from environments.law.prune import prune
from environments.law.recover import recoverable, recovered
from environments.law.renaming import new
from environments.law.study import Study, player_domain
from tests.environments.examples import BEAM, CARDS, LEVELS, definition

KNOWN = definition()
STUDY = Study(BEAM)


def changed(name: str, text: str, **constants: tuple[float, float]) -> LawDefinition:
    """Return the beam's definition with one relation rewritten over constants (original, counterfactual)."""
    made = tuple(
        Constant(name=n, unit="1", role="correction", original=v[0], counterfactual=v[1])
        for n, v in constants.items()
    )
    hidden = tuple(c for c in KNOWN.constants if c.role == "hidden")
    relations = {item.name: item.relation for item in BEAM.observables} | {name: parse_infix(text)}
    mutations = tuple(
        Mutation(kind="interaction", target="w", constant=n, value=v[1]) for n, v in constants.items()
    )
    return KNOWN.model_copy(
        update={"relations": relations, "constants": (*hidden, *made), "mutations": mutations}
    )


def outcome(check: Any, known: LawDefinition, study: Study = STUDY) -> Certificate:
    """Run one check."""
    found = check(study, known)
    assert isinstance(found, Certificate)
    return found


def test_units_refuse_a_bare_power() -> None:
    """An exponent change without a reference scale breaks the units."""
    found = outcome(checks.units, changed("p", "2*q*w^c + h*w", c=(0.0, 0.5)))
    assert not found.passed
    assert "exponent" in found.message or "unit" in found.message


def test_complete_refuses_a_change_in_one_place() -> None:
    """A quantity that occurs in two relations and is changed in one is refused, with both lists."""
    found = outcome(checks.complete, changed("p", "2*q + h*w*(1 + c)", c=(0.0, 0.5)))
    assert not found.passed
    assert found.values == {"c": {"occurs_in": ["b", "p"], "changed_in": ["p"]}}


def test_complete_does_not_depend_on_the_order_of_relations() -> None:
    """A release stores relations by name, a card lists them as it likes; both pass, with equal figures."""
    turned = KNOWN.model_copy(update={"relations": dict(reversed(KNOWN.relations.items()))})
    assert list(turned.relations) != [item.name for item in BEAM.observables]
    assert outcome(checks.complete, turned) == outcome(checks.complete, KNOWN)
    assert outcome(checks.complete, turned).passed


def test_finite_looks_at_the_corners() -> None:
    """A relation that is undefined only at the end of a domain is refused."""
    found = outcome(checks.finite, changed("p", "2*q + h*w + c*log(2 - w)", c=(0.0, 0.1)))
    assert not found.passed
    assert "log" in found.message


def test_finite_refuses_a_pole_between_the_points() -> None:
    """Where a divisor changes its sign there is a pole, whether or not a point of the sample meets it."""
    for pole in ("c*h/(w - 1.2345)", "c*h*(w - 1.2345)^(-2)"):
        found = outcome(checks.finite, changed("p", f"2*q + h*w + {pole}", c=(0.0, 1e-6)))
        assert not found.passed
        assert "passes through zero" in found.message


def test_range_refuses_an_explosion() -> None:
    """More than a hundred times the original's range, less than a hundredth, or near to it, is refused."""
    assert not outcome(checks.spread, changed("p", "(2*q + h*w)*(1 + c)", c=(0.0, 150.0))).passed
    assert not outcome(checks.spread, changed("p", "(2*q + h*w)*(1 + c)", c=(0.0, -0.995))).passed
    assert not outcome(checks.spread, changed("p", "(2*q + h*w)*(1 + c)", c=(0.0, 60.0))).passed
    assert outcome(checks.spread, changed("p", "(2*q + h*w)*(1 + c)", c=(0.0, 40.0))).passed


def test_influence_refuses_a_silenced_input() -> None:
    """A change that makes an input irrelevant is refused, with the input's largest effect."""
    known = changed("p", "2*q*(1 + c) + h", c=(0.0, 1.0))
    relations = {"p": known.relations["p"], "b": parse_infix("g*q + h")}
    found = outcome(checks.influence, known.model_copy(update={"relations": relations}))
    assert not found.passed
    assert found.values["w"] == 0.0
    assert found.values["q"] > 1


def test_resolution_holds_for_both_twins() -> None:
    """Half a step of the instrument is at most a quarter of the tolerance, everywhere."""
    coarse = KNOWN.observables[0].model_copy(update={"resolution": 0.5})
    found = outcome(
        checks.resolution, KNOWN.model_copy(update={"observables": (coarse, KNOWN.observables[1])})
    )
    assert not found.passed
    assert found.values["worst"] > 0.25


def test_limits_refuse_candidates_that_nobody_could_submit() -> None:
    """G must fit the nodes and depth of a submission."""
    deep: Tree = Variable("w")
    for _ in range(64):
        deep = Apply("neg", (deep,))
    found = outcome(checks.limits, KNOWN.model_copy(update={"relations": {"b": deep, "p": deep}}))
    assert not found.passed


def test_distinguishable_needs_more_than_one_point() -> None:
    """A difference that is large in a corner of the domain only is refused."""
    corner = changed("p", "2*q + h*w + c*h*w*max(0, w - 1.9)", c=(0.0, 30.0))
    found = outcome(distinguishable, corner)
    assert not found.passed
    counts = found.values["original_on_counterfactual"]
    assert counts["max_e"] > 2 > 0.5 > counts["share"]


def test_a_change_below_the_instrument_is_not_distinguishable() -> None:
    """Both sides are compared as they are read."""
    assert not outcome(distinguishable, changed("p", "2*q + h*w*(1 + c)", c=(0.0, 1e-6))).passed


def test_a_change_that_a_refit_hides_is_parametric() -> None:
    """A factor on a hidden parameter's term is undone by the parameter: distinguishable, not structural."""
    known = changed("b", "g*q*w + h*w^2*(1 + c)", c=(0.0, 0.8))
    both = known.model_copy(update={"relations": known.relations | {"p": parse_infix("2*q + h*w*(1 + c)")}})
    assert outcome(distinguishable, both).passed
    found = outcome(structural, both)
    assert not found.passed
    assert found.values["original_on_counterfactual"]["fitted"]["h"] == pytest.approx(3.5 * 1.8, rel=1e-3)


def test_a_plain_coefficient_is_parametric_by_name() -> None:
    """Rule 3: plain coefficient changes are always of the parametric class."""
    made = definition(tier="easy")
    assert made.mutations[0].kind == "coefficient"
    assert not outcome(structural, made).passed


def test_a_finer_fit_does_not_change_the_class() -> None:
    """The refit of a structural pair is at its minimum: fitting on changes no count."""
    known = definition()
    columns = known.columns(known.eval_inputs)
    readings = observe(known, columns, "counterfactual")
    weights = tolerance_weights(known, readings)
    coarse = next(c for c in known.certificates if c.name == "structural")
    fine = fit(known, "original", columns, readings, weights=weights, free={"h": 3.5}, tolerance=FINE)
    assert coarse.values["original_on_counterfactual"]["fitted"]["h"] == pytest.approx(fine["h"], rel=1e-3)


def test_recoverable_gives_every_constant_back() -> None:
    """Sixteen readings, a perturbed start and three digits: all constants of both twins come back."""
    for variant in ("original", "counterfactual"):
        for truth, found in recovered(KNOWN, variant).values():
            assert found == truth
    assert outcome(recoverable, KNOWN).passed


def test_a_long_constant_is_not_recoverable() -> None:
    """A hidden value of more than three digits cannot be met and makes the family weak-only."""
    constants = tuple(
        item.model_copy(update={"original": 3.5123, "counterfactual": 3.5123}) if item.name == "h" else item
        for item in KNOWN.constants
    )
    found = outcome(recoverable, KNOWN.model_copy(update={"constants": constants}))
    assert not found.passed
    assert "h = 3.5123 comes back as 3.51" in found.message


def test_a_redundant_constant_is_not_recoverable() -> None:
    """Two constants that only occur as their product cannot be told apart."""
    known = changed("p", "2*q + h*w*c*k", c=(1.0, 1.5), k=(1.0, 2.0))
    assert not outcome(recoverable, known).passed


def renamed(card: Card, relation: str, *names: str) -> Card:
    """Return the levels' card as another family: other input names, another relation."""
    inputs = tuple(i.model_copy(update={"name": n}) for i, n in zip(card.inputs, names, strict=True))
    observable = card.observables[0].model_copy(update={"name": "out", "relation": parse_infix(relation)})
    return card.model_copy(
        update={"id": "another_one", "inputs": inputs, "observables": (observable,), "constraints": ()}
    )


def levels(relation: str) -> LawDefinition:
    """Return a definition whose counterfactual is this relation over a, b and s."""
    changes = {"relations": {"y": parse_infix(relation)}, "constants": ()}
    return definition(card=LEVELS).model_copy(update=changes)


def test_new_refuses_a_known_relation_under_other_names() -> None:
    """Another family's original, its inputs renamed and in another order, is recognised."""
    study = Study(LEVELS, [renamed(LEVELS, "v*m + v/n", "m", "n", "v")])
    found = outcome(new, levels("s*b + s/a"), study)
    assert not found.passed
    assert "another_one" in found.message
    assert outcome(new, levels("s*b + s/a^2"), study).passed


def test_new_refuses_the_own_original_with_inputs_exchanged() -> None:
    """Exchanging like inputs of the card's own relation is no counterfactual."""
    study = Study(LEVELS)
    assert not outcome(new, levels("s*(1/b^2 - 1/a^2)"), study).passed
    assert not outcome(new, levels("s*(1/a^2 - 1/b^2)"), study).passed
    assert outcome(new, levels("s*(1/a^2 + 1/b^2)"), study).passed


def test_new_compares_only_what_has_the_same_units() -> None:
    """Families with other units are not compared."""
    found = outcome(new, KNOWN, Study(BEAM, CARDS))
    assert found.passed
    assert found.values == {"compared": 1}


def test_the_candidates_mix_the_twins() -> None:
    """G is the original at s = 0 and the counterfactual at s = 1, constants as numbers, told by name."""
    columns = KNOWN.columns(KNOWN.eval_inputs)
    trees = mixtures(KNOWN)
    assert names(trees["b"]) == {"w", "q", "g", "s"}
    for s, variant in ((0.0, "original"), (1.0, "counterfactual")):
        exact = KNOWN.respond(columns, variant)  # type: ignore[arg-type]
        for name, tree in trees.items():
            found = evaluate(bind(tree, {"s": s}), {**columns, **KNOWN.told_values()})
            assert np.allclose(found, exact[name], rtol=1e-12)


def test_the_candidates_are_given_as_trees_and_as_text() -> None:
    """Both forms say the same, and the brief says that intermediate values do not occur."""
    told = candidates(KNOWN)
    assert told["intermediate_values_allowed"] is False
    assert told["unknown"] == "s"
    for name, document in told["expressions"].items():
        assert parse_infix(told["formulas"][name]) == read_tree(document)


def test_the_unknown_steps_aside_for_a_quantity_named_s() -> None:
    """A card with an input s gets another name for the unknown."""
    assert mixing_name({"a", "s"}) == "s_mix"
    assert mixing_name({"s", "s_mix"}) == "s_mix_"
    assert candidates(definition(card=LEVELS))["unknown"] == "s_mix"


@pytest.mark.parametrize(
    ("text", "corrections", "pruned"),
    [
        ("x*(x/r)^d", {"d": 0.0}, "x"),
        ("x*(1 + c*(u/r))", {"c": 0.0}, "x"),
        ("k*(a + b)", {"k": 1.0}, "a + b"),
        ("(x*(1 + c*u)*(x/r)^d)^2 + y", {"c": 0.0, "d": 0.0}, "x^2 + y"),
        ("x*(1 + c*u)", {"c": 0.3}, "x*(1 + c*u)"),
        ("1*x + 0*y", {"c": 0.0}, "1*x + 0*y"),
        ("x*(x/r)^d", {"d": 1.0}, "x*(x/r)^d"),
    ],
)
def test_neutral_terms_are_pruned_and_nothing_else(
    text: str, corrections: dict[str, float], pruned: str
) -> None:
    """What a neutral correction switches off is gone; a card's own ones and zeros stay."""
    assert prune(parse_infix(text), corrections) == parse_infix(pruned)


def test_constraints_tell_no_hidden_parameter() -> None:
    """A constraint over a hidden parameter is shown with its number, not with its name."""
    constraint = parse_constraint("q > h*w/9")
    domain = player_domain(BEAM.model_copy(update={"constraints": (constraint,)}))
    assert domain.constraints[0].right == parse_infix("3.5*w/9")
    assert domain.constants == {"g": 1.6021}
