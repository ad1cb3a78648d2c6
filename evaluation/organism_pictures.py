"""The organisms' pictures as inline SVG: readable at 320 px, and by shape as well as by colour."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from evaluation.organisms import DIRECTIONS, LADDER, Figure, Study

WIDTH = 360
LEFT, RIGHT = 14, 346
START, SIDE = 34, 150
"""Where the scale begins: beside a short axis, and beside a column of words."""
MARGIN = 0.05
QUARTERS = ("0", ".25", ".5", ".75", "1")
INK, GRID, SOFT = "#1c1c1c", "#d5d5d5", "#555"
DIAGNOSIS, RESCUE = "#a33b00", "#0b4f8a"
COLOURS = ("#0b4f8a", "#a33b00", "#2d6a2d", "#6b3fa0", "#8a6d00", "#00707a", "#b0004f", "#444444")
ROW, TOP, BOTTOM = 40, 30, 26
PLOT = 250
LONGEST_NAME = 40


def gap_picture(studies: Sequence[Study], tier: str) -> str:
    """Diagnosis and rescue of each player on one tier, joined by a line, with t intervals."""
    shown = [study for study in studies if tier in study.scores]
    rows = []
    for index, study in enumerate(shown):
        y = TOP + ROW * index
        found = study.scores[tier]
        ends = [_x(found[name].value) for name in ("diagnosis", "rescue")]
        rows += [
            _text(LEFT, y + 11, _short(study.player)),
            f'<path d="M{ends[0]} {y + 24}H{ends[1]}" stroke="{SOFT}" stroke-width="2"/>',
            _whisker(found["diagnosis"], y + 21, DIAGNOSIS),
            _whisker(found["rescue"], y + 27, RESCUE),
            _diamond(ends[0], y + 24, DIAGNOSIS),
            _circle(ends[1], y + 24, RESCUE),
        ]
    said = "; ".join(
        f"{s.player}: diagnosis {s.scores[tier]['diagnosis'].value:.2f}, "
        f"rescue {s.scores[tier]['rescue'].value:.2f}"
        for s in shown
    )
    height = TOP + ROW * len(shown) + BOTTOM
    return _frame(f"Diagnosis and rescue, {tier}", said, height, [*_scale(height), *rows])


def exploration_picture(studies: Sequence[Study]) -> str:
    """Mean experiments a session against the share of genes probed; a letter for each player.

    Players that log no experiment (those that guess, and those whose sweep is not played) are left out.
    """
    shown = _exploring(studies)
    most = max([study.axes["experiments"] for study in shown] + [1.0])
    top = 5.0 * (int(most / 5) + 1)
    marks: list[str] = []
    taken: list[tuple[float, float]] = []
    for index, study in enumerate(shown):
        x, y = _x(study.axes["experiments"] / top), _y(study.axes["breadth"])
        while any(abs(x - left) < 15 and abs(y - above) < 15 for left, above in taken):
            y += 16.0
        taken.append((x, y))
        marks.append(_letter(x, y, index))
    said = "; ".join(
        f"{s.player}: {s.axes['experiments']:.1f} experiments, {s.axes['breadth']:.2f} of the genes"
        for s in shown
    )
    axes = _square(_steps([f"{top * i / 4:g}" for i in range(5)]), "experiments in a session", "genes probed")
    return _plot("Exploration", said, axes + marks, [study.player for study in shown])


def evidence_picture(studies: Sequence[Study]) -> str:
    """Each organism's discriminating share against chance, one mark for player and organism."""
    shown = [study for study in studies if study.points]
    marks = [f'<path d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}" stroke="{SOFT}" stroke-dasharray="4 3"/>']
    for index, study in enumerate(shown):
        marks += [_mark(_x(point.chance), _y(point.share), index) for point in study.points]
    said = "; ".join(
        f"{s.player}: {s.evidence['discriminating']:.2f} against {s.evidence['chance']:.2f}" for s in shown
    )
    axes = _square(_steps(QUARTERS), "share among all interventions (chance)", "share among experiments run")
    names = [study.player for study in shown]
    return _plot("Discriminating experiments", said, axes + marks, names, marks=True)


def direction_picture(studies: Sequence[Study]) -> str:
    """Exact diagnosis by how the true cause was probed before the hypothesis; players that experiment."""
    shown = _exploring(studies)
    rows, height = [], TOP
    for study in shown:
        rows.append(_text(LEFT, height + 11, _short(study.player), weight="bold"))
        height += 16
        for index, name in enumerate(DIRECTIONS):
            figure = study.directions.get(name)
            rows.append(_text(LEFT, height + 11, f"{name} ({figure.n if figure else 0})", colour=SOFT))
            if figure is not None:
                rows.append(_whisker(figure, height + 7, _colour(index), SIDE))
                rows.append(_mark(_x(figure.value, SIDE), height + 7, index))
            height += 18
        height += 8
    said = "; ".join(
        f"{s.player}: " + ", ".join(f"{name} {f.value:.2f} of {f.n}" for name, f in s.directions.items())
        for s in shown
    )
    scale = _scale(height + BOTTOM, SIDE)
    return _frame("Exact diagnosis by direction", said, height + BOTTOM, [*scale, *rows])


