"""Parse: TeX to text with its equations, and hostile files that end as findings."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from curation.arrivals import Arrivals
from curation.document import Document, locate, normalise
from curation.parse import parse_paper
from curation.parse_child import parse_bytes
from tests.curation.rig import QUOTE, document, paper


def parsed(tex: str) -> Document:
    return parse_bytes("p", "p.tex", tex.encode())


def test_equations_sections_and_glossary_are_found() -> None:
    """A document holds its equations with TeX and offsets, its sections, and what its symbols mean."""
    found = document()
    assert [section.title for section in found.sections] == ["Profile"]
    equation = found.equations[0]
    assert found.text[equation.start : equation.end] == equation.tex
    terms = {term.symbol: (term.meaning, term.unit, term.printed) for term in found.glossary}
    assert terms["r"] == ("projected radius", "kpc", "")
    assert terms["A_0"] == ("extinction at the pivot", "mag", "0.12 \\pm 0.04")
    assert terms["p"][2] == "-1.8 \\pm 0.4"


def test_comments_are_gone_and_escaped_percent_signs_stay() -> None:
    """A relation that was commented out is no relation."""
    found = parsed(
        "\\begin{document}\n% \\begin{equation} y = 9 x \\end{equation}\n"
        "5 \\% of y % not this\n\\end{document}"
    )
    assert found.equations == ()
    assert "5 % of y" in found.text
    assert "not this" not in found.text


def test_macros_are_expanded() -> None:
    """Commands with and without arguments, defaults, operators and definitions by def are replaced."""
    found = parsed(
        "\\newcommand{\\vel}[1]{v_{#1}}\\def\\half{\\frac{1}{2}}\\newcommand{\\pair}[2][a]{#1 #2}"
        "\\DeclareMathOperator{\\sinc}{sinc}\\newcommand\\km{km}\n"
        "\\begin{document}\\[ E = \\half m \\vel{0}^2 + \\pair{b} + \\pair[c]{d} + \\sinc x \\]"
        " 5 \\km\\end{document}"
    )
    assert found.equations[0].tex == r"E = \frac{1}{2} m v_{0}^2 + a b + c d + \operatorname{sinc} x"
    assert "5 km" in found.text


def test_included_files_are_joined() -> None:
    """A source in several files is one document."""
    from curation.tex import parse_tex

    files = {
        "main.tex": "\\documentclass{a}\\begin{document}\\input{s/one}\\end{document}",
        "s/one.tex": "Inside.",
    }
    assert "Inside." in parse_tex("p", files).text


@pytest.mark.parametrize(
    "tex",
    [
        "\\def\\a{\\a\\a}\\begin{document}\\a\\end{document}",
        "\\newcommand{\\x}[1]{#1#1#1#1\\x{#1#1}}\\begin{document}\\x{boom}\\end{document}",
        "\\def\\a{\\b\\b}\\def\\b{\\c\\c}\\def\\c{\\a\\a}\\begin{document}\\a\\end{document}",
    ],
)
def test_endless_macros_are_a_finding(tex: str) -> None:
    """Macros that never come to an end are stopped, in seconds, and named."""
    start = time.monotonic()
    found = parsed(tex)
    assert [finding.check for finding in found.findings] == ["macro_limit"]
    assert time.monotonic() - start < 20


def test_a_file_that_includes_itself_ends() -> None:
    """Two files that include each other make one finite document."""
    from curation.tex import parse_tex

    files = {"a.tex": "\\documentclass{a} \\input{b}", "b.tex": "b \\input{a}"}
    assert parse_tex("p", files).route == "tex"


def test_units_in_words_and_symbols_keep_their_powers() -> None:
    """km s$^{-1}$ is a unit, not mathematics."""
    found = parsed(
        "\\begin{document}where $v$ is the speed in km s$^{-1}$ and $m$ is the mass in g.\\end{document}"
    )
    assert found.glossary[0].unit == "km s^-1"


def test_quotes_are_found_whatever_the_white_space_and_dashes() -> None:
    """NFKC, dashes, soft hyphens, ligatures and white space make no difference; words do."""
    text = "The ef\ufb01ciency – meas\u00adured\n twice — is 0.5."
    place = locate("efficiency - measured twice - is 0.5", text)
    assert place is not None
    assert text[slice(*place)] == "ef\ufb01ciency – meas\u00adured\n twice — is 0.5"
    assert locate("efficiency is 0.5", text) is None
    assert locate("", text) is None
    assert normalise("a\u2013b--c") == "a-b-c"
    assert locate(QUOTE, document().text) is not None


def test_plain_text_is_read_and_binary_is_refused() -> None:
    """A text file is a document; a file of bytes is a finding."""
    assert parse_bytes("p", "p.txt", b"Words and numbers 1.5").route == "text"
    refused = parse_bytes("p", "p.txt", bytes(range(256)) * 40)
    assert [finding.check for finding in refused.findings] == ["no_text"]


def test_a_paper_is_parsed_in_a_child_process(tmp_path: Path) -> None:
    """What the child returns is the same document."""
    arrivals = Arrivals(tmp_path)
    content = arrivals.put(b"\\begin{document}Hello.\\end{document}")
    found = parse_paper(paper(content=content, content_name="a.tex"), arrivals)
    assert (found.route, found.text.strip()) == ("tex", "Hello.")


def test_a_child_that_runs_over_its_time_is_a_finding(tmp_path: Path) -> None:
    """Parsing is stopped at its limit, and the run goes on."""
    arrivals = Arrivals(tmp_path)
    content = arrivals.put(b"\\begin{document}Hello.\\end{document}")
    stopped = parse_paper(paper(content=content, content_name="a.tex"), arrivals, wall_seconds=0.001)
    assert [finding.check for finding in stopped.findings] == ["parse_limit"]


@pytest.mark.parametrize(
    "data",
    [
        b"\\begin{document}" + b"{" * 2_000_000,
        b"\\begin{document}" + b"$" * 200_001,
        b"\\newcommand{\\a}{" * 20_000,
        b"where " * 300_000,
        b"where $x$ is from 1 to " * 50_000,
        b"1.5e" * 500_000,
        b"\\begin{equation}" * 50_000,
        b"\\begin{comment}" * 20_000,
        b"\\input{a.tex}" * 100_000,
    ],
    ids=lambda data: data[-16:].decode(),
)
def test_large_and_crooked_files_end(tmp_path: Path, data: bytes) -> None:
    """No file keeps the pipeline busy: a document or a finding comes within the limits."""
    arrivals = Arrivals(tmp_path)
    content = arrivals.put(data)
    start = time.monotonic()
    found = parse_paper(paper(content=content, content_name="a.tex"), arrivals)
    assert found.paper == "folder:dust"
    assert time.monotonic() - start < 60
