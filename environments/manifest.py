"""The manifest: the one signed file of a release, from which every other byte follows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Literal[1] = 1
VERSION_PATTERN = r"^[1-9][0-9]{3}\.(?:[1-9]|1[0-2])\.(?:0|[1-9][0-9]{0,5})$"
"""``YYYY.M.PATCH`` without leading zeros; nothing that matches it can be a path."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Version = Annotated[str, Field(pattern=VERSION_PATTERN)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class FileEntry(_Frozen):
    """One file of the release; ``rows`` counts data rows (a salt line is none), null for plain text."""

    path: str = Field(pattern=r"^(?:public|sealed)/[A-Za-z0-9][A-Za-z0-9._-]*$")
    role: Literal["public", "sealed"]
    bytes: int = Field(ge=0)
    rows: int | None = Field(default=None, ge=0)
    sha256: Sha256


class Parent(_Frozen):
    """The release before this one."""

    version: Version
    manifest_sha256: Sha256


class Window(_Frozen):
    """Which papers could enter: dates are ISO texts, ``clock`` is the cut's due time."""

    after: str
    first: str | None = None
    last: str | None = None
    clock: str
    guard_days: int


class FamilyCounts(_Frozen):
    """How much of one family a release holds."""

    tasks: int
    clusters: int
    settings: dict[str, int]


class ModelUse(_Frozen):
    """A model that a stage asked: as requested, and as it named itself."""

    role: str
    requested: str
    returned: tuple[str, ...] = ()


class PromptUse(_Frozen):
    """A prompt that a stage used."""

    role: str
    id: str
    version: str
    digest: str
    schema_digest: str


class Manifest(_Frozen):
    """Everything that a release says about itself. Written as canonical JSON; only this is signed."""

    schema_version: Literal[1] = SCHEMA_VERSION
    version: Version
    parent: Parent | None
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    """The hub's commit from which the release was built (never its own)."""
    window: Window
    files: tuple[FileEntry, ...]
    items_root: Sha256
    """SHA-256 over the canonical list of all commitments, ordered by id."""
    counts: dict[str, FamilyCounts]
    rejects: dict[str, int]
    """Candidates that were not accepted, by ``outcome/stage/reason``."""
    sources: int
    source_licences: dict[str, int]
    models: tuple[ModelUse, ...]
    prompts: tuple[PromptUse, ...]
    decision_rule: str
    sign_offs: int
    generators: dict[str, str]
    """Version of each family's generator and judge."""
    seed_commitment: Sha256
    """SHA-256 of the release key, which is published at the reveal."""
    tolerances: dict[str, float]
    tools: dict[str, str]
    lock_digest: Sha256
    canary: str
    licence: str
    reveal: str
