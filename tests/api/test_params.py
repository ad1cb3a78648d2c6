"""params.yaml is checked before anything is built from it."""

from __future__ import annotations

import pytest

from api.params import REQUIRED, read_params
from cards.errors import InputError
from curation.template import template

OWN = template()["params.yaml"]


def test_the_projects_own_settings_are_whole() -> None:
    """A fresh workspace's params.yaml can be cut from, and names no model and no source."""
    params = read_params(OWN)
    assert params["extract"]["model"] is None
    assert params["sources"]["categories"] == []


@pytest.mark.parametrize("section", REQUIRED)
def test_a_missing_section_is_named(section: str) -> None:
    """A setting that is missing is named with its section."""
    text = (
        OWN.decode()
        .replace(f"\n{section}:", f"\nnot_{section}:")
        .replace(f"{section}:", f"not_{section}:", 1)
    )
    with pytest.raises(InputError, match=f"lacks {section}"):
        read_params(text.encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"a: [", b"\xff\xfe", b"release: 3"])
def test_what_is_not_settings_is_refused(data: bytes) -> None:
    """Broken YAML and YAML of another shape are input errors, never tracebacks."""
    with pytest.raises(InputError):
        read_params(data)


def test_a_soak_is_not_possible_yet() -> None:
    """A soak of some days is refused rather than ignored."""
    with pytest.raises(InputError, match="soak_days"):
        read_params(OWN.replace(b"soak_days: 0", b"soak_days: 7"))
