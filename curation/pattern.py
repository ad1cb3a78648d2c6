"""The offline extractor: explicit equations whose every symbol a where-list explains.

Weaker than a reader by design, and honest: what it does not understand it leaves out. The same checks
judge its drafts as those of a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cards.errors import AlmanacError
from cards.expression import names
from cards.infix import parse_infix
from curation.document import Document, Term
from curation.glossary import Span, domains
from curation.paper import Paper
from curation.printed import NUMBER, value_of
from curation.tex_math import TexMathError, symbol_name, to_infix
from curation.wire import (
    ConditionWire,
    InputWire,
    ObservableWire,
    ParameterWire,
    RelationWire,
    ScatterWire,
)

_PLAIN_EQUATION = re.compile(
    r"^[ \t]*(?P<whole>(?P<left>[A-Za-z]\w*)[ \t]*=[ \t]*(?P<right>[^=\n]{1,300}))$", re.MULTILINE
)
_SCATTER = re.compile(
    r"(?:intrinsic |orthogonal |residual |rms )*scatter (?:of|is) "
    rf"\$?(?P<value>{NUMBER})\$?\s*(?P<unit>dex|\\?%|percent)"
)
_CONDITION = re.compile(
    r"\b(?:[Ww]e assume|[Aa]ssuming|[Vv]alid (?:for|only)|[Hh]olds? (?:for|only)|[Aa]pplies (?:to|only)"
    r"|[Rr]estricted to)\b"
)
_SENTENCE_END = re.compile(r"[.;](?=\s|$)|\n\s*\n")
LOG_DECADES = 20.0
"""A domain whose ends differ by this factor is sampled on a log scale."""


def pattern_relations(paper: Paper, document: Document) -> list[RelationWire]:
    """Return every relation that stands explicitly in the document."""
    terms = {symbol_name(term.symbol): term for term in document.glossary}
    ranges = {symbol_name(span.symbol): span for span in reversed(domains(document.text))}
    found = []
    for left, right, quote in _equations(document, terms):
        target = terms.get(left)
        used = names(parse_infix(right))
        if target is None or _is_constant(target) or left in used or not used <= terms.keys():
            continue
        varied = [name for name in sorted(used) if not _is_constant(terms[name])]
        if varied:
            found.append(
                _relation(document, _Reading(left, right, quote, varied, sorted(used)), terms, ranges)
            )
    return found


class _Reading:
    """One equation as read: names on both sides, its quote, which names vary."""

    def __init__(self, left: str, right: str, quote: str, varied: list[str], used: list[str]) -> None:
        self.left, self.right, self.quote = left, right, quote
        self.varied, self.used = varied, used


def _is_constant(term: Term) -> bool:
    return bool(term.printed or term.low)


def _equations(document: Document, known: Mapping[str, Term]) -> Iterator[tuple[str, str, str]]:
    """Yield (left name, right side as infix, quote) of each equation over known symbols."""
    for equation in document.equations:
        left, equals, right = equation.tex.partition("=")
        if not equals or "=" in right:
            continue
        try:
            yield symbol_name(left), to_infix(right, known.keys()), equation.tex
        except TexMathError:
            continue
    for match in _PLAIN_EQUATION.finditer(document.text) if document.route == "text" else ():
        try:
            parse_infix(match["right"])
        except AlmanacError:
            continue
        yield match["left"], match["right"], match["whole"]


def _relation(
    document: Document, reading: _Reading, terms: Mapping[str, Term], ranges: Mapping[str, Span]
) -> RelationWire:
    target = terms[reading.left]
    meanings = [terms[name].meaning for name in reading.varied]
    settable = " and the ".join(meanings)
    return RelationWire(
        title=f"{target.meaning} and {' and '.join(meanings)}".capitalize(),
        background=f"In each run the {settable} can be set, and the {target.meaning} is read off.",
        observable=ObservableWire(
            name=reading.left, symbol=target.symbol, unit=target.unit or "1", description=target.meaning
        ),
        expression=reading.right,
        equation_quote=reading.quote,
        inputs=[_input(document, name, terms[name], ranges.get(name)) for name in reading.varied],
        parameters=[
            _parameter(document, name, terms[name]) for name in reading.used if name not in reading.varied
        ],
        scatter=_scatter(document),
        conditions=_conditions(document.text),
    )


def _input(document: Document, name: str, term: Term, span: Span | None) -> InputWire:
    low = value_of(span.low) if span else None
    high = value_of(span.high) if span else None
    wide = low is not None and high is not None and low > 0 and high / low >= LOG_DECADES
    return InputWire(
        name=name,
        symbol=term.symbol,
        unit=term.unit or "1",
        description=term.meaning,
        low_printed=span.low if span else "",
        low=low,
        high_printed=span.high if span else "",
        high=high,
        scale="log" if wide else "linear",
        quote=sentence(document.text, span.start, span.end) if span else "",
    )


def _parameter(document: Document, name: str, term: Term) -> ParameterWire:
    value = value_of(term.printed) if term.printed else None
    role = "measured"
    if re.match(r"(?:pivot|reference|fiducial)\b", term.meaning):
        role = "reference"
    elif value == 1.0 and re.match(r"unit\b", term.meaning):
        role = "unit"
    return ParameterWire(
        name=name,
        symbol=term.symbol,
        unit=term.unit or "1",
        description=term.meaning,
        role=role,  # type: ignore[arg-type]  # one of three literals, above
        printed=term.printed,
        value=value,
        low=value_of(term.low) if term.low else None,
        high=value_of(term.high) if term.high else None,
        quote=sentence(document.text, term.start, term.end),
    )


def _scatter(document: Document) -> ScatterWire | None:
    match = _SCATTER.search(document.text)
    value = value_of(match["value"]) if match else None
    if match is None or value is None:
        return None
    quote = sentence(document.text, match.start(), match.end())
    return ScatterWire(printed=match["value"], value=value, unit=match["unit"].lstrip("\\"), quote=quote)


def _conditions(text: str) -> list[ConditionWire]:
    quotes = [sentence(text, match.start(), match.end()) for match in _CONDITION.finditer(text)]
    found = [ConditionWire(text=_spoken(quote), quote=quote) for quote in dict.fromkeys(quotes)]
    return found[:6]


def _spoken(quote: str) -> str:
    return " ".join(quote.replace("$", "").split())


def sentence(text: str, start: int, end: int) -> str:
    """Return the sentence of ``text`` around [start, end), as one verbatim span."""
    begins = [match.end() for match in _SENTENCE_END.finditer(text, 0, start)]
    begin = begins[-1] if begins else 0
    stop = _SENTENCE_END.search(text, end)
    return text[begin : stop.start() if stop else len(text)].strip()