def ladder_picture(studies: Sequence[Study]) -> str:
    """Accuracy on decisive evidence from probe 1 to live sessions, a line for each player."""
    steps = (*LADDER, "live")
    at = {name: MARGIN + (1 - 2 * MARGIN) * i / (len(steps) - 1) for i, name in enumerate(steps)}
    shown = [study for study in studies if any(name in study.probes for name in LADDER)]
    marks = []
    for index, study in enumerate(shown):
        places = [(_x(at[name]), _y(study.probes[name].value)) for name in steps if name in study.probes]
        path = "L".join(f"{x} {y}" for x, y in places)
        marks.append(f'<path d="M{path}" fill="none" stroke="{_colour(index)}" stroke-width="2"/>')
        marks += [_mark(x, y, index) for x, y in places]
    said = "; ".join(
        f"{s.player}: "
        + ", ".join(f"{name} {s.probes[name].value:.2f}" for name in steps if name in s.probes)
        for s in shown
    )
    labels = [(at[name], name.removeprefix("probe-")) for name in steps]
    axes = _square(labels, "probe", "right, of decisive items")
    return _plot("Probe ladder", said, axes + marks, [study.player for study in shown], marks=True)


def _exploring(studies: Sequence[Study]) -> list[Study]:
    return [study for study in studies if study.axes.get("experiments", 0.0) > 0]


def _steps(labels: Sequence[str]) -> list[tuple[float, str]]:
    return [(i / (len(labels) - 1), label) for i, label in enumerate(labels)]


def _x(share: float, start: float = START) -> float:
    return round(start + (RIGHT - 10 - start) * min(max(share, 0.0), 1.0), 1)


def _y(share: float) -> float:
    return round(TOP + 16 + PLOT * (1 - min(max(share, 0.0), 1.0)), 1)


def _scale(height: float, start: float = START) -> list[str]:
    parts = []
    for percent in (0, 25, 50, 75, 100):
        x = _x(percent / 100, start)
        parts.append(f'<path d="M{x} {TOP - 6}V{height - BOTTOM + 4}" stroke="{GRID}"/>')
        parts.append(_text(x, height - 8, f"{percent}%", "middle", SOFT))
    return parts


def _square(labels: Sequence[tuple[float, str]], below: str, beside: str) -> list[str]:
    parts = [_text(LEFT, TOP + 4, beside, "start", SOFT)]
    for i in range(5):
        y = _y(i / 4)
        parts.append(f'<path d="M{_x(0)} {y}H{_x(1)}" stroke="{GRID}"/>')
        parts.append(_text(_x(0) - 5, y + 4, QUARTERS[i], "end", SOFT))
    for share, label in labels:
        parts.append(_text(_x(share), _y(0) + 16, label, "middle", SOFT))
    parts.append(_text(_x(0.5), _y(0) + 33, below, "middle", SOFT))
    return parts


def _plot(title: str, said: str, parts: list[str], names: Sequence[str], *, marks: bool = False) -> str:
    start = _y(0) + 52
    for index, name in enumerate(names):
        y = start + 18 * index
        place = LEFT + 30
        parts.append(_mark(place, y - 4, index) if marks else _letter(place, y - 4, index))
        parts.append(_text(place + 14, y, _short(name)))
    return _frame(title, said, start + 18 * len(names), parts)


def _frame(title: str, said: str, height: float, parts: Sequence[str]) -> str:
    label = escape(f"{title}. {said}.")
    head = (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{label}" font-size="12" fill="{INK}">'
    )
    bold = f'<text x="{LEFT}" y="16" font-weight="bold" font-size="13">{escape(title)}</text>'
    return "".join([head, bold, *parts, "</svg>"])


def _text(
    x: float, y: float, text: str, anchor: str = "start", colour: str = INK, *, weight: str = "normal"
) -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'


def _whisker(figure: Figure, y: float, colour: str, start: float = START) -> str:
    if figure.interval is None:
        return ""
    low, high = _x(figure.interval.low, start), _x(figure.interval.high, start)
    path = f"M{low} {y}H{high}M{low} {y - 3}V{y + 3}M{high} {y - 3}V{y + 3}"
    return f'<path d="{path}" stroke="{colour}" stroke-width="1.5"/>'


def _circle(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}"/>'


def _diamond(x: float, y: float, colour: str) -> str:
    path = f"M{x} {y - 6}L{x + 6} {y}L{x} {y + 6}L{x - 6} {y}Z"
    return f'<path d="{path}" fill="#fff" stroke="{colour}" stroke-width="2"/>'


def _mark(x: float, y: float, index: int) -> str:
    """A circle, diamond, square or triangle, filled or not, so that colour is not needed."""
    colour, form = _colour(index), index % 4
    fill = colour if index % 8 < 4 else "#fff"
    paths = {
        1: f"M{x} {y - 5}L{x + 5} {y}L{x} {y + 5}L{x - 5} {y}Z",
        2: f"M{x - 4} {y - 4}H{x + 4}V{y + 4}H{x - 4}Z",
        3: f"M{x} {y - 5}L{x + 5} {y + 4}H{x - 5}Z",
    }
    style = f'fill="{fill}" fill-opacity=".75" stroke="{colour}" stroke-width="1.5"'
    if form == 0:
        return f'<circle cx="{x}" cy="{y}" r="4" {style}/>'
    return f'<path d="{paths[form]}" {style}/>'


def _letter(x: float, y: float, index: int) -> str:
    colour = _colour(index)
    letter = chr(ord("A") + index % 26)
    disc = f'<circle cx="{x}" cy="{y}" r="8" fill="#fff" stroke="{colour}" stroke-width="2"/>'
    return (
        disc
        + f'<text x="{x}" y="{y + 4}" text-anchor="middle" font-size="11" fill="{colour}">{letter}</text>'
    )


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
