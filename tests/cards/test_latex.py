"""LaTeX of expressions: parentheses, signs, symbols."""

from __future__ import annotations

import pytest
from hypothesis import given

from cards.expression import Tree
from cards.infix import parse_infix
from cards.latex import number_latex, print_latex
from tests.strategies import trees


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("n*R*T/V", r"\frac{n \, R \, T}{V}"),
        ("n*R*T/(V-n*b)-a*n^2/V^2", r"\frac{n \, R \, T}{V - n \, b} - \frac{a \, n^{2}}{V^{2}}"),
        ("x*(a+b)", r"x \, \left(a + b\right)"),
        ("a-(b-c)", r"a - \left(b - c\right)"),
        ("a+(-2*x)", r"a - 2 \, x"),
        ("a-(-2)", r"a - \left(-2\right)"),
        ("-(-x)", r"-\left(-x\right)"),
        ("(-2)^x", r"\left(-2\right)^{x}"),
        ("(x/y)^2", r"\left(\frac{x}{y}\right)^{2}"),
        ("sqrt(x)^2", r"\left(\sqrt{x}\right)^{2}"),
        ("2*pi*sqrt(L_0/g1)", r"2 \, \pi \, \sqrt{\frac{L_{0}}{g_{1}}}"),
        ("x*3", r"x \cdot 3"),
        ("2e22*x", r"2 \times 10^{22} \cdot x"),
        ("exp(-lambda*t)", r"\exp\left(-\lambda \, t\right)"),
        ("max(x, y, 2)", r"\max\left(x, y, 2\right)"),
        ("abs(T_ref)", r"\left|T_{\mathrm{ref}}\right|"),
        ("log10(mass)", r"\log_{10}\left(\mathrm{mass}\right)"),
    ],
)
def test_notation(text: str, latex: str) -> None:
    """Briefs and pages show relations as people write them, with every needed parenthesis."""
    assert print_latex(parse_infix(text)) == latex


def test_symbols_of_the_card_are_used() -> None:
    """A card's symbol stands in place of the name; an empty symbol does not."""
    assert print_latex(parse_infix("temp*v"), {"temp": r"T_\infty", "v": ""}) == r"T_\infty \, v"


@pytest.mark.parametrize(
    ("value", "latex"), [(1e-05, "10^{-5}"), (6.02e23, r"6.02 \times 10^{23}"), (-2.0, "-2"), (0.1, "0.1")]
)
def test_numbers(value: float, latex: str) -> None:
    """Powers of ten are written out."""
    assert number_latex(value) == latex


@given(trees())
def test_braces_balance(tree: Tree) -> None:
    """Every tree prints, and what it prints is well nested and never has two signs in a row."""
    latex = print_latex(tree)
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") == latex.count(r"\right") + latex.count(r"\leftarrow")
    assert "--" not in latex.replace(" ", "")
    assert "+-" not in latex.replace(" ", "")
