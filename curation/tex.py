"""TeX source to readable text: comments gone, macros expanded, mathematics kept as TeX.

Thin on purpose: it reads what most papers are made of and leaves out what it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from cards.finding import Finding
from curation.document import Document, Equation, Section
from curation.glossary import glossary
from curation.macros import Expander, MacroLimitError, collect_macros

MAX_TEXT = 1_000_000
MAX_INCLUDE_DEPTH = 8
MAX_EQUATIONS = 2_000
MAX_SOURCE = 8_000_000

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_COMMENT_BLOCK = re.compile(r"\\begin\{comment\}.{0,4000}?\\end\{comment\}", re.DOTALL)
_INCLUDE = re.compile(r"\\(?:input|include|subfile)\s*\{([^{}]*)\}")
_DISPLAY = re.compile(
    r"\\begin\{(equation|align|gather|multline|eqnarray|displaymath)(\*?)\}(.{0,4000}?)\\end\{\1\2\}"
    r"|\\\[(.{0,4000}?)\\\]|\$\$(.{0,4000}?)\$\$",
    re.DOTALL,
)
"""Displayed mathematics; the bound keeps a file of ten thousand openings from taking for ever."""
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_HEADING = re.compile(r"\\(?:sub)*section\*?\s*\{([^{}]*)\}|\\begin\{(abstract)\}")
_DROPPED = re.compile(
    r"\\(?:cite[a-z]*|footnote|thanks|label|bibliographystyle|bibliography|usepackage|email|affiliation|orcid"
    r"|includegraphics|vspace|hspace|input|date)\*?(?:\[[^\]]*\])*\{[^{}]*\}"
)
_WRAPPED = re.compile(
    r"\\(?:emph|textbf|textit|textrm|texttt|textsc|mbox|underline|title|author|caption|url)\s*\{([^{}]*)\}"
)
_REFERENCE = re.compile(r"\\(?:eqref|ref|autoref|cref|Cref)\s*\{([^{}]*)\}")
_QUANTITY = re.compile(r"\\(?:SI|qty)\s*\{([^{}]*)\}\s*\{([^{}]*)\}|\\(?:num|si|unit)\s*\{([^{}]*)\}")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[^{}]*\}(?:\[[^\]]*\])?")
_SPACES = re.compile(r"~|\\[,;:! ]|\\(?:quad|qquad|noindent|par|maketitle|newline|centering|item)\b|\\\\")
_ESCAPED = re.compile(r"\\([%&_#$])")
_MATHS = re.compile(r"\$[^$]*\$")
_UNIT_POWER = re.compile(r"\$\s*\^\s*\{?\s*([-+]?\d+)\s*\}?\s*\$")
"""The power of a unit, as in ``km s$^{-1}$``: it belongs to the words around it."""


def parse_tex(paper: str, files: Mapping[str, str]) -> Document:
    """Return the document that a set of TeX files makes."""
    findings: list[Finding] = []
    source = _strip_comments(_joined(files, _main(files), 0))[:MAX_SOURCE]
    macros, rest = collect_macros(source)
    body = _body(rest)
    try:
        body = Expander(macros).expand(body)
    except MacroLimitError as limit:
        message = f"the macros do not come to an end: {limit}"
        findings.append(Finding(check="macro_limit", message=message))
        body = ""
    return _document(paper, body[:MAX_TEXT], findings)


def _main(files: Mapping[str, str]) -> str:
    """Return the name of the file with the document class, else of the longest file."""
    for name, text in files.items():
        if re.search(r"^[^%\n]*\\(?:documentclass|begin\{document\})", text, re.MULTILINE):
            return name
    return max(files, key=lambda name: len(files[name]))


def _joined(files: Mapping[str, str], name: str, depth: int) -> str:
    if depth > MAX_INCLUDE_DEPTH:
        return ""

    def include(match: re.Match[str]) -> str:
        wanted = (PurePosixPath(name).parent / match[1].strip()).as_posix()
        found = next((n for n in (wanted, f"{wanted}.tex", match[1], f"{match[1]}.tex") if n in files), None)
        return "" if found is None or found == name else _joined(files, found, depth + 1)

    joined = _INCLUDE.sub(include, _strip_comments(files[name]))
    return joined[:MAX_SOURCE]


def _strip_comments(text: str) -> str:
    return _COMMENT_BLOCK.sub("", _COMMENT.sub(r"\1", text))


def _body(source: str) -> str:
    """Return what stands between the document's begin and its bibliography."""
    title = re.search(r"\\title\s*(?:\[[^\]]*\])?\{[^{}]*\}", source)
    _, found, after = source.partition("\\begin{document}")
    body = after if found else source
    for end in ("\\end{document}", "\\begin{thebibliography}", "\\bibliography{"):
        body = body.partition(end)[0]
    return f"{title.group()}\n\n{body}" if title and title.group() not in body else body


