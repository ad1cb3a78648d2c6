"""Probe items: what they show, how the truth is placed, and how replies are read."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from environments.checks import play
from environments.family import Policy
from environments.organism.evidence import FILLER
from environments.organism.family import ORGANISM
from environments.organism.items import balanced
from environments.organism.probes import PROBES, read_token
from environments.seeding import generator
from environments.task import Options, Score, Task
from evaluation.players.organism import Closer
from tests.environments.organism.made import probes, specimens


def answered(task: Task, policy: Policy) -> Score:
    options = Options(setting=task.row.setting, protocol="item")
    return ORGANISM.judge(task.definition, play(ORGANISM, task, options, policy))


def reply(task: Task, text: str) -> Score:
    class Says:
        def start(self, brief, tools) -> None: ...
        def act(self, last):
            return None if last is not None else ("answer", {"text": text})

    return answered(task, Says())


def of(probe: str, kind: str = "") -> list[Task]:
    return [t for t in probes() if t.row.setting == probe and kind in ("", t.facets["collection"])]


def numbers(task: Task) -> tuple[float, float, float]:
    """Return what A and B predict, and what was observed."""
    prompt = task.brief["prompt"]
    a, b = (float(re.search(rf"if {x} holds: about (\S+)", prompt)[1]) for x in "AB")
    return a, b, float(re.search(r"^Observed \S+: (\S+)$", prompt, re.MULTILINE)[1])


def test_every_relevant_organism_has_items_of_every_probe() -> None:
    """Each organism with a separable alternative has decisive clues and every layer; others have none."""
    relevant = {s.name for s in specimens() if s.census.relevant}
    for probe in PROBES:
        assert {task.link["organism"] for task in of(probe)} == relevant, probe
    for name in relevant:
        own = [task for task in probes() if task.link["organism"] == name]
        kinds = Counter(task.facets["collection"] for task in own if task.row.setting == "probe-1")
        assert 1 <= kinds["decisive"] <= 2
        assert Counter(t.row.setting for t in own if t.row.setting.startswith("probe-3")) == {
            "probe-3a": 2,
            "probe-3b": 2,
            "probe-3c": 1,
        }


def test_the_truth_scores_one_everywhere() -> None:
    """A scripted answerer with the truth is right on every item."""
    for task in probes():
        options = Options(setting=task.row.setting, protocol="item")
        assert answered(task, ORGANISM.reference(task.definition, options)).headline == 1.0


def test_the_closer_prediction_is_right_where_there_is_evidence_and_falls_into_the_fillers_trap() -> None:
    """Picking the closer prediction scores 1 on decisive items and 0 on fillers; on fillers of probe 2 it
    revises about half of the time, which is what the items are there to catch."""
    for probe in ("probe-1", "probe-2"):
        for task in of(probe):
            expected = 0.0 if task.facets["collection"] == "filler" else 1.0
            assert answered(task, Closer()).headline == expected, task.brief["prompt"]
    revised = [answered(task, Closer()).parts["revised"] for task in of("probe-2", "filler")]
    assert 0.0 < sum(revised) / len(revised) < 1.0


def test_decisive_and_idle_clues_keep_their_distance() -> None:
    """Decisive predictions differ by more than .10 and the reading lies by its cause; idle ones differ by
    less than .03, and not by nothing."""
    for task in of("probe-1"):
        a, b, observed = numbers(task)
        if task.facets["collection"] == "filler":
            assert 0 < abs(a - b) < FILLER
            assert task.answer == {"answer": "UNDETERMINED"}
        else:
            assert abs(a - b) > 0.10
            closer = "A" if abs(observed - a) < abs(observed - b) else "B"
            assert task.answer == {"answer": closer}


def test_assignments_are_balanced() -> None:
    """A holds the truth as often as B, and the working hypothesis is right as often as wrong (±1)."""
    for probe in ("probe-1", "probe-3b"):
        counts = Counter(t.answer["answer"] for t in of(probe) if t.facets["collection"] != "filler")
        assert abs(counts["A"] - counts["B"]) <= (1 if probe == "probe-1" else 2)
    counts = Counter(task.answer["answer"] for task in of("probe-2"))
    assert abs(counts["RETAIN"] - counts["REVISE"]) <= 2
    for count in range(8):
        made = balanced(count, generator(bytes(32)))
        assert abs(sum(made) - (count - sum(made))) <= 1


def test_probe_layers_share_their_record_and_withdraw_support() -> None:
    """3a, 3b and 3c show one log; 3b lacks the predictions, 3c the candidates; the baseline is no row."""
    for task in of("probe-3c"):
        own = [t for t in probes() if t.link == task.link and t.facets["collection"] == "contrast-sweep"]
        text = {t.row.setting: t.brief["prompt"] for t in own}
        record = text["probe-3c"].split("From this evidence")[0]
        assert text["probe-3a"].startswith(record)
        assert text["probe-3b"].startswith(record)
        assert "holds:" in text["probe-3a"]
        assert "holds:" not in text["probe-3b"]
        assert "(A)" not in text["probe-3c"]
        rows = re.findall(r"^\d+\. ", text["probe-3b"], re.MULTILINE)
        assert len(re.findall("if A holds", text["probe-3a"])) == len(rows)


def test_every_supplied_log_holds_decisive_evidence() -> None:
    """In each item of probe 3a some row's predictions differ by more than .10 in some phenotype."""
    for task in of("probe-3a"):
        lines = task.brief["prompt"].splitlines()
        pairs = [
            [[float(v) for v in re.findall(r"\d\.\d{3}", line)] for line in lines[i : i + 2]]
            for i, line in enumerate(lines)
            if line.startswith("  if A holds:")
        ]
        gaps = [max(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairs]
        assert max(gaps) > 0.0995, task.row.id  # printed to three decimals


@pytest.mark.parametrize(
    ("probe", "text", "token"),
    [
        ("probe-1", " A\n", "A"),
        ("probe-1", "UNDETERMINED", "UNDETERMINED"),
        ("probe-1", "a", None),
        ("probe-1", "A.", None),
        ("probe-1", "The answer is A", None),
        ("probe-1", "", None),
        ("probe-2", "REVISE", "REVISE"),
        ("probe-2", "A", None),
        ("probe-3a", "because …\nANSWER: B", "B"),
        ("probe-3b", "ANSWER: A\nANSWER: B", None),
        ("probe-3b", "ANSWER: A or B", None),
        ("probe-3b", "B", None),
        ("probe-3c", "So.\nANSWER: G007 LOCK_HI", "G007 LOCK_HI"),
        ("probe-3c", "ANSWER: G007", None),
        ("probe-3c", "ANSWER: G007 LOCKED", None),
    ],
)
def test_replies_are_read_by_the_exact_token(probe: str, text: str, token: str | None) -> None:
    """One token, or exactly one ANSWER line; nothing is guessed."""
    assert read_token(probe, text) == token


def test_an_unreadable_reply_is_invalid_and_final() -> None:
    """It counts as a failure, with the reason; no second reply is taken."""
    task = of("probe-1")[0]
    score = reply(task, "I would say B, on balance")
    assert (score.status, score.passed["weak"]) == ("invalid", False)
    assert score.findings
