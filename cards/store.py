"""Cards on disk: YAML in, YAML out, and the Historical collection that ships with the package.

Nothing in a card file is executed: the safe loader, a size cap, no aliases (an alias bomb of a few
lines expands to gigabytes), and no duplicate keys (YAML would silently keep the last one).
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from cards.card import Card, ConstraintText, Relation
from cards.errors import AlmanacError, CardError
from cards.infix import print_constraint, print_infix

MAX_BYTES = 200_000
"""Size allowed for a card file."""
MAX_NESTING = 40
"""Depth of YAML nesting allowed in a card file."""
MAX_VALUES = 12_000
"""Values allowed in a card file; a relation of 1024 nodes, written out as a document, has some 7,000."""
_EXPRESSIONS: tuple[tuple[str, str, TypeAdapter[Any]], ...] = (
    ("observables", "relation", TypeAdapter(Relation)),
    ("constraints", "", TypeAdapter(ConstraintText)),
)
_HISTORICAL = Path(__file__).parent / "historical"


def read_card(path: Path) -> Card:
    """Read one card file.

    Raises:
        CardError: when the file is missing, too large, not YAML or not a card; names file and place.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as trouble:
        raise CardError(f"{path}: cannot be read ({trouble.strerror}).") from None
    if len(raw) > MAX_BYTES:
        raise CardError(f"{path}: larger than {MAX_BYTES:,} bytes.", "A card is a few kilobytes of YAML.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as trouble:
        raise CardError(f"{path}: not UTF-8 text (byte {trouble.start}).") from None
    return load_card(text, str(path))


def load_card(text: str, name: str = "card") -> Card:
    """Read one card from YAML text; ``name`` stands in messages for the file.

    Raises:
        CardError: when the text is not YAML or not a card.
    """
    document = _load_yaml(text, name)
    if not isinstance(document, dict):
        raise CardError(f"{name}: a card is a mapping of fields, this is {type(document).__name__}.")
    try:
        return Card.model_validate(document)
    except ValidationError as trouble:
        raise CardError(f"{name}: {_first_errors(trouble)}") from None
    except AlmanacError as trouble:
        place = _place_of_bad_expression(document)
        raise CardError(f"{name}: {place}: {trouble.message}", trouble.remedy) from None
    except RecursionError:
        raise CardError(f"{name}: nested too deeply.") from None


def dump_card(card: Card) -> str:
    """Write a card as YAML that ``load_card`` reads back to an equal card; relations as infix text."""
    document = card.model_dump(mode="json", exclude_defaults=True)
    document["schema_version"] = card.schema_version
    for written, observable in zip(document["observables"], card.observables, strict=True):
        written["relation"] = print_infix(observable.relation)
    for written, parameter in zip(document.get("parameters", ()), card.parameters, strict=True):
        if parameter.relation is not None:
            written["relation"] = print_infix(parameter.relation)
    if card.constraints:
        document["constraints"] = [print_constraint(constraint) for constraint in card.constraints]
    ordered = {name: document[name] for name in Card.model_fields if name in document}
    return yaml.dump(ordered, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def historical() -> list[Card]:
    """Return the Historical collection, sorted by id.

    Raises:
        CardError: when a shipped file is damaged or two files share an id.
    """
    return list(_historical())


@cache
def _historical() -> tuple[Card, ...]:
    cards = sorted((read_card(path) for path in _HISTORICAL.glob("*.yaml")), key=lambda card: card.id)
    for left, right in pairwise(cards):
        if left.id == right.id:
            raise CardError(f"two Historical cards have the id {left.id!r}.", "Ids must be unique.")
    return tuple(cards)


class _Loader(yaml.SafeLoader):
    """The safe loader without aliases, duplicate keys, deep nesting and date conversion."""

    nesting = 0
    values = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise self.refusal("aliases are not read in cards")
        self.nesting += 1
        self.values += 1
        if self.nesting > MAX_NESTING:
            raise self.refusal(f"nested deeper than {MAX_NESTING}")
        if self.values > MAX_VALUES:
            raise self.refusal(f"more than {MAX_VALUES:,} values")
        node = super().compose_node(parent, index)
        self.nesting -= 1
        return node

    def refusal(self, problem: str) -> yaml.MarkedYAMLError:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key must be plain text", problem_mark=key.start_mark)
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _without_dates() -> dict[str, Any]:
    """Return the resolvers without time stamps, and with numbers like ``1e-3`` read as floats.

    YAML 1.1 reads ``2026-04-01`` as a date object and ``1e-3`` as text; a card means neither.
    """
    number = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)\Z")
    dropped = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int")
    table = {
        first: [pair for pair in pairs if pair[0] not in dropped]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    integer = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
    for first in "-+.0123456789":
        table[first] = [
            ("tag:yaml.org,2002:int", integer),
            ("tag:yaml.org,2002:float", number),
            *table.get(first, []),
        ]
    return table


_Loader.yaml_implicit_resolvers = _without_dates()


class _Dumper(yaml.SafeDumper):
    """The safe dumper, with long texts as folded blocks and the loader's own reading of plain scalars."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _load_yaml(text: str, name: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader with more refusals
    except yaml.MarkedYAMLError as trouble:
        mark = trouble.problem_mark
        place = f" line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise CardError(f"{name}:{place}: {trouble.problem}.") from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as trouble:
        raise CardError(f"{name}: not YAML ({_one_line(str(trouble))}).") from None


def _place_of_bad_expression(document: dict[str, Any]) -> str:
    """Find the relation or constraint that cannot be read; pydantic does not say which it was."""
    for kind, field, adapter in _EXPRESSIONS:
        entries = document.get(kind)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            value = entry.get(field) if field and isinstance(entry, dict) else entry
            try:
                adapter.validate_python(value)
            except (AlmanacError, ValueError):
                return f"{kind}[{index}]" + (f".{field}" if field else "")
    return "card"


def _first_errors(trouble: ValidationError, limit: int = 3) -> str:
    found = trouble.errors(include_url=False)
    shown = [f"{_place(item['loc'])}: {_one_line(item['msg'])}" for item in found[:limit]]
    more = f" (and {len(found) - limit} more)" if len(found) > limit else ""
    return "; ".join(shown) + more


def _place(location: tuple[int | str, ...]) -> str:
    place = ""
    for part in location:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place or "card"


def _one_line(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