class _Page:
    """The text under construction, with the offsets of what was put on it."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._headings: list[tuple[str, int]] = []
        self.equations: list[Equation] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def display(self, tex: str) -> None:
        labels = _LABEL.findall(tex)
        bare = " ".join(_LABEL.sub("", tex).replace("\\nonumber", "").split())
        self._add("\n$$ ")
        start = self._length
        self._add(f"{bare} $$\n")
        label = labels[0] if labels else ""
        if len(self.equations) < MAX_EQUATIONS:
            self.equations.append(Equation(label=label, tex=bare, start=start, end=start + len(bare)))

    def prose(self, raw: str) -> None:
        position = 0
        for match in _HEADING.finditer(raw):
            self._add(_readable(raw[position : match.start()]))
            title = _readable(match[1] or "Abstract").strip()
            self._headings.append((title, self._length))
            self._add(f"\n\n## {title}\n\n")
            position = match.end()
        self._add(_readable(raw[position:]))

    def sections(self) -> tuple[Section, ...]:
        ends = [start for _, start in self._headings[1:]] + [self._length]
        marks = zip(self._headings, ends, strict=False)
        return tuple(Section(title=title, start=start, end=end) for (title, start), end in marks)

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


def _document(paper: str, body: str, findings: list[Finding]) -> Document:
    page = _Page()
    position = 0
    for match in _DISPLAY.finditer(body):
        page.prose(body[position : match.start()])
        page.display(next(part for part in (match[3], match[4], match[5]) if part is not None))
        position = match.end()
    page.prose(body[position:])
    text = page.text
    if not text.strip() and not findings:
        findings.append(Finding(check="no_text", message="no readable text was found in the source"))
    return Document(
        paper=paper,
        route="tex",
        text=text,
        sections=page.sections(),
        equations=tuple(page.equations),
        glossary=glossary(text),
        findings=tuple(findings),
    )


def _readable(raw: str) -> str:
    """Return prose without TeX's own words; inline mathematics stays as it is printed in the source."""
    pieces, position = [], 0
    raw = _UNIT_POWER.sub(r"^\1", raw)
    for match in _MATHS.finditer(raw):
        pieces += [_words(raw[position : match.start()]), match.group()]
        position = match.end()
    pieces.append(_words(raw[position:]))
    return re.sub(r"[ \t]+", " ", "".join(pieces))


def _words(text: str) -> str:
    text = _DROPPED.sub("", text)
    text = _QUANTITY.sub(lambda m: " ".join(part for part in m.groups() if part), text)
    text = _REFERENCE.sub(r"(\1)", text)
    for _ in range(3):  # emphasis inside emphasis
        text = _WRAPPED.sub(r"\1", text)
    text = _SPACES.sub(" ", _ENVIRONMENT.sub("", text))
    text = _ESCAPED.sub(r"\1", text).replace("``", "“").replace("''", "”")
    return re.sub(r"\\[A-Za-z@]+\*?|[{}]", "", text)
