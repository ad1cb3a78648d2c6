"""TeX mathematics to infix text, for formulas made of named symbols; anything unknown is refused."""

from __future__ import annotations

import re
from collections.abc import Collection

_FUNCTIONS = {
    "ln": "log", "lg": "log10", "exp": "exp", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
}  # fmt: skip
_NOISE = re.compile(
    r"\\(?:left|right|bigl?|bigr?|Bigl?|Bigr?|displaystyle|nonumber|mathrm|mathit|text|textrm|rm|it|quad|qquad)"
    r"(?![A-Za-z])|\\[,;:! ]|~|&"
)
_TOKEN = re.compile(r"\\[A-Za-z]+|\d+(?:\.\d+)?|[A-Za-z]|[-+*/^_(){}\[\]=]|'|\S")
_TIMES = {"\\cdot": "*", "\\times": "*", "*": "*", "/": "/", "\\over": "/"}
_OPENERS = {"(": ")", "[": "]", "{": "}"}
MAX_TOKENS = 2_000
_MAX_NESTING = 60


class TexMathError(ValueError):
    """A formula that this reader does not understand."""


def symbol_name(tex: str) -> str:
    r"""Return a name for a symbol: ``M_{\rm bar}`` is ``M_bar``, ``\sigma_0`` is ``sigma_0``."""
    bare = _NOISE.sub("", tex).replace("'", "_prime")
    return re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "", bare)).strip("_")


def to_infix(tex: str, known: Collection[str]) -> str:
    """Return a formula as infix text over the names in ``known``.

    Raises:
        TexMathError: for a symbol that is not known, or a construct that is not understood.
    """
    reader = _Reader(_TOKEN.findall(_NOISE.sub("", tex.strip().rstrip(".,; "))), known)
    text = reader.sum(0)
    if reader.left():
        raise TexMathError(f"{reader.peek()!r} was not expected")
    return text


class _Reader:
    def __init__(self, tokens: list[str], known: Collection[str]) -> None:
        if len(tokens) > MAX_TOKENS:
            raise TexMathError(f"the formula has {len(tokens)} signs")
        self._tokens = tokens
        self._known = known
        self._place = 0

    def left(self) -> bool:
        return self._place < len(self._tokens)

    def peek(self) -> str:
        return self._tokens[self._place] if self.left() else ""

    def take(self) -> str:
        token = self.peek()
        self._place += 1
        return token

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise TexMathError(f"{token!r} is missing")

    def sum(self, nesting: int) -> str:
        if nesting > _MAX_NESTING:
            raise TexMathError("the formula is nested too deeply")
        sign = self.take() if self.peek() in ("+", "-") else ""
        text = ("-" if sign == "-" else "") + self.product(nesting)
        while self.peek() in ("+", "-"):
            text += f" {self.take()} {self.product(nesting)}"
        return text

    def product(self, nesting: int) -> str:
        text = self.power(nesting)
        while self.left():
            if self.peek() in _TIMES:
                text += _TIMES[self.take()] + self.power(nesting)
            elif self.peek() in ("+", "-", ")", "]", "}", "="):
                break
            else:
                text += "*" + self.power(nesting)
        return text

    def power(self, nesting: int) -> str:
        base = self.atom(nesting)
        if self.peek() != "^":
            return base
        self.take()
        return f"{base}^({self.argument(nesting)})"

    def argument(self, nesting: int) -> str:
        """Read a braced group or a single sign, as TeX takes an argument."""
        if self.peek() == "{":
            self.take()
            inner = self.sum(nesting + 1)
            self.expect("}")
            return inner
        return self.atom(nesting + 1)

    def atom(self, nesting: int) -> str:
        token = self.peek()
        if token in _OPENERS:
            self.take()
            inner = self.sum(nesting + 1)
            self.expect(_OPENERS[token])
            return f"({inner})"
        if re.fullmatch(r"\d+(?:\.\d+)?", token):
            return self.take()
        if token.startswith("\\"):
            return self.command(nesting)
        if token.isalpha():
            return self.symbol()
        raise TexMathError(f"{token!r} is not understood")

    def command(self, nesting: int) -> str:
        name = self.peek()[1:]
        if name in ("frac", "dfrac", "tfrac"):
            self.take()
            return f"(({self.argument(nesting)})/({self.argument(nesting)}))"
        if name == "sqrt":
            self.take()
            if self.peek() == "[":
                raise TexMathError("a higher root is not understood")
            return f"sqrt({self.argument(nesting)})"
        if name == "log":
            return self.logarithm(nesting)
        if name in _FUNCTIONS:
            self.take()
            return f"{_FUNCTIONS[name]}({self.applied(nesting)})"
        if name == "pi" and "pi" not in self._known:
            self.take()
            return "pi"
        return self.symbol()

    def logarithm(self, nesting: int) -> str:
        self.take()
        if self.peek() != "_":
            raise TexMathError("a logarithm without a base could be of base 10 or e")
        self.take()
        base = "".join(self.plain_group())
        if base != "10":
            raise TexMathError(f"a logarithm of base {base} is not understood")
        return f"log10({self.applied(nesting)})"

    def applied(self, nesting: int) -> str:
        if self.peek() in ("^", "_"):
            raise TexMathError("a power of a function's name is not understood")
        return self.power(nesting + 1)

    def plain_group(self) -> list[str]:
        """Read an index: the signs of a braced group, or a single sign."""
        if self.peek() != "{":
            return [self.take().lstrip("\\")]
        self.take()
        inner = []
        while self.left() and self.peek() != "}":
            inner.append(self.take().lstrip("\\{"))
        self.expect("}")
        return inner

    def symbol(self) -> str:
        """Read the longest run of letters that, with its index, is a known name."""
        start = self._place
        run = [self.take().lstrip("\\")]
        while self.peek().isalpha() and len(self.peek()) == 1 and not self._tokens[start].startswith("\\"):
            run.append(self.take())
        for length in range(len(run), 0, -1):
            self._place = start + length
            bare = "".join(run[:length])
            if self.peek() == "_":
                self.take()
                indexed = symbol_name(bare + "_" + "".join(self.plain_group()))
                if indexed in self._known:
                    return indexed
                continue
            if bare in self._known:
                return bare
        if run[0] == "e" and self._tokens[start + 1 : start + 2] == ["^"]:
            self._place = start + 2
            return f"exp({self.argument(0)})"
        raise TexMathError(f"the symbol {''.join(run)!r} is not explained")
