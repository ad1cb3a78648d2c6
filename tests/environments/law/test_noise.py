"""Noise of readings: off by default, declared in the brief, drawn from the session's seed."""

from __future__ import annotations

from functools import cache

import numpy as np

from environments.law.definition import LawDefinition
from environments.law.family import LAW
from environments.session import Session
from environments.task import JSON, Task
from tests.environments.examples import BEAM, KEY, options

NOISE = 0.3


@cache
def task(noise: float = NOISE) -> Task:
    """Return an original in Discovery."""
    built = LAW.build([BEAM], {"noise": noise}, KEY)
    return next(t for t in built if t.row.setting == "discovery" and t.facets["variant"] == "original")


def open_with(seed: bytes, noise: float = NOISE, protocol: str = "fixed:16") -> Session:
    """Open a session of one seed."""
    opened = options(protocol)
    return Session(LAW.open(task(noise).definition, opened, seed), opened)


def read(session: Session) -> JSON:
    """Return the preset readings."""
    return session.call("read_observations", {}, "a").data["experiments"]


def proposal(session: Session, key: str) -> JSON:
    """Measure one and the same point."""
    forecasts = ({"b": 1.0, "p": 1.0}, {"b": 9.0, "p": 9.0})
    hypotheses = [
        {"id": f"h{i}", "statement": f"statement {i}", "confidence": 0.5, "forecasts": f}
        for i, f in enumerate(forecasts)
    ]
    args = {"hypotheses": hypotheses, "inputs": {"w": 1.0, "q": 4.0}, "observables": ["b", "p"]}
    return session.call("propose_experiment", args, key).data["observations"]


def test_noise_is_off_by_default() -> None:
    """Without the setting nothing is drawn: two seeds read the same."""
    assert read(open_with(b"a" * 32, 0.0)) == read(open_with(b"b" * 32, 0.0))
    assert LawDefinition.model_validate(task(0.0).definition).noise == 0.0


def test_a_seed_reads_the_same_and_another_reads_otherwise() -> None:
    """The same seed and actions give the same readings, in both protocols."""
    assert read(open_with(b"a" * 32)) == read(open_with(b"a" * 32)) != read(open_with(b"b" * 32))
    sessions = [open_with(b"a" * 32, protocol="adaptive") for _ in range(2)]
    first, second = ([proposal(session, key) for key in "xyz"] for session in sessions)
    assert first == second
    assert first[0] != first[1] != first[2]


def test_noise_has_the_declared_size() -> None:
    """Over 64 seeds and 16 readings the spread in tolerances is the declared one, within 7 % (4 sigma)."""
    known = LawDefinition.model_validate(task().definition)
    exact = known.respond(known.columns(known.design))
    errors = []
    for number in range(64):
        for i, item in enumerate(read(open_with(bytes([number]) * 32))):
            for observable in known.observables:
                truth = exact[observable.name][i : i + 1]
                scale = float(known.scale_of_error(observable, truth)[0])
                errors.append((item["observations"][observable.name] - float(truth[0])) / scale)
    assert abs(float(np.std(errors)) / NOISE - 1) < 0.07
    assert abs(float(np.mean(errors))) < 4 * NOISE / len(errors) ** 0.5


def test_the_brief_names_the_noise() -> None:
    """A player is told of the noise and its size; a noisy family is never asked for exact constants."""
    rules = " ".join(open_with(b"a" * 32).brief["protocol"]["rules"])
    assert "standard deviation of 0.3 times" in rules
    assert "noise" not in " ".join(open_with(b"a" * 32, 0.0).brief["protocol"]["rules"]).replace(
        "free of noise", ""
    )
    assert task().facets["strict"] == "weak-only"
