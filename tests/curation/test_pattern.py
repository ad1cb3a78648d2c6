"""The offline extractor: explicit equations with a where-list, and nothing that it only guesses."""

from __future__ import annotations

import pytest

from cards.infix import parse_infix
from curation.extract import PatternExtractor
from curation.parse_child import parse_bytes
from curation.pattern import pattern_relations
from curation.tex_math import TexMathError, symbol_name, to_infix
from tests.curation.rig import TEX, document, paper


def test_an_explicit_equation_becomes_a_card() -> None:
    """Equation, where-list with units and values, and a stated domain make a card without a fault."""
    draft = PatternExtractor(pattern_relations).drafts(paper(), document())[0]
    assert draft.faults == ()
    assert draft.card is not None
    assert draft.card.extractor == "pattern"
    assert {item.name: (item.low, item.high, item.unit) for item in draft.card.inputs} == {
        "r": (10, 120, "kpc")
    }
    assert draft.card.values() == {"A_0": 0.12, "p": -1.8, "r_0": 20.0}
    assert draft.card.values(told_only=True) == {"r_0": 20.0}


def test_a_text_with_a_relation_line_is_read_too() -> None:
    """Plain text: a line of its own with the relation, symbols in backticks."""
    text = (
        "We measured sinking flakes and find\n\n v = v_0*(d/d_0)^1.4\n\nwhere `v` is the sinking speed "
        "in mm/s, `d` is the diameter in mm, `v_0 = 2.3` mm/s is the speed at the pivot and `d_0 = 0.5` mm "
        "is the pivot diameter. The flakes have `d` from 0.1 to 2 mm. "
        "The relation holds only for still water.\n"
    )
    found = parse_bytes("folder:dust", "a.txt", text.encode())
    draft = PatternExtractor(pattern_relations).drafts(paper(), found)[0]
    assert draft.faults == ()
    assert draft.card is not None
    assert draft.card.conditions == ("The relation holds only for still water",)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("The fit covers $10 \\le r \\le 120$ kpc.", "", "no_domain"),
        ("$p = -1.8 \\pm 0.4$ is", "$p$ is", "no_domain"),
        ("$r_0 = 20$ kpc is the pivot radius", "the pivot lies at 20 kpc", "no_relation"),
        ("A = A_0", "A \\propto A_0", "no_relation"),
    ],
)
def test_what_is_not_explicit_is_left_out(old: str, new: str, reason: str) -> None:
    """A missing domain, value, explanation or equals sign gives no card."""
    draft = PatternExtractor(pattern_relations).drafts(paper(), document(TEX.replace(old, new)))[0]
    assert draft.faults[0].check == reason


@pytest.mark.parametrize(
    ("tex", "infix"),
    [
        (r"\frac{a}{b} \cdot c", "((a)/(b))*c"),
        (r"a b^{2} c", "a*b^2*c"),
        (r"\sqrt{a + b}", "sqrt(a + b)"),
        (r"e^{-a/b}", "exp(-a/b)"),
        (r"a \exp\left(-\frac{b}{c}\right)", "a*exp(-(b/c))"),
        (r"\log_{10}\left(a/b\right) + c", "log10(a/b) + c"),
        (r"2\pi \sqrt{a/b}", "2*pi*sqrt(a/b)"),
        (r"M_{\rm bar} \left[1 + (a/b)^c\right]", "M_bar*(1 + (a/b)^c)"),
        (r"-a + \ln b", "-a + log(b)"),
    ],
)
def test_formulas_are_read(tex: str, infix: str) -> None:
    """Fractions, powers, roots, functions, indices and products without a sign."""
    assert parse_infix(to_infix(tex, {"a", "b", "c", "M_bar"})) == parse_infix(infix)


@pytest.mark.parametrize(
    "tex", [r"\log a", r"\sum_i a_i", r"a \pm b", r"\int a", r"z", r"\sin^2 a", r"(a", "a)", ""]
)
def test_what_is_ambiguous_is_refused(tex: str) -> None:
    """A logarithm without a base, sums, integrals and unexplained symbols are refused, not guessed."""
    with pytest.raises(TexMathError):
        to_infix(tex, {"a", "b"})


def test_deep_formulas_are_refused() -> None:
    """Nesting and length have limits."""
    with pytest.raises(TexMathError):
        to_infix("(" * 5000 + "a" + ")" * 5000, {"a"})
    with pytest.raises(TexMathError):
        to_infix("(" * 500 + "a" + ")" * 500, {"a"})
    with pytest.raises(TexMathError):
        to_infix("{" * 500 + "a", {"a"})


def test_symbols_get_names() -> None:
    """A name keeps what tells symbols apart and drops the rest."""
    names = [symbol_name(tex) for tex in (r"M_{\rm bar}", r"\sigma_0", "A'", r"\mathrm{Re}_\tau", "f_{a,b}")]
    assert names == ["M_bar", "sigma_0", "A_prime", "Re_tau", "f_ab"]
