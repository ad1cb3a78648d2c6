"""Seal: what is public, what is sealed, and that the split is exact and repeatable."""

from __future__ import annotations

import json
from hashlib import sha256

from cards.canonical import canonical_json
from curation.seal import seal_tasks
from environments.seeding import nonce
from tests.mini_release import KEY, contents, tasks


def _rows(data: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in data.splitlines()]


def test_same_contents_same_bytes() -> None:
    """Equal contents give equal bytes, in whatever order the tasks come."""
    one, other = contents(), contents()
    shuffled = type(other)(record=other.record, key=other.key, tasks=list(reversed(other.tasks)), cards=())
    assert seal_tasks(one) == seal_tasks(shuffled)


def test_public_rows_hold_nothing_but_the_row() -> None:
    """A public row is the task's public part and not a field more; rows are ordered by opaque id."""
    rows = _rows(seal_tasks(contents())["public/tasks.jsonl"])
    assert rows == [task.row.model_dump(mode="json") for task in tasks()]
    assert [row["id"] for row in rows] == sorted(str(row["id"]) for row in rows)


def test_a_commitment_binds_the_answer() -> None:
    """The commitment is sha256(nonce ‖ canonical answer), which anyone can recompute after the reveal."""
    files = seal_tasks(contents())
    public = {row["id"]: row["sha256"] for row in _rows(files["public/commitments.jsonl"])}
    for task in tasks():
        expected = sha256(bytes.fromhex(nonce(KEY, task.row.id)) + canonical_json(task.answer)).hexdigest()
        assert public[task.row.id] == expected


def test_every_sealed_file_begins_with_its_own_salt() -> None:
    """No digest of a sealed file can be guessed from its small content: each has a salt of its own."""
    sealed = {path: data for path, data in seal_tasks(contents()).items() if path.startswith("sealed/")}
    salts = [_rows(data)[0] for data in sealed.values()]
    assert all(set(salt) == {"salt"} and len(str(salt["salt"])) == 64 for salt in salts)
    assert len({str(salt["salt"]) for salt in salts}) == len(sealed) == 7


def test_twins_share_their_evaluation_inputs() -> None:
    """Evaluation inputs are stored once for all tasks that have the same ones."""
    files = seal_tasks(contents(6))
    assert len(_rows(files["sealed/eval_inputs.jsonl"])) == 1 + 3
    definitions = _rows(files["sealed/definitions.jsonl"])[1:]
    assert all("eval_inputs" not in row["definition"] for row in definitions)  # type: ignore[operator]


def test_checksums_can_be_checked_by_sha256sum() -> None:
    """``checksums.txt`` names every other public file with its SHA-256."""
    files = seal_tasks(contents())
    lines = dict(reversed(line.split("  ")) for line in files["public/checksums.txt"].decode().splitlines())
    public = {path.removeprefix("public/") for path in files if path.startswith("public/")}
    assert set(lines) == public - {"checksums.txt"}
    assert all(sha256(files[f"public/{name}"]).hexdigest() == value for name, value in lines.items())


def test_the_datasheet_shows_counts_and_a_canary() -> None:
    """The datasheet says what the release holds and carries the canary."""
    text = seal_tasks(contents())["public/DATASHEET.md"].decode()
    assert "| law | 6 | 3 | discovery 6 |" in text
    assert "almanac-canary" in text
    assert "{" not in text.replace('{"', "")
