"""Scores, axes and audit of records that are made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from environments.checks import play
from environments.organism.build import record_session, session_task
from environments.organism.census import separates, take_census
from environments.organism.family import ORGANISM
from environments.organism.generate import truth
from environments.organism.insiders import best_rescue, reference
from environments.organism.judge import judge, rescue_score
from environments.organism.rules import contrast, nothing
from environments.task import Options
from tests.environments.organism.made import KEY, Player, definition, specimens
from tests.environments.organism.naive import Naive


def right_values(known, number: int) -> dict[str, float]:
    values = truth(known.organism.network, [(known.state, known.plan(known.tasks[number]))])[0]
    return dict(zip(known.phenotypes, values.tolist(), strict=True))


def test_the_reference_gets_full_marks_and_none_almost_nothing() -> None:
    """Full marks on every organism of every tier; None restores only by noise and never names the cause."""
    restored = []
    for specimen in specimens():
        known = specimen.sessions["diseased"]
        full = judge(known, record_session(known, reference(known)))
        assert (full.headline, full.passed) == (1.0, {"weak": True, "strict": True})
        none = judge(known, record_session(known, nothing()))
        assert none.parts["exact"] == 0.0
        restored.append(none.passed["weak"])
    assert np.mean(restored) < 0.3  # 15 organisms: two by noise alone would be no surprise


def test_prediction_counts_values_within_tolerance() -> None:
    """.079 off is right and .081 off is wrong; a task that was not predicted counts as three wrong values."""
    known = definition()
    player = Player(known)
    near = {n: v + (0.079 if v < 0.9 else -0.079) for n, v in right_values(known, 0).items()}
    first = known.phenotypes[0]
    near[first] += 0.002 if near[first] > right_values(known, 0)[first] else -0.002
    assert player("submit_prediction", task="prediction-1", values=near).ok
    assert judge(known, player.session.record()).parts["prediction"] == pytest.approx(2 / 6)


def test_diagnosis_is_graded_and_exact_apart() -> None:
    """Target and kind 1, target alone .5, anything else 0; exact counts the first only."""
    known = next(s.sessions["diseased"] for s in specimens() if s.sessions["diseased"].fault != "PERSIST")
    name = known.names[known.target]
    wrong = "LOCK_LO" if known.fault == "LOCK_HI" else "LOCK_HI"
    other = next(gene for gene in known.visible if gene != name)
    grades = []
    for target, kind in ((name, known.fault), (name, wrong), (other, known.fault)):
        player = Player(known)
        assert player("submit_malfunction_hypothesis", target=target, type=kind).ok
        parts = judge(known, player.session.record()).parts
        grades.append((parts["diagnosis"], parts["exact"]))
    assert grades == [(1.0, 1.0), (0.5, 0.0), (0.0, 0.0)]


def test_rescue_counts_aberrant_phenotypes_alone_and_the_last_test() -> None:
    """The corrected metric: what was healthy all along earns nothing; the last tested rescue counts."""
    for specimen in specimens():
        known = specimen.sessions["diseased"]
        organism = known.organism
        assert rescue_score(organism, None) == 0.0
        assert rescue_score(organism, {}) in (0.0, 0.5, 1.0)
        cure = best_rescue(organism)
        assert cure is not None
        useless = next(
            plan
            for plan in organism.network.interventions
            if rescue_score(organism, plan) == 0.0 and plan != cure
        )
        player = Player(known)
        player("submit_malfunction_hypothesis", target=known.visible[0], type="LOCK_HI")
        assert player("test_rescue", interventions=known.named(cure)).ok
        assert judge(known, player.session.record()).parts["rescue"] == 1.0
        assert player("test_rescue", interventions=known.named(useless)).ok
        assert judge(known, player.session.record()).parts["rescue"] == 0.0


def test_the_restored_flags_are_what_is_scored() -> None:
    """The flags of a rescue test are those of its score; its error is against the healthy baseline."""
    known = definition()
    player = Player(known)
    player("submit_malfunction_hypothesis", target=known.visible[0], type="LOCK_HI")
    for gene in known.visible[:6]:
        reply = player("test_rescue", interventions={gene: "BLOCK"})
        flags = [reply.data["restored"][name] for name in known.phenotypes]
        expected = float(np.array(flags)[known.organism.aberrant].mean())
        assert judge(known, player.session.record()).parts["rescue"] == expected


def test_axes_count_volume_breadth_and_direction() -> None:
    """Two genes of 20 probed, one of them down and up; a signal counts as a target but not as breadth."""
    known = definition()
    player = Player(known)
    one, two = known.visible[:2]
    player.run(**{one: "DAMPEN"})
    player.run(**{one: "BOOST", two: "BLOCK"})
    player.run(**{known.signals[0]: "ON"})
    parts = judge(known, player.session.record()).parts
    assert (parts["experiments"], parts["breadth"]) == (3.0, 0.1)
    assert parts["both_directions"] == pytest.approx(1 / 3)
    assert parts["budget_used"] == pytest.approx(3 / 31)


@pytest.mark.parametrize(("actions", "directions"), [((), 0), (("BLOCK",), 1), (("DAMPEN", "BOOST"), 2)])
def test_directions_of_the_cause_count_before_the_commit(actions: tuple[str, ...], directions: int) -> None:
    """Never, one, both; what is tried after the commit does not count."""
    known = next(s.sessions["diseased"] for s in specimens() if s.sessions["diseased"].fault != "PERSIST")
    name = known.names[known.target]
    player = Player(known)
    for action in actions:
        player.run(**{name: action})
    player("submit_malfunction_hypothesis", target=known.signals[0], type="PERSIST")
    player.run(**{name: "BLOCK"})
    player.run(**{name: "BOOST"})
    parts = judge(known, player.session.record()).parts
    assert parts["cause_directions"] == directions
    assert parts["before"] == len(actions)


def test_the_audit_marks_discriminating_experiments() -> None:
    """Share, encounter and lag follow from which experiments tell an alternative from the cause, found
    again here in plain loops; combinations are simulated."""
    known = next(s.sessions["diseased"] for s in specimens() if s.census.relevant)
    organism, census = known.organism, take_census(known.organism)
    naive = Naive(organism.network)

    def gap(rival, plan) -> float:
        pair = [naive.phenotypes(naive.state(fault, plan, 1e-12)) for fault in (organism.fault, rival)]
        return max(abs(a - b) for a, b in zip(*pair, strict=True))

    singles = organism.network.interventions
    for index, plan in enumerate(singles):
        told = any(gap(rival, plan) > 0.10 for rival in census.alternatives)
        assert told == bool(census.discriminating[index]), plan
    telling = singles[int(np.flatnonzero(census.discriminating)[0])]
    idle = [plan for index, plan in enumerate(singles) if not census.discriminating[index]][:2]
    double = {**idle[0], **idle[1]} if set(idle[0]) != set(idle[1]) else idle[0]
    player = Player(known)
    for plan in (idle[0], telling, double):
        assert player.run(**known.named(plan)).ok
    player("submit_malfunction_hypothesis", target=known.visible[0], type="LOCK_HI")
    parts = judge(known, player.session.record()).parts
    both = len(double) == 2 and any(separates(organism.network, organism.fault, census.alternatives, double))
    assert parts["discriminating"] == pytest.approx((1 + both) / 3)
    assert (parts["encountered"], parts["lag"], parts["single_evidence"]) == (1.0, 1.0, 1.0)
    assert parts["chance"] == pytest.approx(float(census.discriminating.mean()))


def test_the_census_is_exhaustive() -> None:
    """Alternatives and classes are those of plain loops over every fault, on 6 organisms of all tiers."""
    for specimen in specimens()[::3]:
        organism = specimen.sessions["diseased"].organism
        naive = Naive(organism.network)
        own = naive.phenotypes(naive.state(organism.fault, {}, 1e-12))
        rivals = [
            fault
            for fault in organism.network.faults
            if fault != organism.fault
            and max(
                abs(a - b) for a, b in zip(naive.phenotypes(naive.state(fault, {}, 1e-12)), own, strict=True)
            )
            <= 0.10
        ]
        assert list(specimen.census.alternatives) == rivals


def test_healthy_sessions_are_scored_on_prediction_alone() -> None:
    """Headline and weak follow from the six values; strict is not asked."""
    known = definition("healthy")
    player = Player(known)
    for number in (0, 1):
        player("submit_prediction", task=f"prediction-{number + 1}", values=right_values(known, number))
    assert player("finish").done
    score = judge(known, player.session.record())
    assert (score.headline, score.passed) == (1.0, {"weak": True, "strict": None})
    assert "rescue" not in score.parts


def test_contrast_sweep_beats_chance_at_evidence() -> None:
    """A scripted session that sweeps everything meets discriminating evidence on almost every organism."""
    met = []
    for specimen in specimens():
        if specimen.census.relevant:
            known = specimen.sessions["diseased"]
            met.append(judge(known, record_session(known, contrast())).parts["encountered"])
    assert np.mean(met) > 0.8


def test_sweeping_insiders_play_through_a_session() -> None:
    """Each privileged sweep submits everything and needs no experiment of the budget but the rescue."""
    task = session_task(KEY, specimens()[0], "diseased")
    options = Options(setting=task.row.setting, protocol="session")
    for name in ("causal-sweep", "sweep-best", "contrast-sweep-40"):
        record = play(ORGANISM, task, options, ORGANISM.insiders[name](task.definition, options))
        assert record.ending == "completed"
        assert record.events[-1].reply.remaining == {"experiments": 30}
        assert ORGANISM.judge(task.definition, record).status == "scored"
