"""Unit strings as people and papers write them, read without ever evaluating them.

``kg m-3``, ``J/(mol*K)``, ``J mol^{-1} K^{-1}``, ``km s−1 Mpc−1``, ``M_{\\odot}``, ``m^(1/3)`` and
``10^9 M_sun`` are read; ``9**9**9**9`` and anything else that a whitelist of characters, a length
cap and a grammar without nested powers do not admit is refused at once.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from cards.dimensions import DIMENSIONLESS, Unit
from cards.errors import UnitError
from cards.unit_table import atom

MAX_LENGTH = 120
"""Characters allowed in a unit string."""
MAX_POWER = 12
"""Largest exponent, and largest denominator of an exponent, of one factor."""
MAX_TEN = 40
"""Largest power of ten allowed as a leading factor."""

_REPLACEMENTS = (
    (re.compile(r"\\(?:mathrm|text|rm|unit)\b"), ""),
    (re.compile(r"\\(?:odot|sun)\b|[☉⊙]|(?<=_)\{(?:sun|\\odot)\}"), "sun"),
    (re.compile(r"\\mu\b\s*"), "μ"),
    (re.compile(r"\\Omega\b"), "ohm"),
    (re.compile(r"\\(?:AA\b|angstrom\b)"), "Å"),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\\(?:cdot|times)\b|[·⋅∙×•]"), "*"),
    (re.compile(r"\\[,;:! ]|[~$]"), " "),
    (re.compile(r"[−–‐‑]"), "-"),
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"⁄|∕"), "/"),
)
_LETTERS = r"A-Za-zμΩÅ°%"
_ADMITTED = re.compile(rf"[{_LETTERS}0-9_^*/().+\-\s]*\Z")
_TOKEN = re.compile(
    rf"\s*(?:(?P<name>[{_LETTERS}]+(?:_[A-Za-z]+)*)|(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<sign>[*/^()+\-]))"
)


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit:
    """Read a unit string; ``""`` and ``"1"`` are dimensionless.

    Raises:
        UnitError: when the string is too long, holds other characters than a unit needs, names
            something outside the unit table, or is ambiguous (``W/m2 K``).
    """
    if len(text) > MAX_LENGTH:
        raise UnitError(f"a unit of {len(text)} characters; at most {MAX_LENGTH} are read.")
    normal = _normalise(text)
    if not _ADMITTED.match(normal):
        bad = next(sign for sign in normal if not _ADMITTED.match(sign))
        raise UnitError(
            f"the unit {text!r} holds {bad!r}.", "Write it with unit names, * / ^ and parentheses."
        )
    tokens = _tokens(normal, text)
    if not tokens:
        return DIMENSIONLESS.labelled(text.strip())
    reader = _Reader(tokens, text)
    try:
        unit = reader.product(outermost=True)
    except OverflowError:
        raise UnitError(f"the unit {text!r} has a scale out of range.") from None
    reader.finish()
    if not 1e-200 < unit.scale < 1e200:
        raise UnitError(f"the unit {text!r} has a scale of {unit.scale:g}, out of range.")
    return unit.labelled(text.strip())


def _normalise(text: str) -> str:
    text = unicodedata.normalize("NFKC", _superscripts(text))
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    text = re.sub(r"\^\s*\{([^{}]*)\}", r"^(\1)", text)
    return re.sub(r"[{}]", " ", text).strip()


def _superscripts(text: str) -> str:
    return re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+", lambda match: f"^({match.group()})", text)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    attached: bool  # no white space before it


def _tokens(normal: str, text: str) -> list[_Token]:
    tokens, position = [], 0
    while position < len(normal):
        match = _TOKEN.match(normal, position)
        if match is None or match.lastgroup is None:
            raise UnitError(f"the unit {text!r} cannot be read from {normal[position:]!r} on.")
        kind = match.lastgroup
        tokens.append(_Token(kind, match.group(kind), match.start(kind) == position))
        position = match.end()
    return tokens


class _Reader:
    """A recursive-descent reader; its depth is bounded by the length cap."""

    def __init__(self, tokens: list[_Token], text: str) -> None:
        self.tokens, self.text, self.position = tokens, text, 0

    def product(self, *, outermost: bool = False) -> Unit:
        """Read factors joined by ``*``, white space or ``/``; after a ``/`` only another ``/`` may follow."""
        unit = self.leading(outermost)
        divided = False
        while (token := self.peek()) is not None and token.text not in (")", "+", "-", "^"):
            if token.text == "/":
                self.position += 1
                unit, divided = unit / self.factor(), True
                continue
            if divided:
                raise self.error(
                    "is ambiguous after its '/'", "Put the denominator in parentheses: J/(mol*K)."
                )
            if token.text == "*":
                self.position += 1
            unit = unit * self.factor()
        return unit

    def leading(self, outermost: bool) -> Unit:
        """Read the first factor, which alone may be a number: 1 or a power of ten."""
        token = self.peek()
        if token is None or token.kind != "number":
            return self.factor()
        self.position += 1
        if token.text == "1":
            return DIMENSIONLESS
        if token.text == "10" and outermost and self.take("^"):
            power = self.group() if self.take("(") else self.signed_number()
            if power.denominator == 1 and abs(power) <= MAX_TEN:
                return Unit(float(f"1e{power.numerator}"), DIMENSIONLESS.exponents)
        raise self.error(
            f"holds the factor {token.text}",
            "Only 1 or a leading power of ten (10^9 M_sun) may stand in a unit; "
            "carry other factors as a told parameter.",
        )

    def factor(self) -> Unit:
        token = self.peek()
        if token is None:
            raise self.error("ends too early")
        if self.take("("):
            inner = self.product()
            if not self.take(")"):
                raise self.error("has an unclosed parenthesis")
            return self.powered(inner, attach=False)
        if token.kind == "name":
            self.position += 1
            return self.powered(atom(token.text), attach=True)
        remedy = "Write a fraction in an exponent in parentheses: m^(1/2)." if token.kind == "number" else ""
        raise self.error(f"has {token.text!r} where a unit name is expected", remedy)

    def powered(self, base: Unit, *, attach: bool) -> Unit:
        """Apply ``^2``, ``^(-1/2)`` or, right behind a name, a bare ``2`` or ``-2``."""
        token = self.peek()
        if self.take("^"):
            power = self.group() if self.take("(") else self.signed_number()
        elif attach and token is not None and token.attached and self.starts_power(token):
            power = self.signed_number()
        else:
            return base
        follower = self.peek()
        if follower is not None and follower.text == "^":
            raise self.error("has a power of a power", "Write a single exponent.")
        if abs(power) > MAX_POWER or power.denominator > MAX_POWER:
            raise self.error(
                f"has the exponent {power}",
                f"Exponents go up to {MAX_POWER}, as whole numbers or fractions like m^(1/3).",
            )
        return base**power

    def starts_power(self, token: _Token) -> bool:
        if token.kind == "number":
            return True
        following = self.tokens[self.position + 1] if self.position + 1 < len(self.tokens) else None
        signed = token.text in ("+", "-") and following is not None
        return signed and following is not None and following.kind == "number" and following.attached

    def group(self) -> Fraction:
        numerator = self.signed_number()
        value = numerator
        if self.take("/"):
            denominator = self.signed_number()
            if denominator == 0:
                raise self.error("divides by zero in an exponent")
            value = numerator / denominator
        if not self.take(")"):
            raise self.error("has an exponent that cannot be read", "Write it like m^(1/3).")
        return value

    def signed_number(self) -> Fraction:
        negative = self.take("-")
        if not negative:
            self.take("+")
        token = self.peek()
        if token is None or token.kind != "number" or len(token.text) > 8:
            raise self.error("has an exponent that is not a number")
        self.position += 1
        return -Fraction(token.text) if negative else Fraction(token.text)

    def take(self, sign: str) -> bool:
        token = self.peek()
        if token is None or token.kind != "sign" or token.text != sign:
            return False
        self.position += 1
        return True

    def peek(self) -> _Token | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def finish(self) -> None:
        token = self.peek()
        if token is not None:
            raise self.error(f"cannot be read from {token.text!r} on")

    def error(self, trouble: str, remedy: str = "") -> UnitError:
        return UnitError(f"the unit {self.text!r} {trouble}.", remedy)
