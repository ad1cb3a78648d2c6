"""A release folder: reading it back, and finding every kind of damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cards.canonical import canonical_json
from cards.errors import InputError, ReleaseError
from curation.signature import make_key, sign
from environments.check_release import check_release
from environments.release import Release, check_version, version_order
from tests.mini_release import tasks, write_release


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_release(tmp_path / "release")
    return tmp_path / "release"


def test_a_whole_release_has_no_findings(folder: Path) -> None:
    """A release as sealed passes every check."""
    assert check_release(folder) == []


def test_tasks_come_back_as_they_were_built(folder: Path) -> None:
    """Row, brief, definition, evaluation inputs and answer are joined to the task that was sealed."""
    release = Release.open(folder)
    assert list(release.tasks()) == tasks()
    assert [row.id for row in release.rows()] == [task.row.id for task in tasks()]


def test_the_public_part_alone_gives_rows_but_no_task(folder: Path) -> None:
    """Without the sealed part rows can be read and a task is refused with a remedy."""
    for path in (folder / "sealed").iterdir():
        path.unlink()
    (folder / "sealed").rmdir()
    release = Release.open(folder)
    assert len(release.rows()) == 6
    assert not release.has_sealed
    assert check_release(folder) == []
    with pytest.raises(ReleaseError, match="sealed part"):
        release.task(release.rows()[0].id)


def test_an_unknown_task_is_an_input_error(folder: Path) -> None:
    """A task id that the release does not hold is the caller's mistake."""
    with pytest.raises(InputError, match="no task"):
        Release.open(folder).task("0" * 16)


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data) or b"x")


def test_one_changed_bit_of_any_file_is_found(folder: Path) -> None:
    """Every file of both parts is covered by the manifest."""
    for path in sorted(folder.glob("*/*")):
        whole = path.read_bytes()
        _flip(path)
        assert "files" in {finding.check for finding in check_release(folder)}, path
        path.write_bytes(whole)
    assert check_release(folder) == []


DAMAGE: dict[str, Callable[[Path], object]] = {
    "unlisted": lambda folder: (folder / "public" / "extra.txt").write_text("x"),
    "beside": lambda folder: (folder / "extra.txt").write_text("x"),
    "files": lambda folder: (folder / "public" / "LICENSE-DATA").unlink(),
    "canonical": lambda folder: (folder / "manifest.json").write_bytes(
        json.dumps(json.loads((folder / "manifest.json").read_bytes()), indent=1).encode()
    ),
    "manifest": lambda folder: (folder / "manifest.json").write_bytes(b'{"version": "../x"}'),
}


@pytest.mark.parametrize("check", DAMAGE)
def test_damage_is_found_by_name(folder: Path, check: str) -> None:
    """Each kind of damage is named by the check that found it."""
    DAMAGE[check](folder)
    assert check in {finding.check for finding in check_release(folder)}


def _rewrite(folder: Path, name: str, change: Callable[[list[dict[str, object]]], object]) -> None:
    """Change rows of a file and let the manifest agree with its new bytes, as a cheating publisher would."""
    path = folder / name
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    change(rows)
    data = b"".join(canonical_json(row) + b"\n" for row in rows)
    path.write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    from hashlib import sha256

    for entry in manifest["files"]:
        if entry["path"] == name:
            entry |= {"bytes": len(data), "sha256": sha256(data).hexdigest()}
            entry["rows"] = len(rows) - ("salt" in rows[0])
    (folder / "manifest.json").write_bytes(canonical_json(manifest))


CHEATS: dict[str, tuple[str, Callable[[list[dict[str, object]]], object]]] = {
    "commitments": ("sealed/answers.jsonl", lambda rows: rows[1].update(answer={"s": 7})),
    "unique_ids": ("public/tasks.jsonl", lambda rows: rows.append(rows[0])),
    "counts": ("public/tasks.jsonl", lambda rows: rows.pop()),
    "salts": ("sealed/links.jsonl", lambda rows: rows.pop(0)),
    "schemas": ("public/tasks.jsonl", lambda rows: rows[0].update(variant="original")),
    "checksums": ("public/sources.jsonl", lambda rows: rows.append({"doi": "10.1/x"})),
}


@pytest.mark.parametrize("check", CHEATS)
def test_a_change_that_the_manifest_agrees_with_is_found(folder: Path, check: str) -> None:
    """Digests alone do not make a release: its parts must fit together as well."""
    if check == "checksums":
        (folder / "public" / "sources.jsonl").write_bytes(b'{"doi":"10.1/y"}\n')
    name, change = CHEATS[check]
    _rewrite(folder, name, change)
    assert check in {finding.check for finding in check_release(folder)}


def test_the_signature_is_checked_when_a_key_is_given(folder: Path, tmp_path: Path) -> None:
    """A missing, a foreign and a good signature are told apart."""
    public = make_key(tmp_path / "config")
    assert [f.check for f in check_release(folder, public)] == ["signature"]
    manifest = (folder / "manifest.json").read_bytes()
    (folder / "manifest.sig").write_bytes(sign(manifest, public, tmp_path / "config"))
    assert check_release(folder, public) == []
    assert [f.check for f in check_release(folder, make_key(tmp_path / "config"))] == ["signature"]


@pytest.mark.parametrize(
    "text", ["../x", "/etc", "2026.11", "2026.011.0", "2026.13.0", "2026.11.0/..", "", "latest"]
)
def test_a_version_is_never_a_path(text: str) -> None:
    """Only YYYY.M.PATCH without leading zeros is a version."""
    with pytest.raises(InputError):
        check_version(text)


def test_versions_sort_by_number() -> None:
    """2026.11.0 comes after 2026.2.10."""
    assert sorted(["2026.11.0", "2026.2.10", "2026.2.9"], key=version_order) == [
        "2026.2.9",
        "2026.2.10",
        "2026.11.0",
    ]
