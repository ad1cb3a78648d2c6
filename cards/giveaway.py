"""Does a text name the law or show its form? Plain rules over the words that a player would read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from cards.card import Card
from cards.infix import print_infix

_GENERIC = {
    "a", "an", "and", "at", "between", "by", "for", "from", "in", "its", "of", "on", "or", "the", "to",
    "with", "law", "laws", "equation", "equations", "formula", "relation", "relationship", "rule",
    "principle", "theorem", "model", "effect", "scaling", "simple", "modified",
}  # fmt: skip
_FORM = re.compile(
    r"\b(?:(?:directly |inversely )?proportional(?:ly)?(?: to)?|inverse(?:ly)?[ -](?:with|square|cube)\w*|"
    r"(?:varies|vary|scales?|scaling|grows?|decays?|falls?|rises?) (?:linearly|quadratically|exponentially|"
    r"logarithmically|inversely|as the|like the|with the (?:square|cube|root|power))|power[ -]law|"
    r"(?:is|equals) the (?:product|ratio|quotient|sum) of|square root of|logarithm of)\b",
    re.IGNORECASE,
)
_LAW = r"(?:law|equation|formula|relation|rule|principle|theorem|isotherm|kinetics|distribution)"
_NAMED = re.compile(rf"\b[A-Z][\w–-]+(?:['’]s?)? {_LAW}\b|\b\w+['’]s? {_LAW}\b")
_MATHS = re.compile(r"[=∝√∫∑]|\\(?:frac|propto|sqrt|exp|log)\b|\*\*")


def giveaways(card: Card) -> Iterator[tuple[str, str]]:
    """Yield (path, what is given away) for the background and every description that a player reads."""
    for path, text in _texts(card):
        yield from ((path, trouble) for trouble in _in_text(card, text))


def _texts(card: Card) -> Iterator[tuple[str, str]]:
    yield "background", card.background
    for index, item in enumerate(card.inputs):
        yield f"inputs[{index}].description", item.description
    for index, observable in enumerate(card.observables):
        yield f"observables[{index}].description", observable.description


def _in_text(card: Card, text: str) -> Iterator[str]:
    plain = _plain(text)
    if match := _MATHS.search(text):
        yield f"the sign {match.group()!r} of a formula"
    if match := _FORM.search(text):
        yield f"the form of the relation ({match.group()!r})"
    if match := _NAMED.search(text):
        yield f"a law by name ({match.group()!r})"
    for person in sorted(_people(card)):
        if re.search(rf"\b{re.escape(person)}(?:['’]?s)?\b", text):
            yield f"a name that belongs to the law ({person!r})"
    if (title := _title_phrase(card.title)) and re.search(rf"\b{re.escape(title)}\b", _content(plain)):
        yield f"the law's title ({card.title!r})"
    if (shown := _shown(card, text)) is not None:
        yield f"a piece of the relation ({shown!r})"


def _people(card: Card) -> set[str]:
    """Return surnames of the source's authors, and capitalised names inside the title."""
    authors = re.findall(r"[^\W\d_]{4,}", card.source.authors) if card.collection == "historical" else []
    people = {word for word in authors if word[0].isupper() and word[1:].islower()}
    words = re.findall(r"[^\W\d_]{4,}", card.title)
    sentence_case = sum(word[0].isupper() for word in words) <= max(1, len(words) // 2)
    for match in re.finditer(r"([-–—])?([^\W\d_]{4,})(['’]s?\b|[-–—](?=[A-Z]))?", card.title):
        joined, word, mark = match.groups()
        capitalised = word[0].isupper() and word[1:].islower()
        if capitalised and (joined or mark or (sentence_case and match.start() > 0)):
            people.add(word)
    return people


def _title_phrase(title: str) -> str:
    """Return the title's words of substance as one phrase, empty when fewer than two remain."""
    words = [word for word in _plain(re.sub(r"\([^)]*\)", "", title)).split() if word not in _GENERIC]
    return " ".join(words) if len(words) > 1 else ""


def _content(plain: str) -> str:
    return " ".join(word for word in plain.split() if word not in _GENERIC)


def _plain(text: str) -> str:
    flat = unicodedata.normalize("NFKD", text.casefold())
    flat = "".join(sign for sign in flat if not unicodedata.combining(sign))
    return " ".join(re.findall(r"[a-z0-9]+", re.sub(r"['’]s?\b", "", flat)))


def _shown(card: Card, text: str) -> str | None:
    """Return a product of declared names, or a whole relation, that stands in the text."""
    squeezed = re.sub(r"\s+", "", text)
    for observable in card.observables:
        relation = print_infix(observable.relation).replace(" ", "")
        if len(relation) > 3 and relation in squeezed:
            return relation
    known = [item.name for item in card.inputs] + [item.name for item in card.parameters]
    names = "|".join(map(re.escape, known))
    match = re.search(rf"(?<![\w/^])(?:{names})\s*[*^·×]\s*(?:{names}|\d+)(?![\w/^])", text)
    return match.group() if match else None
