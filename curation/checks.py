"""Checks of an extracted relation against its paper, before any reviewer sees it.

What can be checked without the paper is in ``cards.acceptance``; both tables are printed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np

from cards.card import Card
from cards.check_table import Check
from cards.domain import points
from cards.errors import AlmanacError
from cards.evaluate import evaluate_partial
from cards.expression import Number, names, walk
from cards.finding import Finding
from cards.infix import parse_infix
from cards.operators import FloatArray
from curation.document import Document, locate, normalise
from curation.printed import agree, numbers_in, value_of
from curation.wire import InputWire, ParameterWire, RelationWire

MIN_QUOTE = 25
"""Characters of a quote below which it could be found by accident."""
PLAIN_NUMBERS = (0.0, 1.0, 2.0, 3.0, 4.0, 0.5, 10.0)
"""Numbers that a formula may hold as a matter of form."""

CHECKS: Mapping[str, Check] = {
    check.name: check
    for check in (
        Check(
            "value_absent",
            "Every constant has a value.",
            "A constant that the paper does not give cannot be filled in from elsewhere.",
            "a00 in a0(z) = a00 + a1*z, where only a1 is printed",
        ),
        Check(
            "interval_value",
            "No constant is given as an interval.",
            "Whoever picks one value of an interval invents a measurement.",
            "k between 6.3e21 and 9.5e21",
        ),
        Check(
            "value_without_quote",
            "Every number carries a verbatim quote of at least 25 characters.",
            "A number without a source may come from a model's memory.",
            "value 1.2e-10 with an empty quote",
        ),
        Check(
            "quote_absent",
            "Every quote is found in the document, after dashes, ligatures and white space are made equal.",
            "A quote that the paper does not hold is invented.",
            "'the prefactor is 0.7' where the paper says 'seven tenths'",
        ),
        Check(
            "value_printed",
            "Each value is the value of the string as printed.",
            "A slip between the two is the most common error of transcription.",
            "printed 1.59e-10, value 1.59e+10",
        ),
        Check(
            "value_quoted",
            "Each value stands in its own quote.",
            "A constant must not change on its way from the paper to the card.",
            "quote '... k = 2.047 ...', value 2.05",
        ),
        Check(
            "bare_constant",
            "Numbers inside the expression stand in the quoted equation, save small whole numbers.",
            "A constant hidden in the expression would escape every other check.",
            "0.13*x where the equation reads A x",
        ),
        Check(
            "no_domain",
            "Every input has a domain that the paper states.",
            "A relation holds where it was measured; a guessed domain claims more.",
            "an input without low, high or quote",
        ),
        Check(
            "expression",
            "The expression is one that the infix grammar reads.",
            "Nothing else can be evaluated.",
            "a*x +",
        ),
        Check(
            "card_shape",
            "Names, texts and numbers make a card.",
            "A field that is missing or out of its bounds cannot be played.",
            "no conditions at all",
        ),
        Check(
            "duplicate",
            "The relation is not one that another card holds under other names.",
            "Two families with one law would count it twice.",
            "F = k*x beside an accepted T = a*b with equal constants",
        ),
    )
}


def paper_findings(relation: RelationWire, document: Document) -> list[Finding]:
    """Return what is wrong with a relation in the light of the document that it came from."""
    findings = [f for item in relation.parameters for f in _parameter(item, document)]
    findings += [f for item in relation.inputs for f in _input(item, document)]
    findings += _found("equation_quote", relation.equation_quote, document, minimum=1)
    if relation.scatter is not None:
        findings += _found("scatter.quote", relation.scatter.quote, document)
        findings += _stated(
            "scatter.value", relation.scatter.value, relation.scatter.printed, relation.scatter.quote
        )
    for index, condition in enumerate(relation.conditions):
        findings += _found(f"conditions[{index}].quote", condition.quote, document, minimum=1)
    return [*findings, *_bare(relation)]


def _fail(check: str, path: str, message: str) -> Finding:
    return Finding(check=check, path=path, message=message)


def _parameter(item: ParameterWire, document: Document) -> Iterator[Finding]:
    path = f"parameters.{item.name}"
    if item.role == "unit":
        if item.value != 1.0:
            message = f"a unit parameter must be 1, not {item.value!r}; call it a reference."
            yield _fail("value_printed", path, message)
        return
    if item.value is None:
        if item.low is not None or item.high is not None:
            message = f"{item.name!r} is given as an interval, {item.low!r} to {item.high!r}."
            yield _fail("interval_value", path, message)
        else:
            yield _fail("value_absent", path, f"{item.name!r} has no value in the paper.")
        return
    unquoted = list(_found(path, item.quote, document))
    yield from unquoted
    if not unquoted:
        yield from _stated(path, item.value, item.printed, item.quote, single=True)


def _input(item: InputWire, document: Document) -> Iterator[Finding]:
    path = f"inputs.{item.name}"
    if item.low is None or item.high is None or not item.quote.strip():
        yield _fail("no_domain", path, f"the paper states no domain of {item.name!r}.")
        return
    unquoted = list(_found(path, item.quote, document))
    yield from unquoted
    if not unquoted:
        yield from _stated(f"{path}.low", item.low, item.low_printed, item.quote)
        yield from _stated(f"{path}.high", item.high, item.high_printed, item.quote)


def _found(path: str, quote: str, document: Document, minimum: int = MIN_QUOTE) -> Iterator[Finding]:
    length = len(normalise(quote))
    if length < minimum:
        message = f"the quote has {length} characters; at least {minimum} are needed."
        yield _fail("value_without_quote", path, message)
    elif locate(quote, document.text) is None:
        message = f"the quote {quote[:60]!r} is not in the paper; copy it letter by letter."
        yield _fail("quote_absent", path, message)


def _stated(path: str, value: float, printed: str, quote: str, *, single: bool = False) -> Iterator[Finding]:
    """Compare a value with its printed form and with its quote; ``single`` refuses ends of intervals."""
    meant = value_of(printed)
    if meant is None or not agree(meant, value):
        yield _fail("value_printed", path, f"printed {printed!r} is {meant!r}, not {value!r}.")
    equal = [number for number in numbers_in(quote) if agree(number.value, value)]
    inside = [number for number in numbers_in(quote) if number.end_of_interval]
    if single and inside and all(number.end_of_interval for number in equal):
        yield _fail("interval_value", path, f"{value!r} is picked from an interval in {quote[:80]!r}.")
    elif not equal:
        yield _fail("value_quoted", path, f"the value {value!r} does not stand in the quote {quote[:80]!r}.")


def _bare(relation: RelationWire) -> Iterator[Finding]:
    try:
        tree = parse_infix(relation.expression)
    except AlmanacError:
        return  # has its own finding where the card is made
    equation = relation.equation_quote
    both = numbers_in(equation) + numbers_in(equation.replace("^", " "))  # exponents are numbers here
    printed = {abs(number.value) for number in both}
    for path, node in walk(tree):
        if not isinstance(node, Number) or abs(node.value) in PLAIN_NUMBERS:
            continue
        if not any(agree(abs(node.value), value) for value in printed):
            message = f"the number {node.value!r} does not stand in the quoted equation."
            yield _fail("bare_constant", f"expression.{path}", message)


def duplicate_of(card: Card, others: Sequence[Card]) -> Card | None:
    """Return the first card that holds the same relation under other names, by values on the domain."""
    tree = card.observables[0].relation
    columns = points(card.domain(), 64)
    used = [columns[name] for name in columns if name in names(tree)]
    mine, defined = evaluate_partial(tree, {**card.values(), **columns})
    for other in others:
        if other.id == card.id:
            continue
        for observable in other.observables:
            inputs = [item.name for item in other.inputs if item.name in names(observable.relation)]
            if len(inputs) != len(used):
                continue
            for order in permutations(used):
                renamed: dict[str, FloatArray | float] = {**dict(zip(inputs, order, strict=True))}
                theirs, theirs_defined = evaluate_partial(observable.relation, {**other.values(), **renamed})
                both = defined & theirs_defined
                if both.any() and np.allclose(mine[both], theirs[both], rtol=1e-6, atol=0.0):
                    return other
    return None
