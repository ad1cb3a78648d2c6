"""A relation off the wire becomes a card: names, evidence offsets, tolerances, resolution."""

from __future__ import annotations

import hashlib
from itertools import product

import numpy as np
from pydantic import ValidationError

from cards.card import Card, Input, Observable, Parameter, Source, Span
from cards.domain import Domain, Interval, points
from cards.errors import AlmanacError
from cards.evaluate import evaluate_partial
from cards.expression import Tree
from cards.finding import Finding
from cards.infix import parse_infix
from cards.operators import FloatArray
from curation.document import Document, locate
from curation.draft import Draft
from curation.paper import Paper
from curation.wire import RelationWire, ScatterWire

RELATIVE_TOLERANCE = 0.02
"""λ of an extracted card, unless the paper states a larger scatter."""
ABSOLUTE_SHARE = 1e-3
"""a_r as a share of the median |g| on the domain."""
RESOLUTION_SHARE = 0.25
"""Half a step of resolution is at most this share of the tolerance, everywhere."""
DECADES = 3.0
_DISCIPLINES = ("physics", "chemistry", "biology", "engineering", "astronomy", "earth")


def assemble(
    relation: RelationWire, paper: Paper, document: Document, made: Draft
) -> tuple[Card | None, list[Finding]]:
    """Return the card that a relation makes, or None with the findings that say why not.

    ``made`` says by whom and under which key the relation was drafted.
    """
    try:
        tree = parse_infix(relation.expression)
    except AlmanacError as error:
        return None, [Finding(check="expression", path="expression", message=str(error))]
    if any(item.low is None or item.high is None for item in relation.inputs):
        return None, []  # no_domain is found by the checks against the paper
    if any(item.value is None for item in relation.parameters):
        return None, []  # so are intervals and absent values
    try:
        return _card(relation, tree, paper, document, made), []
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        return None, [Finding(check="card_shape", path=path, message=f"{path}: {first['msg']}.")]


def _card(relation: RelationWire, tree: Tree, paper: Paper, document: Document, made: Draft) -> Card:
    inputs = tuple(
        Input(
            name=item.name,
            symbol=item.symbol,
            unit=item.unit or "1",
            description=item.description,
            low=item.low,  # type: ignore[arg-type]  # None was refused by the caller
            high=item.high,  # type: ignore[arg-type]
            scale=item.scale,
        )
        for item in relation.inputs
    )
    parameters = tuple(
        Parameter(
            name=item.name,
            symbol=item.symbol,
            value=item.value,  # type: ignore[arg-type]
            unit=item.unit or "1",
            description=item.description,
            source="a unit" if item.role == "unit" else "the paper",
            told=item.role != "measured",
        )
        for item in relation.parameters
    )
    sizes = _sizes(tree, inputs, parameters)
    share = _relative(relation.scatter, relation.observable.unit, sizes)
    observable = _observable(relation, tree, sizes, share)
    discipline = paper.discipline if paper.discipline in _DISCIPLINES else "physics"
    return Card(
        id="t" + hashlib.sha256(made.key.encode()).hexdigest()[:12],
        title=relation.title,
        collection="temporal",
        discipline=discipline,  # type: ignore[arg-type]
        source=_source(paper),
        evidence=_evidence(relation, document),
        inputs=inputs,
        parameters=parameters,
        observables=(observable,),
        relative_tolerance=share,
        conditions=tuple(condition.text for condition in relation.conditions),
        background=relation.background,
        extractor=made.extractor,
    )


def _sizes(tree: Tree, inputs: tuple[Input, ...], parameters: tuple[Parameter, ...]) -> FloatArray:
    """Return |g| at points and corners of the domain where it is defined; empty when it never is."""
    domain = Domain({item.name: Interval(item.low, item.high, item.scale) for item in inputs})
    try:
        columns = points(domain, 1024)
        corners = np.array(list(product(*((item.low, item.high) for item in inputs))))
        columns = {name: np.append(column, corners[:, i]) for i, (name, column) in enumerate(columns.items())}
        values, defined = evaluate_partial(tree, {**{p.name: p.value for p in parameters}, **columns})
    except (AlmanacError, ValueError, ArithmeticError):
        return np.zeros(0)  # an unknown name or a reversed domain: acceptance says so
    return np.abs(values[defined])


