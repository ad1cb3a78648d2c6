"""The plug-in answer: what the rows so far say, put through the question's own rule.

Used by the sweeping player and by the evidence ledger; it reads a brief's question and replies only.

Source: arXiv 2610.14381, section 4.1 (evidence that would justify the answer); the cuts are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from environments.pgm.evidence import Counts, Evidence, Mean
from environments.pgm.question import LABELS
from environments.task import JSON

HARM_CUT = 0.115
"""Between the harm that counts as none and the least that a tempting action does."""
RESIDUAL_CUT, SPREAD_CUT = 0.14, 0.15
"""Between what is called nothing and the least that validated worlds show."""
DISTANCE_CUT = 0.12
"""A distance that 500 rows an arm can see."""
SIGNIFICANCE = 0.002

Margin = tuple[float, float]
"""A difference that the answer rests on, and its standard error."""


@dataclass(frozen=True)
class Estimate:
    """A plug-in answer with the margins that it rests on."""

    answer: JSON
    margins: tuple[Margin, ...] = ()


def estimate(fields: Mapping[str, JSON], evidence: Evidence) -> Estimate | None:
    """Return the plug-in answer to a question, or None where the evidence says nothing about it.

    Args:
        fields: ``question.fields`` of the brief.
        evidence: all replies so far.
    """
    return _RULES[fields["form"]](fields, evidence)


def tried_actions(fields: Mapping[str, JSON], evidence: Evidence) -> dict[tuple[str, str], Mean]:
    """Return the mean index of the outcome for every action that was sampled by itself."""
    found = {}
    for do in evidence.settings():
        mean = evidence.mean(fields["variable"], do) if len(do) == 1 else None
        if mean is not None:
            found[next(iter(do.items()))] = mean
    return found


def gains(fields: Mapping[str, JSON], evidence: Evidence) -> dict[tuple[str, str], Margin]:
    """Return each tried action's estimated gain; the smallest over groups where the question has groups.

    Actions that do harm beyond the question's slack are left out.
    """
    found: dict[tuple[str, str], Margin] = {}
    for action in tried_actions(fields, evidence):
        gain = _gain(fields, evidence, action)
        if gain is not None and not _harmful(fields, evidence, action):
            found[action] = gain
    return found


def distance(one: Counts, other: Counts) -> Margin:
    """Return the total variation distance of two samples and its standard error."""
    p, q = one / one.sum(), other / other.sum()
    variance = (p * (1 - p)).sum() / one.sum() + (q * (1 - q)).sum() / other.sum()
    return float(0.5 * np.abs(p - q).sum()), float(0.5 * np.sqrt(variance))


def changes(evidence: Evidence, cause: str, outcome: str) -> tuple[bool, Margin] | None:
    """Return whether setting ``cause`` visibly moves ``outcome``, with the margin of that verdict."""
    samples = [evidence.counts(outcome, {cause: state}) for state in evidence.states(cause)]
    return _differ([counts for counts in samples if counts is not None])


def _action(fields: Mapping[str, JSON], evidence: Evidence) -> Estimate | None:
    ranked = gains(fields, evidence)
    if not ranked:
        return None
    best = max(ranked, key=lambda action: ranked[action][0])
    gain, error = ranked[best]
    short = fields["at_least"] if fields["about"] == "enough" else 0.0
    return Estimate({"variable": best[0], "state": best[1]}, ((gain - short, error),))


def _verdict_and_action(fields: Mapping[str, JSON], evidence: Evidence) -> Estimate | None:
    found = _action(fields, evidence)
    if found is None:
        return None
    return Estimate({"reject": True, "alternative": found.answer}, found.margins)


def _gain(fields: Mapping[str, JSON], evidence: Evidence, action: tuple[str, str]) -> Margin | None:
    outcome, groups = fields["variable"], fields.get("each")
    wheres = [{groups: state} for state in evidence.states(groups)] if groups else [{}]
    found = []
    for where in wheres:
        mean = evidence.mean(outcome, dict([action]), where)
        base = evidence.mean(outcome, {}, where) or _average(fields, evidence)
        if mean is None or base is None:
            return None
        found.append(base.minus(mean))
    return min(found)


def _average(fields: Mapping[str, JSON], evidence: Evidence) -> Mean | None:
    """Stand in for ordinary records where none were drawn: the average over the tried actions."""
    means = list(tried_actions(fields, evidence).values())
    if not means:
        return None
    rows = sum(mean.rows for mean in means)
    value = sum(mean.value * mean.rows for mean in means) / rows
    return Mean(value, sum(mean.variance * mean.rows**2 for mean in means) / rows**2, rows)


def _harmful(fields: Mapping[str, JSON], evidence: Evidence, action: tuple[str, str]) -> bool:
    keep = fields.get("keep")
    if keep is None:
        return False
    after, before = evidence.mean(keep, dict([action])), evidence.mean(keep)
    return after is None or before is None or after.minus(before)[0] > HARM_CUT


def _yes_no(fields: Mapping[str, JSON], evidence: Evidence) -> Estimate | None:
    if fields["about"] == "setting":
        verdict = changes(evidence, fields["other"], fields["variable"])
    else:
        verdict = _dependent(fields, evidence)
    if verdict is None:
        return None
    yes = verdict[0] == (fields["about"] == "setting")
    return Estimate("yes" if yes else "no", (verdict[1],))


def _dependent(fields: Mapping[str, JSON], evidence: Evidence) -> tuple[bool, Margin] | None:
    """Return whether two variables are visibly dependent, in any stratum of what is given."""
    given = fields.get("given")
    strata = [{given: state} for state in evidence.states(given)] if given else [{}]
    found = []
    for stratum in strata:
        verdict = _association(evidence, (fields["variable"], fields["other"]), stratum)
        if verdict is not None:
            found.append(verdict)
    return max(found, key=lambda verdict: (verdict[0], verdict[1][0])) if found else None


def _association(
    evidence: Evidence, pair: tuple[str, str], stratum: Mapping[str, str]
) -> tuple[bool, Margin] | None:
    for one, other in (pair, pair[::-1]):
        samples = [evidence.counts(one, {}, {**stratum, other: state}) for state in evidence.states(other)]
        shown = [counts for counts in samples if counts is not None]
        if len(shown) > 1:
            return _differ(shown)
    return None


def _differ(samples: list[Counts]) -> tuple[bool, Margin] | None:
    """Test whether samples share one distribution; the margin is of the largest distance between two."""
    if len(samples) < 2:
        return None
    apart, error = max(distance(one, other) for one, other in combinations(samples, 2))
    different = _significance(np.array(samples)) < SIGNIFICANCE
    return different, (apart if different else DISTANCE_CUT - apart, error)


def _significance(table: Counts) -> float:
    """Return the p-value of the chi-square test of homogeneity, shape (samples, states)."""
    from scipy.special import chdtrc

    table = table[:, table.sum(axis=0) > 0]
    rows, columns = table.shape
    if columns < 2:
        return 1.0
    wanted = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - wanted) ** 2 / wanted).sum())
    return float(chdtrc((rows - 1) * (columns - 1), statistic))


def _names(fields: Mapping[str, JSON], evidence: Evidence) -> Estimate | None:
    asked, found, margins = fields["variable"], [], []
    for name in evidence.variables:
        if name != asked:
            pair = (name, asked) if fields["about"] == "upstream" else (asked, name)
            verdict = changes(evidence, *pair)
            if verdict is not None:
                found += [name] if verdict[0] else []
                margins.append(verdict[1])
    return Estimate(found, tuple(margins)) if margins else None


def _name(fields: Mapping[str, JSON], evidence: Evidence) -> Estimate | None:
    outcome, cause = fields["variable"], fields["other"]
    spreads: dict[str, Margin] = {}
    for name in evidence.variables:
        if name not in (outcome, cause):
            moved = _spread(evidence, outcome, [{name: state} for state in evidence.states(name)])
            if moved is not None:
                spreads[name] = moved
    if not spreads:
        return None
    ranked = sorted(spreads, key=lambda name: spreads[name][0], reverse=True)
    ahead = spreads[ranked[0]][0] - (spreads[ranked[1]][0] if len(ranked) > 1 else 0.0)
    return Estimate(ranked[0], ((ahead, spreads[ranked[0]][1]),))


def _spread(evidence: Evidence, outcome: str, settings: list[dict[str, str]]) -> Margin | None:
    means = [mean for do in settings if (mean := evidence.mean(outcome, do)) is not None]
    if len(means) < 2:
        return None
    high, low = max(means, key=lambda m: m.value), min(means, key=lambda m: m.value)
    return high.minus(low)


def _label(fields: Mapping[str, JSON], evidence: Evidence) -> Estimate | None:
    """Compare the treatment's extremes at each held state of the proposed variable."""
    outcome, cause, through = fields["variable"], fields["other"], fields["through"]
    states = evidence.states(cause)
    means = {state: mean for state in states if (mean := evidence.mean(outcome, {cause: state})) is not None}
    if len(means) < 2:
        return None
    high, low = max(means, key=lambda s: means[s].value), min(means, key=lambda s: means[s].value)
    left = []
    for held in evidence.states(through):
        pair = [evidence.mean(outcome, {cause: state, through: held}) for state in (high, low)]
        if pair[0] is not None and pair[1] is not None:
            left.append(pair[0].minus(pair[1]))
    if not left:
        return None
    residual = float(np.mean([value for value, _ in left]))
    error = float(np.sqrt(sum(e**2 for _, e in left))) / len(left)
    alone = _spread(evidence, outcome, [{through: state} for state in evidence.states(through)])
    crossed = [{cause: high, through: held} for held in evidence.states(through)]
    moved = alone or _spread(evidence, outcome, crossed)
    if moved is not None and moved[0] <= SPREAD_CUT:
        return Estimate(LABELS[2], ((SPREAD_CUT - moved[0], moved[1]),))
    label = LABELS[0] if residual <= RESIDUAL_CUT else LABELS[1]
    margins = [(abs(residual - RESIDUAL_CUT), error)]
    return Estimate(label, tuple(margins + ([(moved[0] - SPREAD_CUT, moved[1])] if moved else [])))


_RULES: Mapping[str, Callable[[Mapping[str, JSON], Evidence], Estimate | None]] = {
    "action": _action,
    "verdict_and_action": _verdict_and_action,
    "yes_no": _yes_no,
    "names": _names,
    "name": _name,
    "label": _label,
}
