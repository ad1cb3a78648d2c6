"""Read an answer: first its form, which a session insists on, then its names, which are judged.

Source: arXiv 2610.14381, section 4 (canonical answers).
"""

from __future__ import annotations

import re

from environments.pgm.names import Names, QueryError
from environments.pgm.question import CHOICES, LABELS, LISTS, YES_NO, Question
from environments.task import JSON, ActionError

MOST_NAMES = 64
LONGEST_WORD = 200
_PAIR = re.compile(r"^\s*(?:do\s*\(\s*)?(\w+)\s*=\s*(\w+)\s*\)?\s*$")

Action = tuple[int, int]


def check_form(question: Question, answer: JSON) -> ActionError | None:
    """Return why an answer has not the form that its question asks for, or None."""
    if question.kind in YES_NO:
        return None if _verdict(answer) is not None else _bad('the answer must be "yes" or "no"')
    if question.kind in LISTS:
        good = isinstance(answer, list) and len(answer) <= MOST_NAMES and all(_word(item) for item in answer)
        return None if good else _bad(f"the answer must be a list of at most {MOST_NAMES} variable names")
    if question.kind == "mediator":
        return _check_mediator(question, answer)
    if question.kind == "invalid":
        good = isinstance(answer, dict) and set(answer) <= {"reject", "alternative"}
        good = good and isinstance(answer.get("reject"), bool)
        good = good and (answer.get("alternative") is None or _pair(answer["alternative"]) is not None)
        form = '{"reject": true or false, "alternative": {"variable", "state"} or null}'
        return None if good else _bad(f"the answer must be an object {form}")
    assert question.kind in CHOICES
    return None if _pair(answer) else _bad('the answer must be an object {"variable", "state"}')


def _check_mediator(question: Question, answer: JSON) -> ActionError | None:
    if question.mediator is None:
        return None if _word(answer) else _bad("the answer must be a variable name")
    good = isinstance(answer, str) and answer in LABELS
    return None if good else _bad(f"the answer must be one of {', '.join(LABELS)}")


def read_verdict(answer: JSON) -> bool:
    """Return a yes/no answer of good form."""
    return bool(_verdict(answer))


def read_names(answer: JSON, names: Names) -> frozenset[int]:
    """Return the nodes of a list answer of good form.

    Raises:
        QueryError: a name that no variable has.
    """
    return frozenset(names.node(name, f"answer[{i}]") for i, name in enumerate(answer))


def read_action(answer: JSON, names: Names) -> Action:
    """Return the node and state of an action of good form.

    Raises:
        QueryError: an unknown name or state, or a variable that cannot be set.
    """
    pair = _pair(answer)
    assert pair is not None
    node = names.node(pair[0], "answer.variable")
    if not names.variables[node].intervenable:
        raise QueryError(
            "forbidden_variable", f"{names.variables[node].name} cannot be set", "answer.variable"
        )
    return node, names.state(node, pair[1], "answer.state")


def _verdict(answer: JSON) -> bool | None:
    if isinstance(answer, bool):
        return answer
    word = answer.strip().casefold() if isinstance(answer, str) and len(answer) < LONGEST_WORD else ""
    return {"yes": True, "no": False}.get(word)


def _pair(answer: JSON) -> tuple[str, str] | None:
    if isinstance(answer, str) and len(answer) <= LONGEST_WORD:
        match = _PAIR.match(answer)
        return (match.group(1), match.group(2)) if match else None
    if isinstance(answer, dict) and set(answer) == {"variable", "state"}:
        variable, state = answer["variable"], answer["state"]
        return (variable, state) if _word(variable) and _word(state) else None
    return None


def _word(value: JSON) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_WORD


def _bad(message: str) -> ActionError:
    return ActionError(code="malformed", message=message, path="answer")
