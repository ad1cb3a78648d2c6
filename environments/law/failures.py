"""Why an episode failed, decided by program wherever a program can.

Asked in this order; the first that holds is the category:

- solved: weak success, and strict where exactness is asked for.
- no usable answer: no completion, or a predictor that cannot be read, or evaluated at a hidden input.
  Example: ``log(x - 3)`` where x runs from 1 to 5.
- stopping rule: every error is at most one, but the selected hypothesis had not reached τ.
- symbolically not recovered: weak success, but not the relation itself. Example: a fit good to 1e-7.
- parameter error: its numbers, refitted to the truth at the hidden inputs, leave no error above 1e-3; the
  form is right, if need be with a term that refits to nothing. Example: 9.7 for 9.81.
- evidence misreading: it misses, by an error above one, a reading that the player was shown.
- incorrect relation: all else, that is another form which agrees with whatever was read. Example: k·x for
  k·x² after one reading.

Whether an explanation fits its relation is left to raters: no program decides it.

Source: arXiv 2610.37919, section 4 (categories); the definitions are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping

import numpy as np
from scipy.optimize import least_squares

from cards.canonical import digest
from cards.document import read_trees
from cards.errors import ExpressionError
from cards.evaluate import evaluate, evaluate_partial
from cards.expression import Apply, Number, Tree, Variable
from environments.law.arguments import Completion
from environments.law.definition import FloatArray, LawDefinition
from environments.law.judge import completed, judge
from environments.law.tools import PROPOSE, READ
from environments.task import Record, Score

CATEGORIES = (
    "solved",
    "no usable answer",
    "stopping rule",
    "symbolically not recovered",
    "parameter error",
    "evidence misreading",
    "incorrect relation",
    "undetermined",
)
SAME_FORM = 1e-3
"""Largest normalised error after a refit that still counts as the same form."""
MOST_FREED = 16
"""A relation with more numbers than this for one observable is a table or a dense fit, never a form."""
_MOST_FITS = 100
_STEP = float(np.sqrt(np.finfo(np.float64).eps))
_LARGEST = 1e8
"""Normalised errors beyond this, and where the submission is undefined, count as this."""

Refits = MutableMapping[str, bool]
"""Whether a submission is the truth in other numbers, by the digest of its predictor; of one world."""


def failure(
    definition: LawDefinition, record: Record, score: Score | None = None, refits: Refits | None = None
) -> str:
    """Return the category of one record.

    Args:
        definition: of the world that was played.
        record: of the finished session.
        score: its score, where it is known already.
        refits: keeps the outcomes of refits, which take long, for further records of the same world.
    """
    score = score or judge(definition, record)
    completion = completed(record)
    if score.status == "undetermined":
        return "undetermined"
    if completion is None or score.status != "scored":
        return "no usable answer"
    if score.passed["weak"]:
        return "symbolically not recovered" if score.passed["strict"] is False else "solved"
    if score.parts["max_e"] <= 1.0:
        return "stopping rule"
    trees = read_trees(completion.predictor, [o.name for o in definition.observables], definition.names())
    kept = {} if refits is None else refits
    name = digest(completion.predictor)
    if name not in kept:
        kept[name] = same_form(definition, trees)
    if kept[name]:
        return "parameter error"
    if misses_a_reading(definition, record, completion):
        return "evidence misreading"
    return "incorrect relation"


def same_form(definition: LawDefinition, trees: Mapping[str, Tree]) -> bool:
    """Return whether the submission becomes the truth when its own numbers are refitted."""
    values: list[float] = []
    freed = {}
    for name, tree in trees.items():
        before = len(values)
        freed[name] = _freed(tree, values)
        if len(values) - before > MOST_FREED:
            return False
    if not values:
        return False
    columns = definition.columns(definition.eval_inputs)
    truth = definition.respond(columns)
    scales = {o.name: definition.scale_of_error(o, truth[o.name]) for o in definition.observables}
    start = np.array(values)
    unit = np.where(start == 0, 1.0, np.abs(start))
    known: dict[str, FloatArray | float] = dict(columns)
    known |= definition.told_values()

    def errors(shifts: FloatArray) -> FloatArray:
        """Return errors at every hidden input, in rows, for every row of ``shifts``."""
        moved = {f"#{i}": column[:, None] for i, column in enumerate((start + unit * shifts).T)}
        parts = []
        for name, tree in freed.items():
            found, defined = evaluate_partial(tree, {**known, **moved})
            parts.append(np.where(defined, (found - truth[name]) / scales[name], _LARGEST))
        return np.asarray(np.clip(np.concatenate(parts, axis=1), -_LARGEST, _LARGEST), dtype=np.float64)

    def slopes(shift: FloatArray) -> FloatArray:
        """Return forward differences, all numbers moved at once: one pass through the tree, not one each."""
        steps = _STEP * np.maximum(1.0, np.abs(shift))
        rows = errors(np.vstack([shift, shift + np.diag(steps)]))
        return np.asarray(((rows[1:] - rows[0]) / steps[:, None]).T, dtype=np.float64)

    fitted = least_squares(
        lambda shift: errors(shift[None, :])[0],
        np.zeros(len(values)),
        jac=slopes,
        method="lm",
        xtol=1e-12,
        ftol=1e-12,
        max_nfev=_MOST_FITS,
    )
    return float(np.max(np.abs(fitted.fun))) <= SAME_FORM


def _freed(tree: Tree, values: list[float]) -> Tree:
    """Return the tree with its numbers as variables; whole exponents stay, they belong to the form."""
    if isinstance(tree, Number):
        values.append(tree.value)
        return Variable(f"#{len(values) - 1}")
    if not isinstance(tree, Apply):
        return tree
    if tree.op == "pow" and isinstance(tree.args[1], Number) and tree.args[1].value.is_integer():
        return Apply("pow", (_freed(tree.args[0], values), tree.args[1]))
    return Apply(tree.op, tuple(_freed(argument, values) for argument in tree.args))


def readings(record: Record) -> Iterator[tuple[Mapping[str, float], Mapping[str, float]]]:
    """Yield (inputs, observations) of every experiment that the player saw the readings of."""
    for event in record.events:
        if event.outcome != "succeeded":
            continue
        if event.tool == PROPOSE:
            yield event.args["inputs"], event.reply.data["observations"]
        elif event.tool == READ:
            for experiment in event.reply.data["experiments"]:
                yield experiment["inputs"], experiment["observations"]


def misses_a_reading(definition: LawDefinition, record: Record, completion: Completion) -> bool:
    """Return whether the submission contradicts something that the player had read."""
    trees = read_trees(completion.predictor, [o.name for o in definition.observables], definition.names())
    told = definition.told_values()
    observables = {item.name: item for item in definition.observables}
    for inputs, observed in readings(record):
        point: dict[str, FloatArray | float] = {name: np.array([value]) for name, value in inputs.items()}
        for name, reading in observed.items():
            try:
                predicted = float(np.ravel(evaluate(trees[name], {**point, **told}))[0])
            except ExpressionError:
                return True
            scale = float(definition.scale_of_error(observables[name], np.array([reading]))[0])
            if abs(predicted - reading) > scale:
                return True
    return False