def _relative(scatter: ScatterWire | None, unit: str, sizes: FloatArray) -> float:
    """Return λ: 0.02, or the stated scatter where that is larger."""
    if scatter is None:
        return RELATIVE_TOLERANCE
    value = abs(scatter.value)
    if scatter.unit in ("%", "percent"):
        stated = value / 100.0
    elif scatter.unit == "dex" and unit != "dex":
        # A relation between logarithms has its scatter in its own unit; another is off by a factor.
        stated = value / float(np.median(sizes)) if unit in ("1", "") and sizes.size else 10.0**value - 1.0
    elif sizes.size and float(np.median(sizes)) > 0.0:
        stated = value / float(np.median(sizes))
    else:
        stated = 0.0
    return min(0.9, max(RELATIVE_TOLERANCE, float(f"{stated:.1e}")))


def _observable(relation: RelationWire, tree: Tree, sizes: FloatArray, share: float) -> Observable:
    positive = sizes[sizes > 0]
    median = float(np.median(positive)) if positive.size else 1.0
    absolute = float(f"{ABSOLUTE_SHARE * median:.1e}")
    spans = positive.size > 0 and bool(np.log10(positive.max() / positive.min()) > DECADES - 0.1)
    smallest = float(positive.min()) if positive.size else median
    item = relation.observable
    return Observable(
        name=item.name,
        symbol=item.symbol,
        unit=item.unit or "1",
        description=item.description,
        relation=tree,
        absolute_tolerance=absolute,
        resolution=None if spans else step_below(2 * RESOLUTION_SHARE * (absolute + share * smallest)),
        significant_digits=_digits(share) if spans else None,
    )


def step_below(limit: float) -> float:
    """Return the largest of 1, 2, 5 × 10^k that is not above ``limit`` (> 0)."""
    exponent = int(np.floor(np.log10(limit)))
    steps = [float(f"{lead}e{k}") for k in (exponent - 1, exponent) for lead in (1, 2, 5)]
    return max(step for step in steps if step <= limit)


def _digits(share: float) -> int:
    """Return the fewest digits n whose step, 10^(1-n) of a leading 1, is at most half of λ."""
    return int(np.ceil(1.0 - np.log10(2 * RESOLUTION_SHARE * share)))


def _source(paper: Paper) -> Source:
    dates = paper.dates()
    year = (dates.journal_online or dates.first_preprint or "0000")[:4]
    return Source(
        authors=", ".join(paper.authors),
        title=paper.title,
        year=int(year),
        venue=paper.journal,
        doi=paper.doi,
        arxiv=paper.arxiv,
        licence=paper.licence,
        address=paper.address,
        checked_against="the paper's own text, by quote",
        dates=dates,
    )


def _evidence(relation: RelationWire, document: Document) -> tuple[Span, ...]:
    """Return every quote with its offsets in the document; quotes that are not there have a finding."""
    quotes = [("relation", relation.equation_quote)]
    quotes += [(f"inputs.{item.name}.domain", item.quote) for item in relation.inputs]
    quotes += [(f"parameters.{p.name}.value", p.quote) for p in relation.parameters if p.role != "unit"]
    quotes += [(f"conditions[{index}]", c.quote) for index, c in enumerate(relation.conditions)]
    quotes += [("relative_tolerance", relation.scatter.quote)] if relation.scatter else []
    places = [(field, quote, locate(quote, document.text)) for field, quote in quotes]
    return tuple(
        Span(field=field, quote=quote, start=place[0], end=place[1])
        for field, quote, place in places
        if place
    )
