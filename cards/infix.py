"""Infix text for people: ``n*R*T/V`` to a tree and back.

The grammar is small and closed; nothing is ever evaluated as code. From loosest to tightest: ``+ -``,
``* /``, unary minus, ``^`` (or ``**``; right to left). A run of ``+`` (or ``*``) without parentheses is
one variadic operator. A minus in front of a literal belongs to the literal, unless a power follows.
``pi`` is a number. Every operator may be written as a function, ``ln`` is ``log``.

``parse_infix(print_infix(tree)) == tree`` holds for every tree within the limits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Literal, cast

from cards.domain import Constraint
from cards.errors import ExpressionError
from cards.expression import MAX_DEPTH, MAX_NODES, Apply, Number, Tree, Variable, depth
from cards.operators import OPERATORS

MAX_LENGTH = 10_000
"""Longest infix text in characters."""
_MAX_NESTING = 2 * MAX_DEPTH + 8  # an operator in parentheses takes two levels of the parser

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d_]\w*)|(?P<mark>\*\*|<=|>=|[-+*/^(),<>≤≥·×−]))"
)
_SAME = {"**": "^", "·": "*", "×": "*", "−": "-", "≤": "<=", "≥": ">="}
_ALIASES = {"ln": "log"}
_BINARY = {"+": (1, "add"), "-": (1, "sub"), "*": (2, "mul"), "/": (2, "div")}
_UNARY_LEVEL = 3
_COMPARISONS = ("<", "<=", ">", ">=")

Token = tuple[str, str, int]  # kind, text, position


def parse_infix(text: str) -> Tree:
    """Read one expression.

    Raises:
        ExpressionError: the text is too long, too deep, too large or not an expression; the message
            names the character.
    """
    parser = _Parser(text)
    tree = parser.expression(0)
    parser.expect("end")
    return parser.checked(tree)


def parse_constraint(text: str) -> Constraint:
    """Read one comparison such as ``n2 > n1``.

    Raises:
        ExpressionError: not two expressions with one of ``< <= > >=`` between them.
    """
    parser = _Parser(text)
    left = parser.expression(0)
    comparison = parser.token[1]
    if comparison not in _COMPARISONS:
        raise parser.error(f"expected one of {' '.join(_COMPARISONS)}")
    parser.advance()
    right = parser.expression(0)
    parser.expect("end")
    op = cast(Literal["<", "<=", ">", ">="], comparison)
    return Constraint(parser.checked(left), op, parser.checked(right))


def print_constraint(constraint: Constraint) -> str:
    """Return the constraint as infix text."""
    return f"{print_infix(constraint.left)} {constraint.op} {print_infix(constraint.right)}"


def print_infix(tree: Tree) -> str:
    """Return the tree as infix text that reads back to the same tree."""
    if isinstance(tree, Number):
        return number_text(tree.value)
    if isinstance(tree, Variable):
        return tree.name
    operator = OPERATORS[tree.op]
    return _PRINTERS.get(operator.notation, _print_function)(tree)


def number_text(value: float) -> str:
    """Return the shortest decimal that reads back to the value; whole numbers without a point."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


