"""Regression players: every setting and protocol is played by its rules; simple laws are found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cards.domain import Domain, Interval, points
from cards.evaluate import evaluate
from cards.infix import parse_infix, print_infix
from environments.checks import play
from environments.family import Policy
from environments.law.family import LAW
from environments.task import Options
from evaluation.players import SCRIPTED
from evaluation.players.refine import Model, left_out, refined
from evaluation.players.regression import Readings, Regression
from evaluation.players.sparse import sparse_fit
from evaluation.players.symbolic import program_tree, symbolic_fitter
from tests.environments.examples import CARDS, KEY

TASKS = LAW.build(CARDS, {}, KEY)
PLAYERS: dict[str, Callable[[], Policy]] = {
    "sparse-regression": lambda: Regression(sparse_fit),
    "symbolic-regression": lambda: Regression(symbolic_fitter(b"a seed of the slot", 60, 3)),
}


def test_the_players_are_on_the_table() -> None:
    """Both can be named on the command line, and play laws only."""
    assert all(SCRIPTED[name].families == ("law",) and SCRIPTED[name].kind == "rule" for name in PLAYERS)


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize("protocol", ["prior", "fixed:8", "adaptive"])
@pytest.mark.parametrize("setting", ["identification", "discovery"])
def test_every_protocol_and_setting_is_played(name: str, protocol: str, setting: str) -> None:
    """A regression completes by the rules wherever it is seated, and its predictor can be evaluated."""
    for task in TASKS:
        if task.row.setting != setting:
            continue
        record = play(LAW, task, Options(setting=setting, protocol=protocol), PLAYERS[name]())
        score = LAW.judge(task.definition, record)
        assert (score.status, score.protocol_ok, record.ending) == ("scored", True, "completed"), score
        assert all(event.outcome == "succeeded" for event in record.events)


def test_identification_is_solved() -> None:
    """With candidates the library is the two of them, and one reading decides."""
    for task in TASKS:
        if task.row.setting == "identification":
            options = Options(setting="identification", protocol="adaptive")
            score = LAW.judge(task.definition, play(LAW, task, options, Regression(sparse_fit)))
            assert score.passed["weak"]


@pytest.mark.parametrize(
    "law",
    ["3*u*v^2", "2*u + 3*v^2", "3*u*exp(-1.3*v)", "1/(2/u + 3/v)", "5*u*exp(-2/v)", "-4*u^(-1.5)", "7"],
)
def test_simple_laws_are_found(law: str) -> None:
    """Powers, sums of two terms, an exponential factor, a reciprocal: from sixteen readings, exactly."""
    rng = np.random.default_rng(0)
    inputs = {"u": rng.uniform(0.3, 2, 16), "v": rng.uniform(0.3, 2, 16)}
    values = np.broadcast_to(evaluate(parse_infix(law), inputs), 16)
    fit = sparse_fit(Readings(inputs, values, 1e-3 + 0.01 * np.abs(values)))
    fresh = {"u": rng.uniform(0.3, 2, 50), "v": rng.uniform(0.3, 2, 50)}
    assert evaluate(fit.tree, fresh) == pytest.approx(evaluate(parse_infix(law), fresh), rel=1e-6)


@pytest.mark.parametrize(
    "law",
    [
        "3*u^1.7*v^(-0.43)",
        "2*u^2 - 1.3*v^2",
        "2*u^2.37 - 1.3*v^1.61",
        "1/(3*u^2 + 2*v^2)",
        "1/(3*u^(-2.3) + 0.7*v^(-1.2))",
        "3*u*exp(-1.3*v)",
        "3*u^1.21*exp(-0.83*v)",
        "4*v/(1.9 + u)",
        "4*v^1.3/(2.4 - u)",
    ],
)
@pytest.mark.parametrize("count", [8, 16])
def test_no_exponent_is_harder_to_find_than_another(law: str, count: int) -> None:
    """Whole exponents and others, rates of one and others: from rounded readings, within the tolerance."""
    domain = Domain({name: Interval(0.3, 2.0) for name in "uv"})
    inputs = points(domain, count, seed=2)
    values = np.array([float(f"{value:.5g}") for value in evaluate(parse_infix(law), inputs)])
    fit = sparse_fit(Readings(inputs, values, 1e-3 + 0.01 * np.abs(values)))
    fresh = points(domain, 256, seed=3)
    truth = evaluate(parse_infix(law), fresh)
    assert np.max(np.abs(evaluate(fit.tree, fresh) - truth) / (1e-3 + 0.01 * np.abs(truth))) <= 1


def test_freed_numbers_are_fitted_until_they_are_exact() -> None:
    """A refinement starts at the library's exponents and ends at the law's; too few readings tell nothing."""
    inputs = {"u": np.linspace(0.3, 2.0, 8)}
    values = evaluate(parse_infix("3*u^1.37 + 2"), inputs)
    model = Model(parse_infix("c*u^p + b"), {"c": 1.0, "p": 2.0, "b": 0.5})
    readings = Readings(inputs, values, 0.01 * np.abs(values))
    fit = refined(model, readings)
    assert fit.error < 1e-6
    assert print_infix(model.fixed()) == "u^2 + 0.5"
    fresh = {"u": np.linspace(0.4, 1.9, 7)}
    assert evaluate(fit.tree, fresh) == pytest.approx(evaluate(parse_infix("3*u^1.37 + 2"), fresh), rel=1e-8)
    few = Readings({"u": inputs["u"][:3]}, values[:3], readings.scale[:3])
    assert refined(model, few).error == np.inf


def test_a_number_that_does_nothing_takes_no_reading() -> None:
    """Left-out errors count the directions in which a model moves, not its numbers."""
    part = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    residual = np.array([0.1, 0.0, -0.1])
    assert left_out(part, residual) == pytest.approx(0.15)
    assert left_out(part[:, :1], residual) == pytest.approx(0.15)


def test_a_program_becomes_a_tree() -> None:
    """Prefix lists of gplearn are read from the back; protected functions take the absolute value."""

    class Node:
        def __init__(self, name: str, arity: int) -> None:
            self.name, self.arity = name, arity

    program = [Node("sub", 2), 0, Node("mul", 2), 0.5, Node("log", 1), 1]
    assert print_infix(program_tree(program, ["a", "b"])) == "a - 0.5*log(abs(b))"
