"""Leaks: does any public byte say what must stay sealed?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cards.canonical import canonical_json
from cards.card import Card
from cards.finding import Finding
from cards.infix import print_infix
from environments.release import Release, read_part
from environments.seeding import nonce
from environments.task import Task

MIN_RELATION = 12
"""A printed relation shorter than this is too common a text to search for."""
_NOT_WORD = re.compile(r"[^a-z0-9]+")
_MARKS = (
    b'"s":',
    b'"answer":',
    b'"seed":',
    b'"nonce":',
    b'"facets":',
    b'"brief":',
    b'"definition":',
    b'"link":',
)
"""Field names that only sealed rows have."""


@dataclass(frozen=True)
class Secrets:
    """What may not be found.

    ``words`` maps a normalised text to what it is, ``exact`` a byte string to what it is.
    """

    words: Mapping[str, str]
    exact: Mapping[bytes, str]


def secrets(
    tasks: Sequence[Task], cards: Iterable[Card], keys: Mapping[str, bytes], published: Iterable[str] = ()
) -> Secrets:
    """Collect everything that must not be found.

    Args:
        tasks: all tasks of the release.
        cards: all cards of the release.
        keys: secret keys by name; each is sought as bytes and as hexadecimal digits.
        published: titles of papers that ``sources.jsonl`` names on purpose.
    """
    allowed = {normalise(title) for title in published}
    words: dict[str, str] = {}
    exact: dict[bytes, str] = {}
    for card in cards:
        words[normalise(card.id)] = "a card's id"
        words[normalise(card.title)] = "a card's title"
        for item in card.observables:
            printed = print_infix(item.relation)
            if len(printed) >= MIN_RELATION:
                exact[printed.encode()] = "a card's relation"
    for name, key in keys.items():
        exact |= {key: name, key.hex().encode(): name}
    for task in tasks:
        exact[task.seed.encode()] = "an item's seed"
        exact[task.cluster.encode()] = "a cluster's id"
        exact[canonical_json(task.definition)] = "a definition"
        exact[canonical_json(task.brief)] = "a brief"
        if "release key" in keys:
            exact[nonce(keys["release key"], task.row.id).encode()] = "a nonce"
    return Secrets(
        {word: what for word, what in words.items() if word.strip() and word not in allowed}, exact
    )


def sealed_secrets(folder: Path) -> Secrets:
    """Return what the sealed part of a release folder hides."""
    cards = [Card.model_validate(row["card"]) for row in read_part(folder / "sealed" / "cards.jsonl")]
    return secrets(list(Release.open(folder).tasks()), cards, {}, published_titles(folder / "public"))


def published_titles(public: Path) -> list[str]:
    """Return the titles of papers that a public part names on purpose."""
    return [
        str(row.get("title", ""))
        for name in ("sources", "rejected")
        for row in read_part(public / f"{name}.jsonl")
    ]


def normalise(text: str) -> str:
    """Return ``text`` in small letters, every run of other characters as one space, spaces at both ends."""
    return f" {_NOT_WORD.sub(' ', text.lower()).strip()} "


def leaks(files: Iterable[tuple[str, bytes]], hidden: Secrets) -> Iterator[Finding]:
    """Yield a finding for every place that says something hidden; ``files`` are (name, bytes)."""
    for name, data in files:
        text = normalise(data.decode("utf-8", "ignore"))
        for word, what in hidden.words.items():
            if word in text:
                yield Finding(check="leak", path=name, message=f"holds {what} ({word.strip()!r})")
        for secret, what in hidden.exact.items():
            if secret in data:
                yield Finding(check="leak", path=name, message=f"holds {what}")
        for mark in _MARKS:
            if mark in data and name.endswith(".jsonl"):
                yield Finding(check="leak", path=name, message=f"holds the sealed field {mark.decode()}")
