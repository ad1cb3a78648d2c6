"""Document: a paper as text, with the places that evidence is quoted from."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from pydantic import BaseModel, ConfigDict

from cards.finding import Finding


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Section(_Frozen):
    """A heading and the offsets [start, end) of what stands under it."""

    title: str
    start: int
    end: int


class Equation(_Frozen):
    """A displayed equation with its TeX and its offsets in the document's text."""

    label: str
    tex: str
    start: int
    end: int


class Term(_Frozen):
    """A symbol that the paper explains: what it means, in which unit, and its value where one is given.

    ``low`` and ``high`` are the printed ends where the paper gives an interval in place of a value.
    """

    symbol: str
    meaning: str
    unit: str
    printed: str = ""
    low: str = ""
    high: str = ""
    start: int = 0
    end: int = 0


class Document(_Frozen):
    """What parsing made of one paper. ``route`` says how its text was obtained."""

    paper: str
    route: Literal["tex", "text", "none"]
    text: str
    sections: tuple[Section, ...] = ()
    equations: tuple[Equation, ...] = ()
    glossary: tuple[Term, ...] = ()
    findings: tuple[Finding, ...] = ()


_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def normalise(text: str) -> str:
    """Return the text as quotes are compared: NFKC, one kind of dash, no soft hyphens, single spaces."""
    folded = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).translate(_DASHES)
    return " ".join(re.sub(r"-{2,3}", "-", folded).split())


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Return the offsets of ``quote`` in ``text``, both compared as ``normalise`` makes them.

    White space in the quote matches any white space; offsets are those of the raw text.
    """
    wanted = normalise(quote)
    if not wanted:
        return None
    pieces: list[str] = []
    offsets: list[int] = []
    for index, character in enumerate(text):
        for piece in unicodedata.normalize("NFKC", character.translate(_INVISIBLE)).translate(_DASHES):
            blank = piece.isspace()
            if (blank and pieces and pieces[-1] == " ") or (piece == "-" and pieces and pieces[-1] == "-"):
                continue
            pieces.append(" " if blank else piece)
            offsets.append(index)
    found = "".join(pieces).find(re.sub(r"-+", "-", wanted))
    if found < 0:
        return None
    return offsets[found], offsets[found + len(re.sub(r"-+", "-", wanted)) - 1] + 1
