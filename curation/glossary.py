"""Where-lists: what a paper says its symbols mean, in which units, with which values and ranges.

Understood forms, for symbols set in mathematics (``$…$``) or, in plain text, in backticks::

    where $F$ is the drag force in N, $v$ is the speed in m/s and $k = 2.5$ kg/m is the drag factor
    for $10 \\le r \\le 120$ kpc        $r$ from 10 to 120 kpc        $r$ between 10 and 120 kpc

Anything else is left to better readers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from curation.document import Term
from curation.printed import NUMBER, value_of

_UNIT = r"[A-Za-zµμΩ☉°%\\][^,;.()$\n]*?(?:\.\d[^,;.()$\n]*?)*"
_MATHS = re.compile(r"\$([^$]+)\$|`([^`]+)`")
_MEANING = re.compile(
    r"\s*(?:(?P<unit>[^,;.$`]*?)\s)?\s*(?:is|are|denotes|stands for)\s+(?:the\s+|an?\s+)?"
    r"(?P<meaning>[^,;.$`(]+)"
)
_IN_UNIT = re.compile(r"^(?P<meaning>.*?)\s+(?:in(?: units of)?|measured in)\s+(?P<unit>\S.*)$")
_WHERE = re.compile(r"\b(?:[Ww]here|[Hh]ere|[Ww]ith)\b")
_STOP = re.compile(r"\.(?=\s|$)|\n\s*\n")
MAX_LIST = 4_000
"""Characters of one where-list at most."""
_VALUE = re.compile(r"^(?P<symbol>[^=<>]+?)\s*=\s*(?P<value>.+)$")
_DASH = r"(?:-{2,3}|–|—|\\text\{--\}|\\ldots|\\dots|…|\s+to\s+)"
_RANGE = re.compile(rf"^\(?(?P<low>{NUMBER})\s*{_DASH}\s*(?P<high>{NUMBER})(?:\)(?P<power>.*))?$")


@dataclass(frozen=True)
class Span:
    """A printed domain of one symbol, with its unit and the offsets of the sentence part."""

    symbol: str
    low: str
    high: str
    unit: str
    start: int
    end: int


def glossary(text: str) -> tuple[Term, ...]:
    """Return the terms of all where-lists, in the order of the text; a symbol is taken once."""
    terms: dict[str, Term] = {}
    for start, end in _lists(text):
        marks = list(_MATHS.finditer(text, start, end))
        for number, mark in enumerate(marks):
            stop = marks[number + 1].start() if number + 1 < len(marks) else end
            term = _term(text, mark, stop)
            if term is not None and term.symbol not in terms:
                terms[term.symbol] = term
    return tuple(terms.values())


def _lists(text: str) -> list[tuple[int, int]]:
    """Return the offsets of sentences that begin to explain: from "where" to the full stop."""
    found: list[tuple[int, int]] = []
    for match in _WHERE.finditer(text):
        if found and match.start() < found[-1][1]:
            continue
        stop = _STOP.search(text, match.end(), match.end() + MAX_LIST)
        found.append((match.start(), stop.start() if stop else min(len(text), match.end() + MAX_LIST)))
    return found


def _term(text: str, mark: re.Match[str], stop: int) -> Term | None:
    tail = re.sub(r"(?:,|;|\s)*(?:\band\b|\bwith\b)?\s*$", "", text[mark.end() : stop])
    explained = _MEANING.match(tail)
    if explained is None:
        return None
    inner = (mark[1] or mark[2]).strip()
    meaning, unit = explained["meaning"].strip(), (explained["unit"] or "").strip()
    if within := _IN_UNIT.match(meaning):
        meaning, unit = within["meaning"], unit or within["unit"]
    given = _VALUE.match(inner)
    symbol = given["symbol"].strip() if given else inner
    printed, low, high = _printed(given["value"].strip()) if given else ("", "", "")
    if given and not (printed or low):
        return None
    if meaning.startswith("dimensionless "):
        meaning, unit = meaning.removeprefix("dimensionless "), unit or "1"
    return Term(
        symbol=symbol,
        meaning=" ".join(meaning.split()),
        unit=" ".join(unit.split()),
        printed=printed,
        low=low,
        high=high,
        start=mark.start(),
        end=mark.end() + len(tail),
    )


def _printed(value: str) -> tuple[str, str, str]:
    bare = value.strip()
    if between := _RANGE.match(bare):
        shared = between["power"] or ""  # (6.3--9.5) \times 10^{21}
        return "", between["low"] + shared, between["high"] + shared
    return (bare, "", "") if value_of(bare) is not None else ("", "", "")


_LE = r"(?:\\leqslant|\\leq|\\le|\\lesssim|<=|<|≤|≲)"
_AFTER = rf"\s*(?P<unit>{_UNIT})?(?=[,;.()\n]|\s(?:and|for|with|in|at|where|the|of)\b|$)"
_CHAIN = re.compile(
    rf"[$`]\s*(?P<low>{NUMBER})\s*{_LE}\s*(?P<symbol>[^$`<>]+?)\s*{_LE}\s*(?P<high>{NUMBER})\s*[$`]{_AFTER}"
)
_WORDS = re.compile(
    rf"[$`](?P<symbol>[^$`=<>]+)[$`][^.;$`]*?\b(?:from|between)\s+[$`]?(?P<low>{NUMBER})[$`]?"
    rf"\s*(?:to|and)\s*[$`]?(?P<high>{NUMBER})[$`]?{_AFTER}"
)


def domains(text: str) -> tuple[Span, ...]:
    """Return every printed domain, in the order of the text."""
    found = [
        Span(m["symbol"].strip(), m["low"], m["high"], (m["unit"] or "").strip(), m.start(), m.end())
        for pattern in (_CHAIN, _WORDS)
        for m in pattern.finditer(text)
    ]
    return tuple(sorted(found, key=lambda span: span.start))
