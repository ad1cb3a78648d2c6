"""Small cards of our own, one for each shape that a law can have, and ways to play a task."""

from __future__ import annotations

from typing import Any

from cards.card import Card
from environments.law.definition import LawDefinition
from environments.law.family import LAW
from environments.law.generate import Pair, make_pair
from environments.session import Session
from environments.task import JSON, Options, Record, Task

SEED = bytes(range(32))
KEY = b"release key of the tests, 32 byte"[:32]


def _card(name: str, inputs: list[JSON], observables: list[JSON], **more: Any) -> Card:
    return Card.model_validate(
        {
            "id": name,
            "title": f"Law of {name}",
            "collection": "historical",
            "discipline": "physics",
            "source": {"authors": "A. Author", "title": "On springs", "year": 1900},
            "inputs": [{"description": "a setting"} | item for item in inputs],
            "observables": [
                {"description": "a reading", "absolute_tolerance": 1e-3, "resolution": 1e-4} | item
                for item in observables
            ],
            "relative_tolerance": 0.01,
            "conditions": ["at rest"],
            "background": "A bench with knobs and a gauge.",
        }
        | more
    )


def _input(name: str, unit: str, low: float, high: float, **more: Any) -> JSON:
    return {"name": name, "unit": unit, "low": low, "high": high} | more


def _parameter(name: str, value: float, unit: str, *, told: bool = False) -> JSON:
    return {"name": name, "value": value, "unit": unit, "source": "made up", "told": told}


SPRING = _card(
    "spring_one",
    [_input("x", "m", 0.5, 2.0)],
    [{"name": "F", "unit": "N", "relation": "k*x"}],
    parameters=[_parameter("k", 12.0, "N/m")],
)
"""One input, one hidden parameter: no interaction is possible."""

BEAM = _card(
    "beam_two",
    [_input("w", "m", 0.5, 2.0), _input("q", "N", 2.0, 9.0, scale="log")],
    [
        {"name": "b", "unit": "N*m", "relation": "g*q*w + h*w^2"},
        {"name": "p", "unit": "N", "relation": "2*q + h*w", "resolution": None, "significant_digits": 6},
    ],
    parameters=[
        _parameter("g", 1.6021, "1", told=True),
        _parameter("h", 3.5, "N/m"),
    ],
)
"""Two observables that share inputs and a hidden parameter; one told parameter; a log scale."""

LEVELS = _card(
    "levels_three",
    [
        _input("a", "1", 1, 3, integer=True),
        _input("b", "1", 2, 6, integer=True),
        _input("s", "s", 1.0, 4.0),
    ],
    [{"name": "y", "unit": "s", "relation": "s*(1/a^2 - 1/b^2)"}],
    constraints=["b > a"],
)
"""Whole inputs, a constraint between them, and an input that has the mixing parameter's name."""

CARDS = (SPRING, BEAM, LEVELS)


def pair(card: Card = BEAM, tier: str = "medium", seed: bytes = SEED) -> Pair:
    """Return a pair of one of the example cards."""
    return make_pair(card, seed, tier)


def definition(variant: str = "counterfactual", card: Card = BEAM, tier: str = "medium") -> LawDefinition:
    """Return the definition of one twin."""
    made = pair(card, tier).definition
    return made.model_copy(update={"s": int(variant == "counterfactual")})


def options(protocol: str = "prior", setting: str = "discovery") -> Options:
    """Return options of a session."""
    return Options(setting=setting, protocol=protocol)


def open_session(task: Task | LawDefinition, opened: Options) -> Session:
    """Open a law session."""
    document = task.definition if isinstance(task, Task) else task.model_dump(mode="json")
    return Session(LAW.open(document, opened, b""), opened)


def completion(predictor: JSON, *, confidence: float = 0.95) -> JSON:
    """Return the arguments of a completion that keeps all rules (with the default confidence)."""
    return {
        "hypotheses": [
            {"id": "h1", "statement": "this", "confidence": confidence},
            {"id": "h2", "statement": "that", "confidence": 1 - confidence},
        ],
        "selected": "h1",
        "predictor": predictor,
        "explanation": "because",
        "conditions": ["here"],
    }


def submit(task: Task | LawDefinition, predictor: JSON, opened: Options | None = None, **more: Any) -> Record:
    """Complete at once with a predictor and return the record."""
    opened = opened or options()
    session = open_session(task, opened)
    reply = session.call("complete", completion(predictor, **more), "k")
    assert reply.ok, reply.error
    return session.record()


def proposal(known: LawDefinition, forecasts: tuple[float, float] = (1.0, 2.0), **changes: Any) -> JSON:
    """Return a proposal that keeps all rules, at the first preset experiment."""
    asked = [item.name for item in known.observables]
    base = {
        "hypotheses": [
            {
                "id": f"h{number}",
                "statement": f"statement {number}",
                "confidence": 0.5,
                "forecasts": dict.fromkeys(asked, value),
            }
            for number, value in enumerate(forecasts)
        ],
        "inputs": {name: values[0] for name, values in known.design.items()},
        "observables": asked,
    }
    return base | changes
