"""Certificates of a built release can be run again, and a false one is found."""

from __future__ import annotations

from environments.checks import check_certificates
from environments.law.family import LAW
from environments.task import Task
from tests.environments.examples import CARDS, KEY

TASKS = LAW.build(CARDS, {}, KEY)


def test_every_certificate_comes_out_again() -> None:
    """What a release says of its pairs is what the checks say now."""
    assert check_certificates(TASKS, CARDS) == []


def altered(**update: object) -> list[Task]:
    """Return the first task with its definition changed."""
    task = TASKS[0]
    return [task.model_copy(update={"definition": {**task.definition, **update}})]


def test_a_false_claim_is_found() -> None:
    """A certificate, a class or a strictness that the definition does not earn is named."""
    task = TASKS[0]
    false = [item | {"passed": not item["passed"]} for item in task.definition["certificates"]]
    assert {finding.check for finding in check_certificates(altered(certificates=false), CARDS)} == {
        "certificates"
    }
    wrong_class = altered(pair_class="parametric", strict=not task.definition["strict"])
    assert len(check_certificates(wrong_class, CARDS)) == 2


def test_a_mutation_that_is_weakened_is_found() -> None:
    """A counterfactual whose constants were put back to the original's fails its own certificates."""
    constants = [item | {"counterfactual": item["original"]} for item in TASKS[0].definition["constants"]]
    messages = [finding.message for finding in check_certificates(altered(constants=constants), CARDS)]
    assert any("distinguishable" in message for message in messages)


def test_a_missing_card_is_found() -> None:
    """A task whose card is not in the release cannot be checked, which is a finding."""
    assert all("not in the release" in f.message for f in check_certificates(TASKS, []))