class _Parser:
    """A Pratt parser over a list of tokens."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or len(text) > MAX_LENGTH:
            raise ExpressionError(f"an infix expression is a text of at most {MAX_LENGTH} characters.")
        self.text = text
        self.tokens = _tokens(text)
        self.index = 0
        self.level = 0
        self.nodes = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def advance(self) -> Token:
        token = self.token
        self.index += token[0] != "end"
        return token

    def error(self, message: str) -> ExpressionError:
        kind, shown, position = self.token
        found = "the end" if kind == "end" else repr(shown)
        return ExpressionError(f"{message}, found {found} at character {position + 1} of {self.text[:80]!r}.")

    def expect(self, mark: str) -> None:
        if self.token[1] != mark and self.token[0] != mark:
            raise self.error(f"expected {'the end' if mark == 'end' else repr(mark)}")
        self.advance()

    def node(self, tree: Tree) -> Tree:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise ExpressionError(f"the expression has more than {MAX_NODES} nodes.")
        return tree

    def checked(self, tree: Tree) -> Tree:
        if depth(tree) > MAX_DEPTH:
            raise ExpressionError(f"the expression nests deeper than {MAX_DEPTH} levels.")
        return tree

    def expression(self, level: int) -> Tree:
        """Read operators that bind at least as tightly as ``level``."""
        self.level += 1
        if self.level > _MAX_NESTING:
            raise ExpressionError(f"the expression nests deeper than {_MAX_NESTING} levels.")
        left = self.prefix()
        while self.token[1] in _BINARY and _BINARY[self.token[1]][0] >= level:
            left = self.chain(left)
        self.level -= 1
        return left

    def chain(self, left: Tree) -> Tree:
        """Read one binary operation, or a whole run of the same variadic one."""
        mark = self.token[1]
        binding, name = _BINARY[mark]
        args = [left]
        while self.token[1] == mark and (len(args) == 1 or mark in "+*"):
            self.advance()
            args.append(self.expression(binding + 1))
        return self.node(Apply(name, tuple(args)))

    def prefix(self) -> Tree:
        if self.token[1] == "+":
            self.advance()
            return self.expression(_UNARY_LEVEL)
        if self.token[1] != "-":
            return self.power()
        self.advance()
        kind, text, _ = self.token
        if kind == "number" and self.tokens[self.index + 1][1] != "^":
            self.advance()
            return self.node(Number(-self.number(text)))
        return self.node(Apply("neg", (self.expression(_UNARY_LEVEL),)))

    def power(self) -> Tree:
        base = self.atom()
        if self.token[1] != "^":
            return base
        self.advance()
        return self.node(Apply("pow", (base, self.expression(_UNARY_LEVEL))))

    def atom(self) -> Tree:
        kind, text, _ = self.token
        if kind == "number":
            self.advance()
            if self.token[0] in ("name", "number"):
                raise self.error("a number is followed by an operator; write 2*x, not 2x")
            return self.node(Number(self.number(text)))
        if kind == "name":
            self.advance()
            if self.token[1] == "(":
                return self.call(text)
            return self.node(Number(math.pi) if text == "pi" else Variable(text))
        if text != "(":
            raise self.error("expected a number, a name or a parenthesis")
        self.advance()
        inner = self.expression(0)
        self.expect(")")
        return inner

    def number(self, text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ExpressionError(f"a constant must be finite, got {text[:40]}.")
        return value

    def call(self, name: str) -> Tree:
        operator = OPERATORS.get(_ALIASES.get(name, name))
        if operator is None:
            raise ExpressionError(
                f"unknown function {name[:40]!r}.",
                f"Known: {', '.join(sorted(OPERATORS))}; write a product with *.",
            )
        self.advance()
        args = [self.expression(0)]
        while self.token[1] == ",":
            self.advance()
            args.append(self.expression(0))
        self.expect(")")
        if not operator.takes(len(args)):
            raise ExpressionError(f"{name} takes {operator.arity()}, got {len(args)}.")
        return self.node(Apply(operator.name, tuple(args)))


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(
                f"unexpected character {text[position:].lstrip()[0]!r} at character {position + 1} "
                f"of {text[:80]!r}."
            )
        kind = str(match.lastgroup)
        shown = match.group(kind)
        tokens.append((kind, _SAME.get(shown, shown), match.start(kind)))
        position = match.end()
    tokens.append(("end", "", len(text)))
    return tokens


def _level(tree: Tree) -> int:
    """Return how tightly the printed form of a tree binds; atoms bind tightest."""
    if isinstance(tree, Number):
        return _UNARY_LEVEL if math.copysign(1.0, tree.value) < 0 else 5
    if isinstance(tree, Variable):
        return 5
    notation = OPERATORS[tree.op].notation
    levels = {"sum": 1, "difference": 1, "product": 2, "quotient": 2, "negation": _UNARY_LEVEL, "power": 4}
    return levels.get(notation, 5)


def _wrapped(tree: Tree, wrap: bool) -> str:
    return f"({print_infix(tree)})" if wrap else print_infix(tree)


def _print_chain(mark: str, level: int, name: str) -> Callable[[Apply], str]:
    def write(tree: Apply) -> str:
        first, *rest = tree.args
        # A leading run of the same variadic operator would melt into this one.
        melts = name in ("add", "mul") and isinstance(first, Apply) and first.op == name
        head = _wrapped(first, _level(first) < level or melts)
        tail = (_wrapped(argument, _level(argument) <= level or _signed(argument)) for argument in rest)
        return mark.join([head, *tail])

    return write


def _signed(tree: Tree) -> bool:
    return _level(tree) == _UNARY_LEVEL


def _print_negation(tree: Apply) -> str:
    (argument,) = tree.args
    literal = isinstance(argument, Number)
    return f"-{_wrapped(argument, literal or _level(argument) <= _UNARY_LEVEL)}"


def _print_power(tree: Apply) -> str:
    base, exponent = tree.args
    return f"{_wrapped(base, _level(base) <= 4)}^{_wrapped(exponent, _level(exponent) < 4)}"


def _print_function(tree: Apply) -> str:
    return f"{tree.op}({', '.join(print_infix(argument) for argument in tree.args)})"


_PRINTERS: dict[str, Callable[[Apply], str]] = {
    "sum": _print_chain(" + ", 1, "add"),
    "difference": _print_chain(" - ", 1, "sub"),
    "product": _print_chain("*", 2, "mul"),
    "quotient": _print_chain("/", 2, "div"),
    "negation": _print_negation,
    "power": _print_power,
}
