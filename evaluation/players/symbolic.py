"""A symbolic-regression player on gplearn, an optional extra; its programs become expression trees.

Needs ``pip install almanac-bench[symbolic]``. gplearn's protected functions are written out as what they
do where the readings lie; a program that is undefined elsewhere in the domain gives way to a constant.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cards.errors import InputError
from cards.expression import Apply, Number, Tree, Variable
from evaluation.players.regression import Fit, Readings

POPULATION = 500
GENERATIONS = 12
_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "div"}
_UNARY = {"sqrt": "sqrt", "log": "log"}
"""Protected in gplearn by an absolute value, which is written out."""


def symbolic_fitter(seed: bytes, population: int = POPULATION, generations: int = GENERATIONS) -> Any:
    """Return a fitter whose evolution is drawn from a seed.

    Raises:
        InputError: when gplearn is not installed.
    """
    try:
        from gplearn.genetic import SymbolicRegressor
    except ImportError as error:
        raise InputError(
            "the player 'symbolic-regression' needs gplearn, which is not installed.",
            "pip install 'almanac-bench[symbolic]'",
        ) from error

    def fit(readings: Readings) -> Fit:
        names = list(readings.inputs)
        size = float(np.median(np.abs(readings.values))) or 1.0
        model = SymbolicRegressor(
            population_size=population,
            generations=generations,
            function_set=(*_OPERATORS, *_UNARY),
            const_range=(-3.0, 3.0),
            parsimony_coefficient=0.002,
            random_state=int.from_bytes(seed[:4], "big"),
        )
        columns = np.column_stack([readings.inputs[name] for name in names])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(columns, readings.values / size, sample_weight=size / readings.scale)
            predicted = size * model.predict(columns)
        error = float(np.max(np.abs(predicted - readings.values) / readings.scale))
        tree = Apply("mul", (Number(size), program_tree(model._program.program, names)))
        return Fit(tree, error)

    return fit


def program_tree(program: list[Any], names: list[str]) -> Tree:
    """Return a gplearn program (a list in prefix order) as an expression tree."""
    stack: list[Tree] = []
    for node in reversed(program):
        if isinstance(node, int | np.integer):
            stack.append(Variable(names[int(node)]))
        elif isinstance(node, float | np.floating):
            stack.append(Number(float(node)))
        else:
            args = tuple(stack.pop() for _ in range(node.arity))
            if node.name in _UNARY:
                stack.append(Apply(_UNARY[node.name], (Apply("abs", args),)))
            else:
                stack.append(Apply(_OPERATORS[node.name], args))
    return stack[0]
