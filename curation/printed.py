"""Numbers as papers print them, and the values that they stand for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_POWER = r"10\s*\^\s*(?:\{\s*[-+]?\d+\s*\}|\(\s*[-+]?\d+\s*\)|[-+]?\d+)"
_TIMES = r"(?:\\times|\\cdot|×|·|\*|x)"
_MANTISSA = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
NUMBER = rf"[-+−]?(?:{_MANTISSA}(?:[eE][-+−]?\d+)?(?:\s*{_TIMES}\s*{_POWER})?|{_POWER})"
"""A number in TeX or plain text: ``-1.8``, ``1.2e-10``, ``1.59 \\times 10^{-10}``, ``10^{-4}``."""

_DASH = r"\s*(?:-{1,3}|–|—|\\text\{--\}|\\ldots|\\dots|…)\s*"
_BETWEEN = rf"(?:{_DASH}|\s+to\s+\$?)"
_SIGNED = re.compile(rf"(?<![A-Za-z_^\d.])(?<!\^-){NUMBER}")
_RANGE = re.compile(
    rf"(?<![A-Za-z_^\d.])\(?(?P<low>{NUMBER})\$?(?:{_BETWEEN}|\s+and\s+\$?(?=.))"
    rf"(?P<high>{NUMBER.removeprefix('[-+−]?')})"
    rf"(?:\s*\)\s*{_TIMES}\s*(?P<power>{_POWER}))?"
)
_BETWEEN_WORD = re.compile(r"\b(?:between|from)\s+\$?\(?$", re.IGNORECASE)
_UNCERTAINTY = re.compile(r"\\pm|±|\+/-")
_CENTRAL = re.compile(rf"\(\s*({NUMBER})\s*(?:\\pm|±|\+/-)\s*{NUMBER}\s*\)\s*({_TIMES}\s*{_POWER})")
_INDEX = re.compile(r"[_^]\s*\{?\s*$")


@dataclass(frozen=True)
class Printed:
    """One number in a text. ``end_of_interval`` numbers are not values of anything by themselves."""

    value: float
    end_of_interval: bool


def value_of(printed: str) -> float | None:
    """Return the value of one printed number (the central one where an uncertainty follows), or None."""
    bare = _UNCERTAINTY.split(_plain(printed))[0].strip("()$ ")
    if (fraction := re.fullmatch(r"(-?\d+)\s*/\s*(\d+)", bare)) and int(fraction[2]):
        return int(fraction[1]) / int(fraction[2])
    return _value(bare) if re.fullmatch(NUMBER, bare) else None


def numbers_in(text: str) -> list[Printed]:
    """Return every number of a text; indices and exponents of symbols are not numbers."""
    plain = _plain(text)
    found, taken = [], []
    for match in _RANGE.finditer(plain):
        by_and = re.search(r"\sand\s", match.group())
        if by_and and not _BETWEEN_WORD.search(plain[: match.start()]):
            continue
        scale = _value(match["power"]) if match["power"] else 1.0
        found += [Printed(_value(match[end]) * scale, True) for end in ("low", "high")]
        found += [Printed(value, True) for value in _shared_power(match["low"], match["high"])]
        taken.append(match.span())
    for match in _SIGNED.finditer(plain):
        inside = any(start <= match.start() < end for start, end in taken)
        if not inside and not _INDEX.search(plain[: match.start()]):
            found.append(Printed(_value(match.group()), False))
    return found


def agree(one: float, other: float) -> bool:
    """Return whether two values are the same number but for the last bits."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=0.0)


def _shared_power(low: str, high: str) -> list[float]:
    """Return the low end once more where only the high end carries a common power of ten."""
    power = re.search(rf"{_TIMES}\s*({_POWER})$", high)
    return [_value(low) * _value(power[1])] if power and not re.search(_TIMES, low) else []


def _plain(text: str) -> str:
    """Return the text with one minus sign, no thin spaces, and (m ± e) × 10^k as m × 10^k."""
    text = re.sub(r"\\[,;:! ]|~", " ", text).replace("−", "-").replace("{,}", ",")
    return _CENTRAL.sub(r"\1 \2", text)


def _value(number: str) -> float:
    bare = number.replace("−", "-").replace(" ", "").replace(",", "")
    power = re.search(rf"(?:{_TIMES})?(10\^[{{(]?[-+]?\d+[)}}]?)$", bare)
    if power is None:
        return float(bare)
    exponent = int(power[1][3:].strip("{}()"))
    mantissa = bare[: power.start()]
    # By way of text, so that 1.59 × 10^-10 is the float nearest to 1.59e-10.
    return (
        float(f"{mantissa}e{exponent}")
        if mantissa not in ("", "+", "-")
        else float(f"{mantissa}1e{exponent}")
    )
