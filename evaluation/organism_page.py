"""The organisms' report as one static page: no script, no outside asset, opens from disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluation.organism_pictures import (
    direction_picture,
    evidence_picture,
    exploration_picture,
    gap_picture,
    ladder_picture,
)
from evaluation.organisms import CLASSES, DIRECTIONS, TIERS, Figure, Split, Study

if TYPE_CHECKING:
    from jinja2 import Template

PAPER_TIER = "medium"
Line = tuple[str, list[str]]
"""A row of a table: the player and its cells."""


def render(
    studies: Sequence[Study], release: str, now: datetime, left_out: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the page of some players' studies on one release; runs left out are named with a reason."""
    return _template().render(
        release=release,
        made=now.strftime("%Y-%m-%d %H:%M UTC"),
        pictures=_pictures(studies),
        tables=_tables(studies),
        studies=len(studies),
        sessions=sum(study.sessions for study in studies),
        probed=any(study.probes for study in studies),
        left_out=left_out,
    )


def _pictures(studies: Sequence[Study]) -> list[str]:
    tiers = [tier for tier in TIERS if any(tier in study.scores for study in studies)]
    first = [PAPER_TIER] if PAPER_TIER in tiers else tiers[:1]
    made = [gap_picture(studies, tier) for tier in first]
    if any(study.axes for study in studies):
        made += [exploration_picture(studies), direction_picture(studies)]
    if any(study.points for study in studies):
        made.append(evidence_picture(studies))
    if any("probe-1" in study.probes or "probe-3a" in study.probes for study in studies):
        made.append(ladder_picture(studies))
    return made


def _tables(studies: Sequence[Study]) -> list[dict[str, Any]]:
    played = [study for study in studies if study.sessions]
    tables = [
        _table("Scores by tier", _SCORES.values(), _score_lines(played)),
        _table("Exploration, mean of a session", _AXES.values(), _axis_lines(played)),
        _table("Exact diagnosis above and up to the player's own median", _SPLITS, _split_lines(played)),
        _table("Exact diagnosis by ambiguity class", CLASSES, _lines(played, "classes", CLASSES)),
        _table("Exact diagnosis by direction", DIRECTIONS, _lines(played, "directions", DIRECTIONS)),
        _table(
            "Evidence before the hypothesis, organisms with a separable alternative",
            _EVIDENCE,
            [(study.player, [_number(study.evidence, name) for name in _EVIDENCE]) for study in played],
        ),
        _table("Probes", _PROBES.values(), _probe_lines(studies)),
    ]
    return [table for table in tables if table["rows"]]


def _score_lines(studies: Sequence[Study]) -> list[Line]:
    return [
        (f"{study.player}, {tier}", [_text(found[name]) for name in _SCORES])
        for study in studies
        for tier, found in study.scores.items()
    ]


def _axis_lines(studies: Sequence[Study]) -> list[Line]:
    return [(study.player, [f"{study.axes[name]:.2f}" for name in _AXES]) for study in studies]


def _split_lines(studies: Sequence[Study]) -> list[Line]:
    return [
        (study.player, [text for axis in ("experiments", "breadth") for text in _split(study.splits[axis])])
        for study in studies
    ]


def _probe_lines(studies: Sequence[Study]) -> list[Line]:
    return [
        (study.player, [_maybe(study.probes.get(name)) for name in _PROBES])
        for study in studies
        if any(name.startswith("probe") for name in study.probes)
    ]


_SCORES = {
    "prediction": "prediction",
    "diagnosis": "diagnosis",
    "exact": "exact diagnosis",
    "rescue": "rescue",
    "restored": "all restored",
    "gap": "gap",
}
_SPLITS = ("experiments: above", "up to", "correlation", "breadth: above", "up to", "correlation")
_AXES = {
    "experiments": "experiments",
    "budget_used": "budget used",
    "breadth": "breadth",
    "both_directions": "both directions",
    "exact": "exact diagnosis",
    "restored": "all restored",
}
_EVIDENCE = (
    "experiments", "discriminating", "chance", "encountered", "exact where encountered",
    "single perturbation", "median lag",
)  # fmt: skip


_PROBES = {
    "probe-1/decisive": "P1 decisive",
    "probe-1/filler": "P1 filler",
    "probe-2/revise": "P2 revise",
    "probe-2/retain": "P2 retain",
    "probe-2/filler": "P2 filler",
    "probe-2/revised on noise": "P2 revised on noise",
    "probe-3a": "P3a",
    "probe-3a/random-walk": "P3a, second source",
    "probe-3b": "P3b",
    "probe-3b/random-walk": "P3b, second source",
    "probe-3c": "P3c",
    "live": "live",
}


def _table(title: str, columns: Iterable[str], rows: list[Line]) -> dict[str, Any]:
    return {"title": title, "columns": list(columns), "rows": rows}


def _lines(studies: Sequence[Study], field: str, names: Sequence[str]) -> list[Line]:
    return [(study.player, [_maybe(getattr(study, field).get(name)) for name in names]) for study in studies]


def _text(figure: Figure) -> str:
    value = f"{figure.value:.2f}"
    if figure.interval is None:
        return value
    return f"{value} [{figure.interval.low:.2f}, {figure.interval.high:.2f}]"


def _maybe(figure: Figure | None) -> str:
    return "–" if figure is None else f"{_text(figure)} of {figure.n}"


def _split(split: Split) -> list[str]:
    correlation = "–" if split.correlation is None else f"{split.correlation:+.2f}"
    return [_maybe(split.above), _maybe(split.below), correlation]


def _number(values: Mapping[str, float], name: str) -> str:
    if name not in values:
        return "–"
    return f"{values[name]:.0f}" if name in ("experiments", "median lag") else f"{values[name]:.3f}"


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("evaluation", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("organisms.html")
