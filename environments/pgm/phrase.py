"""Questions in words. A question names what it must name and says nothing of how the world works.

Source: arXiv 2610.14381, section 3.3 and figures 1 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from environments.pgm.definition import PgmDefinition, Variable
from environments.pgm.question import LABELS
from environments.pgm.rules import SAFE_HARM, SUBGROUP_FLOOR, TIE
from environments.task import JSON

_ACTION_FORM = '{"variable": NAME, "state": STATE}'
_ANY = "Any action whose result is within {tie:g} of the best counts."


def phrase(definition: PgmDefinition) -> dict[str, JSON]:
    """Return the question: its text, the form of its answer, and the same in fields.

    The fields are ``form`` (yes_no, names, label, name, action, verdict_and_action) and whichever of
    ``about``, ``variable``, ``other``, ``given``, ``keep``, ``each``, ``at_least``, ``proposal``,
    ``through`` the text speaks of.
    """
    return _PHRASES[definition.question.kind](definition)


def _causal_effect(d: PgmDefinition) -> dict[str, JSON]:
    a, b = _variable(d, d.question.cause), _variable(d, d.question.outcome)
    text = f"Does setting {a.name} to one state rather than another change the distribution of {b.name}?"
    return _yes_no(text, {"about": "setting", "variable": b.name, "other": a.name})


def _marginal(d: PgmDefinition) -> dict[str, JSON]:
    a, b = _variable(d, d.question.cause), _variable(d, d.question.outcome)
    text = f"Are {a.name} and {b.name} statistically independent in ordinary records?"
    return _yes_no(text, {"about": "independence", "variable": b.name, "other": a.name})


def _conditional(d: PgmDefinition) -> dict[str, JSON]:
    a, b, z = (_variable(d, n) for n in (d.question.cause, d.question.outcome, d.question.given))
    text = (
        f"Are {a.name} and {b.name} statistically independent in ordinary records once the state of {z.name} "
        "is known, whatever that state is?"
    )
    fields = {"about": "independence", "variable": b.name, "other": a.name, "given": z.name}
    return _yes_no(text, fields)


def _yes_no(text: str, fields: dict[str, JSON]) -> dict[str, JSON]:
    return {"text": text, "answer": '"yes" or "no"', "fields": {"form": "yes_no", **fields}}


def _causes(d: PgmDefinition) -> dict[str, JSON]:
    b = _variable(d, d.question.outcome).name
    text = f"Name every variable whose setting changes the distribution of {b}, directly or through others."
    return _names(text, {"about": "upstream", "variable": b})


def _effects(d: PgmDefinition) -> dict[str, JSON]:
    a = _variable(d, d.question.cause).name
    text = f"Name every variable whose distribution changes when {a} is set, directly or through others."
    return _names(text, {"about": "downstream", "variable": a})


def _names(text: str, fields: dict[str, JSON]) -> dict[str, JSON]:
    return {"text": text, "answer": "a list of variable names", "fields": {"form": "names", **fields}}


def _safety(d: PgmDefinition) -> dict[str, JSON]:
    watched = _variable(d, d.question.watched)
    text = (
        f"{_wish(d)}, but only if the same action does not move {watched.name} toward {_ends(watched)[1]}. "
        "Recommend one action: one variable set to one state."
    )
    rule = (
        f"A change of the mean index of {watched.name} by {SAFE_HARM:g} or less counts as none. "
        + _ANY.format(tie=TIE)
    )
    fields = {"about": "best", "variable": _outcome(d).name, "keep": watched.name, "slack": SAFE_HARM}
    return _action(f"{text} {rule}", fields)


def _satisficing(d: PgmDefinition) -> dict[str, JSON]:
    least = d.question.threshold
    text = (
        f"{_wish(d)}. Recommend any one action, one variable set to one state, that lowers the mean index of "
        f"{_outcome(d).name} by at least {least:g} against ordinary records."
    )
    return _action(text, {"about": "enough", "variable": _outcome(d).name, "at_least": least})


def _subgroup(d: PgmDefinition) -> dict[str, JSON]:
    group = _variable(d, d.question.group)
    states = " and among those where it is ".join(group.states)
    text = (
        f"{_wish(d)}. The same action must help among records whose {group.name} is {states}. Recommend one "
        "action, one variable set to one state, whose smallest gain over these is largest. The gain is how "
        f"far it lowers the mean index, and {SUBGROUP_FLOOR:g} is the least that counts. "
        + _ANY.format(tie=TIE)
    )
    fields = {"about": "each", "variable": _outcome(d).name, "each": group.name, "at_least": SUBGROUP_FLOOR}
    return _action(text, fields)


def _action(text: str, fields: dict[str, JSON]) -> dict[str, JSON]:
    return {"text": text, "answer": _ACTION_FORM, "fields": {"form": "action", **fields}}


def _invalid(d: PgmDefinition) -> dict[str, JSON]:
    assert d.question.proposed is not None
    node, state = d.question.proposed
    proposed = d.variables[node]
    text = (
        f"{_wish(d)}. A colleague who has read ordinary records proposes to set {proposed.name} to "
        f"{proposed.states[state]}. Say whether this proposal should be rejected, and name the best action, "
        f"one variable set to one state, to take instead if there is any. {_ANY.format(tie=TIE)}"
    )
    fields: dict[str, JSON] = {
        "form": "verdict_and_action",
        "about": "best",
        "variable": _outcome(d).name,
        "proposal": {"variable": proposed.name, "state": proposed.states[state]},
    }
    form = f'{{"reject": true or false, "alternative": {_ACTION_FORM} or null}}'
    return {"text": text, "answer": form, "fields": fields}


def _mediator(d: PgmDefinition) -> dict[str, JSON]:
    a, b = _variable(d, d.question.cause).name, _outcome(d).name
    if d.question.mediator is None:
        text = (
            f"Setting {a} changes {b}. Name the one other variable through which most of this change passes."
        )
        return {
            "text": text,
            "answer": "a variable name",
            "fields": {"form": "name", "about": "through", "variable": b, "other": a},
        }
    m = _variable(d, d.question.mediator).name
    text = (
        f"Setting {a} changes {b}. Does this change pass entirely through {m}, does some of it (with or "
        f"without a part through {m}) take another way, or does none of it pass through {m}?"
    )
    form = ", ".join(f'"{label}"' for label in LABELS)
    fields = {"form": "label", "about": "through", "variable": b, "other": a, "through": m}
    return {"text": text, "answer": f"one of {form}", "fields": fields}


def _wish(d: PgmDefinition) -> str:
    good, bad = _ends(_outcome(d))
    return f"You want to shift {_outcome(d).name} toward {good} and away from {bad}"


def _ends(variable: Variable) -> tuple[str, str]:
    """Return a variable's preferred and its least preferred state."""
    first, last = variable.states[0], variable.states[-1]
    return (first, last) if variable.preferred_low else (last, first)


def _outcome(d: PgmDefinition) -> Variable:
    return d.variables[d.question.outcome]


def _variable(d: PgmDefinition, node: int | None) -> Variable:
    assert node is not None
    return d.variables[node]


_PHRASES: Mapping[str, Callable[[PgmDefinition], dict[str, JSON]]] = {
    "causal_effect": _causal_effect,
    "marginal": _marginal,
    "conditional": _conditional,
    "all_causes_of": _causes,
    "all_effects_of": _effects,
    "safety": _safety,
    "satisficing": _satisficing,
    "subgroup": _subgroup,
    "invalid": _invalid,
    "mediator": _mediator,
}
