"""TeX macros: definitions collected and expanded, within limits that no file can argue with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

MAX_EXPANSIONS = 50_000
MAX_WORK = 30_000_000
"""Characters copied while expanding, over a whole document."""
MAX_DEFINITION = 10_000
MAX_MACROS = 1_000

_NEW = re.compile(
    r"\\(?:re|provide)?newcommand\*?|\\providecommand\*?|\\DeclareRobustCommand\*?|\\DeclareMathOperator\*?|\\def(?=\s*\\)"
)
_NAME = re.compile(r"\s*\{?\s*\\([A-Za-z@]+)\s*\}?")
_COUNT = re.compile(r"\s*\[([1-9])\]")
_DEFAULT = re.compile(r"\s*\[([^\]]*)\]")
_SIMPLE_PARAMETERS = re.compile(r"\s*((?:#[1-9])*)(?=\{)")
_CALL = re.compile(r"\\([A-Za-z@]+)")


class MacroLimitError(Exception):
    """The macros of a document ask for more work than a paper can need."""


@dataclass(frozen=True)
class Macro:
    """One definition: how many arguments, the default of the first, and the body."""

    count: int
    default: str | None
    body: str


def braced(text: str, start: int) -> tuple[str, int] | None:
    """Return the content of the group that opens at ``start`` and the offset after it."""
    if start >= len(text) or text[start] != "{":
        return None
    depth, index = 0, start
    while index < min(len(text), start + 2 * MAX_DEFINITION):
        character = text[index]
        if character == "\\":
            index += 1
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return text[start + 1 : index], index + 1
        index += 1
    return None


def collect_macros(text: str) -> tuple[dict[str, Macro], str]:
    """Return the simple definitions of a source and the source without them."""
    macros: dict[str, Macro] = {}
    kept, position, tried = [], 0, 0
    for match in _NEW.finditer(text):
        if match.start() < position:
            continue
        if tried == MAX_MACROS:
            break
        tried += 1
        found = _definition(text, match)
        if found is None:
            continue
        name, macro, end = found
        if len(macro.body) <= MAX_DEFINITION:
            macros[name] = macro
        kept.append(text[position : match.start()])
        position = end
    kept.append(text[position:])
    return macros, "".join(kept)


def _definition(text: str, match: re.Match[str]) -> tuple[str, Macro, int] | None:
    name = _NAME.match(text, match.end())
    if name is None:
        return None
    position, count, default = name.end(), 0, None
    if match.group().startswith("\\def"):
        parameters = _SIMPLE_PARAMETERS.match(text, position)
        if parameters is None:
            return None
        count, position = len(parameters[1]) // 2, parameters.end()
    elif counted := _COUNT.match(text, position):
        count, position = int(counted[1]), counted.end()
        if optional := _DEFAULT.match(text, position):
            default, position = optional[1], optional.end()
    while position < len(text) and text[position].isspace():
        position += 1
    group = braced(text, position)
    if group is None:
        return None
    body, end = group
    if match.group().startswith("\\DeclareMathOperator"):
        body = rf"\operatorname{{{body}}}"
    return name[1], Macro(count, default, body), end


class Expander:
    """Expands macros paragraph by paragraph with one budget for the whole document."""

    def __init__(self, macros: Mapping[str, Macro]) -> None:
        self._macros = macros
        self._expansions = 0
        self._work = 0

    def expand(self, text: str) -> str:
        """Return ``text`` with every known macro replaced, repeatedly.

        Raises:
            MacroLimitError: when the budget is used up.
        """
        if not self._macros:
            return text
        return "\n\n".join(self._paragraph(part) for part in re.split(r"\n[ \t]*\n", text))

    def _paragraph(self, text: str) -> str:
        position = 0
        while call := _CALL.search(text, position):
            macro = self._macros.get(call[1])
            filled = None if macro is None else _filled(text, call.end(), macro)
            if filled is None:
                position = call.end()
                continue
            body, end = filled
            text = f"{text[: call.start()]}{body}{text[end:]}"
            position = call.start()
            self._expansions += 1
            self._work += len(text)
            if self._expansions > MAX_EXPANSIONS or self._work > MAX_WORK:
                raise MacroLimitError(f"more than {MAX_EXPANSIONS} expansions or {MAX_WORK} characters")
        return text


def _filled(text: str, position: int, macro: Macro) -> tuple[str, int] | None:
    arguments = []
    if macro.default is not None:
        optional = _DEFAULT.match(text, position)
        arguments.append(optional[1] if optional else macro.default)
        position = optional.end() if optional else position
    while len(arguments) < macro.count:
        while position < len(text) and text[position].isspace():
            position += 1
        group = braced(text, position)
        if group is not None:
            argument, position = group
        elif position < len(text):
            token = _CALL.match(text, position)
            argument = token.group() if token else text[position]
            position += len(argument)
        else:
            return None
        arguments.append(argument)
    body = re.sub(
        r"#([1-9])", lambda m: arguments[int(m[1]) - 1] if int(m[1]) <= len(arguments) else "", macro.body
    )
    # A control word must not run into a letter that follows it.
    if not arguments and re.search(r"\\[A-Za-z]+$", body) and text[position : position + 1].isalpha():
        body += " "
    return body, position
