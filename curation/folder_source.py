"""A folder of papers that are not on arXiv: each a TeX or text file (or a folder) with metadata beside it.

``NAME.yaml`` describes ``NAME.tex``, ``NAME.txt``, ``NAME.tar.gz``, or the files of a folder ``NAME/``::

    title: A scaling law for …
    authors: [A. Writer, B. Writer]
    journal: Journal of …
    doi: 10.1234/abcd              # optional, as are arxiv, licence, address and discipline
    dates:
      - {kind: published_online, date: 2026-06-12, record_type: journal-article}
      - {kind: preprint_v1, date: 2026-05-03}
"""

from __future__ import annotations

import io
import re
import tarfile
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cards.canonical import digest
from cards.errors import InputError
from curation.arrivals import Arrivals
from curation.date_gate import metadata_facts

MAX_METADATA_BYTES = 100_000
MAX_FILE_BYTES = 64_000_000
SUFFIXES = (".tex", ".txt", ".tar.gz", ".tgz", ".gz", ".tar")
SEE = "docs/papers.md shows a metadata file."
_MAIL = re.compile(r"\S+@\S+")


class Metadata(BaseModel):
    """What a metadata file may say. Addresses of people are dropped, never stored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(min_length=1)
    authors: tuple[str, ...] = ()
    journal: str = ""
    doi: str | None = None
    arxiv: str | None = None
    licence: str | None = None
    address: str | None = None
    discipline: str = ""
    dates: tuple[dict[str, str], ...] = ()


def collect_folder(folder: Path, arrivals: Arrivals, now: datetime) -> list[str]:
    """Record every paper of ``folder`` as an arrival and return the keys, sorted by name.

    A paper that is already recorded with equal bytes and metadata is not recorded again.

    Raises:
        InputError: when the folder does not exist, or a paper of it cannot be used; nothing of that
            paper is recorded.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.", "Give a folder with NAME.yaml beside NAME.tex.")
    known = {
        digest({key: row[key] for key in ("paper", "metadata", "sha256")}) for row in arrivals.rows("sources")
    }
    keys = []
    for description in sorted(folder.glob("*.yaml")):
        metadata = _metadata(description)
        name, content = _content(description)
        row: dict[str, Any] = {
            "paper": f"folder:{description.stem}",
            "metadata": metadata.model_dump(mode="json"),
            "sha256": arrivals.put(content),
        }
        keys.append(row["paper"])
        if digest(row) not in known:
            arrivals.append("sources", {**row, "name": name, "seen": now.isoformat()})
    if not keys:
        raise InputError(
            f"{folder} holds no metadata file.", f"Put NAME.yaml beside each NAME.tex or NAME.txt; {SEE}"
        )
    return keys


def _metadata(path: Path) -> Metadata:
    if path.stat().st_size > MAX_METADATA_BYTES:
        raise InputError(
            f"{path.name} is larger than {MAX_METADATA_BYTES} bytes.", "A metadata file is short."
        )
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506  makes text only
        metadata = Metadata.model_validate(raw)
        metadata_facts(metadata.dates)
    except InputError as error:
        raise InputError(f"{path.name}: {error.message}", error.remedy) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} is not YAML ({error}).", SEE) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path.name}: {place}: {first['msg']}.", SEE) from None
    authors = tuple(_MAIL.sub("", author).strip(" <>,;") for author in metadata.authors)
    return metadata.model_copy(update={"authors": authors})


def _content(description: Path) -> tuple[str, bytes]:
    beside = description.with_suffix("")
    if beside.is_dir():
        return f"{beside.name}.tar", _packed(beside)
    for suffix in SUFFIXES:
        path = description.with_name(description.stem + suffix)
        if path.is_file() and not path.is_symlink():
            if path.stat().st_size > MAX_FILE_BYTES:
                raise InputError(
                    f"{path.name} is larger than {MAX_FILE_BYTES} bytes.", "Split or shorten it."
                )
            return path.name, path.read_bytes()
    raise InputError(
        f"{description.name} describes no paper.",
        f"Put {description.stem}.tex or {description.stem}.txt beside it.",
    )


def _packed(folder: Path) -> bytes:
    """Return a folder's regular files as one tar with equal bytes for equal files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                data = path.read_bytes()
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    if stream.tell() > MAX_FILE_BYTES:
        raise InputError(f"{folder.name} is larger than {MAX_FILE_BYTES} bytes.", "Leave out figures.")
    return stream.getvalue()
