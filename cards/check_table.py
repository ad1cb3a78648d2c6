"""Every acceptance check by name: what it looks at, why it matters, and what fails it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cards.finding import Finding


@dataclass(frozen=True, slots=True)
class Check:
    """One named check, as a reader sees it."""

    name: str
    what: str
    why: str
    example: str


def _table(*checks: Check) -> Mapping[str, Check]:
    return {check.name: check for check in checks}


CHECKS: Mapping[str, Check] = _table(
    Check(
        "readable",
        "The file is YAML with the fields of a card, and its relations are expressions.",
        "Nothing else can be checked in a file that is not a card.",
        "high: ten",
    ),
    Check(
        "name_invalid",
        "Every name is a letter followed by at most 31 letters, digits and underscores.",
        "Names are variables in expressions; anything else could not be written down in an answer.",
        "name: 2x",
    ),
    Check(
        "name_reserved",
        "No name is that of an operator or of pi.",
        "An input called 'exp' would make exp(x) mean two things.",
        "name: exp",
    ),
    Check(
        "name_duplicate",
        "No two inputs, parameters or observables share a name.",
        "An expression could not say which of the two it means.",
        "an input m and a parameter m",
    ),
    Check(
        "name_undeclared",
        "Every name in a relation or a constraint is an input or a parameter.",
        "A relation with an unknown name has no value.",
        "relation: k*x with no k declared",
    ),
    Check(
        "name_unused",
        "Every input and every parameter stands in a relation (a parameter may stand in a constraint).",
        "A quantity without a role is a slip of transcription, or a hint that part of the law is missing.",
        "a parameter R that no relation uses",
    ),
    Check(
        "text_missing",
        "Title, background, conditions and descriptions are not blank.",
        "A player knows only what stands there.",
        "background: ''",
    ),
    Check(
        "dependent",
        "A dependent parameter follows from parameters before it, a told one from told ones, and its value "
        "is what its relation gives.",
        "A counterfactual changes an independent parameter and works out what depends on it.",
        "value: 25 with relation: 2*k and k = 12",
    ),
    Check(
        "unit_syntax",
        "Every unit is one that the unit table knows; offset temperatures and logarithmic units are not.",
        "0 °C is not 0 of anything, and decibels do not add like numbers.",
        "unit: degC",
    ),
    Check(
        "unit_dimension",
        "Each relation has the dimension of its observable; sums agree; functions get pure numbers.",
        "A relation of wrong dimension was copied wrongly.",
        "metres + seconds",
    ),
    Check(
        "unit_scale",
        "What agrees in dimension agrees in scale too.",
        "Trees run on numbers as declared: kilometres against metres are wrong by a thousand.",
        "an observable in km with a relation in m",
    ),
    Check(
        "unit_magnitude",
        "mag stands for differences only, not for apparent or absolute magnitudes.",
        "A magnitude has a zero point, and a sum of two magnitudes means nothing.",
        "unit: mag for an apparent magnitude",
    ),
    Check(
        "constant_dimension",
        "A parameter marked constant is dimensionless.",
        "Only a pure number can stand in an exponent.",
        "constant: true with unit m",
    ),
    Check(
        "domain",
        "Each domain has low < high; a log scale has low > 0; an integer input has whole bounds.",
        "On an empty or reversed domain there is nothing to measure.",
        "low: 5, high: 1",
    ),
    Check(
        "domain_share",
        "The constraints leave at least 2 % of the box of domains.",
        "A sliver of a domain cannot be explored, and points in it cannot be drawn.",
        "x > 0.999 on [0, 1]",
    ),
    Check(
        "number_size",
        "No number of the card is beyond 1e60, or nearer to zero than 1e-60 without being zero.",
        "Such numbers overflow in products, and are most often a lost sign of an exponent.",
        "high: 1e300",
    ),
    Check(
        "finite",
        "Every relation is finite and real at every point of a dense sample of the domain and its corners.",
        "A simulator that has no answer at a point that it offers is broken.",
        "log(x) on [-1, 1]",
    ),
    Check(
        "influence",
        "Every input changes some observable by more than its tolerance somewhere in the domain.",
        "An input without influence is a decoy at best, and cannot be told from one that is missing.",
        "y = x + 1e-9*z with tolerance 0.01",
    ),
    Check(
        "tolerance",
        "The tolerance is small against the observable's size and its variation on the domain.",
        "Otherwise a constant, or zero, would pass for the law.",
        "absolute_tolerance: 10 for values from 0 to 5",
    ),
    Check(
        "resolution",
        "Half a step of the measurement is at most a quarter of the tolerance, everywhere in the domain.",
        "Rounding by the instrument must not decide whether an answer passes.",
        "resolution: 1 with absolute_tolerance: 0.1",
    ),
    Check(
        "resolution_span",
        "An observable over more than three decades states significant digits, not an absolute step.",
        "One absolute step is either too coarse for the small values or meaningless for the large ones.",
        "values from 1e-3 to 1e3 with resolution: 1e-4",
    ),
    Check(
        "resolution_twice",
        "At most one of resolution and significant_digits is given.",
        "Two roundings would be applied, or one silently ignored.",
        "resolution: 0.1 and significant_digits: 3",
    ),
    Check(
        "giveaway",
        "Background and descriptions neither name the law nor show its form.",
        "The player is to find the relation, not to recall it.",
        "background: A spring that obeys Hooke's law ...",
    ),
    Check(
        "hidden_precision",
        "A hidden parameter has at most three significant digits.",
        "More digits cannot be recovered from rounded readings, so exact equality could not be asked.",
        "told: false with value: 8.314462618",
    ),
    Check(
        "dates",
        "Dates are real days or months, and a Temporal card has a preprint date.",
        "Which players may see a law follows from its dates.",
        "first_preprint: 2025-02-31",
    ),
)
"""The table that ``accept`` and ``explain`` read."""


def failed(check: str, path: str, message: str) -> Finding:
    """Return an error finding of a named check of the table."""
    return Finding(check=CHECKS[check].name, path=path, message=message)
