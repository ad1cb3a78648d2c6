"""May this text be shown? The check that every story passes, whoever wrote it.

Source: arXiv 2610.14381, figure 2 (neutral setting, no causal leakage).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cards.finding import Finding

_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DIGIT = re.compile(r"\d")
_NOT_WORD = re.compile(r"[^a-z0-9]+")

CAUSAL = (
    r"(?:affect|caus|driv|influenc|determin|reduc|increas|decreas|improv|worsen|prevent|produc|boost|trigger"
    r"|alleviat|mitigat|impact|mediat|confound|correlat|depend|contribut)(?:e[sd]?|s|es|ed|ing|ion|ions|or|ors"
    r"|al|ally|ant|ent|ence|ation|ates?|ated|ating|able)?"
    r"|effects?|effective(?:ly|ness)?|drove|driven|leads? to|led to|leading to|results? in|resulted in|due to"
    r"|because|thanks to|therefore|hence|consequence|consequently|owing to|responsible for|linked (?:to|with)"
    r"|associated|association|related to|explains?|explained"
)
"""Words that say or hint that one thing moves another."""
ROLES = (
    "mediator|confounder|covariate|collider|decoy|mirage|archetype|satisficing|subgroup|mediation|invalid"
    "|target|treatment arm|ancestor|descendant|causal|graph|edge|node|parents?|safe|unsafe|robust"
)
"""Words of the generator, which a player must never meet."""

_CAUSAL = re.compile(rf"\b(?:{CAUSAL})\b", re.IGNORECASE)
_ROLES = re.compile(rf"\b(?:{ROLES})\b", re.IGNORECASE)


def leaks(texts: Iterable[str], names: Sequence[str]) -> Iterator[Finding]:
    """Yield what is wrong with a scenario and its descriptions.

    The checks by name: ``two_variables`` (in one sentence), ``causal_word``, ``number``, ``role_word``.
    A name counts in camel case and as separate words.
    """
    spellings = {name: (f" {name.lower()} ", f" {spaced(name)} ") for name in names}
    for text in texts:
        for sentence in filter(None, _SENTENCE.split(text)):
            words = f" {_NOT_WORD.sub(' ', sentence.lower())} "
            named = [name for name, (one, other) in spellings.items() if one in words or other in words]
            if len(named) > 1:
                yield _finding("two_variables", sentence, f"names {named[0]} and {named[1]}")
            for check, pattern in (("causal_word", _CAUSAL), ("number", _DIGIT), ("role_word", _ROLES)):
                match = pattern.search(sentence)
                if match:
                    yield _finding(check, sentence, f"holds {match.group()!r}")


def spaced(name: str) -> str:
    """Return a name in camel case as separate small words."""
    return _CAPITALS.sub(" ", name).lower()


def role_words(texts: Iterable[str]) -> Iterator[Finding]:
    """Yield every word of the generator in any text that a player sees."""
    for text in texts:
        for match in _ROLES.finditer(text):
            yield _finding("role_word", text, f"holds {match.group()!r}")


def _finding(check: str, sentence: str, message: str) -> Finding:
    return Finding(check=check, path=sentence[:60], message=f"the story {message}; write it neutrally")
