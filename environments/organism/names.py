"""Invented vocabulary: nothing in a name can be looked up.

Source: "Treating the Symptom, Missing the Cause", appendix 7 (invented vocabulary). The words are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SIGNAL_WORDS = (
    "ember", "flint", "gable", "hollow", "kettle", "lattice", "marble", "nimbus", "orchard", "pebble",
    "quarry", "ripple", "saddle", "tassel", "umber", "velvet", "willow", "yarrow",
)  # fmt: skip
SIGNAL_LETTERS = "BCDFHJKLMNQRTVWXZ"
PHENOTYPE_WORDS = (
    "balance", "cadence", "clarity", "drift", "folding", "glimmer", "harbour", "lantern", "mosaic",
    "parity", "resonance", "shimmer", "spindle", "tempo", "turning", "weave",
)  # fmt: skip
PHENOTYPE_KINDS = ("index", "level", "measure", "quotient", "reading", "tally")


@dataclass(frozen=True)
class Names:
    """Names of one organism; ``genes`` holds an empty text for a gene that has none."""

    genes: tuple[str, ...]
    signals: tuple[str, ...]
    phenotypes: tuple[str, ...]


def draw_names(
    rng: np.random.Generator, visible: Sequence[int], genes: int, signals: int, phenotypes: int
) -> Names:
    """Name the visible genes G001 … in random order, without a gap that would betray the others."""
    numbers = rng.permutation(len(visible)) + 1
    named = {gene: f"G{number:03d}" for gene, number in zip(visible, numbers, strict=True)}
    words = rng.choice(SIGNAL_WORDS, size=signals, replace=False)
    letters = rng.choice(list(SIGNAL_LETTERS), size=signals, replace=False)
    subjects = rng.choice(PHENOTYPE_WORDS, size=phenotypes, replace=False)
    kinds = rng.choice(PHENOTYPE_KINDS, size=phenotypes)
    return Names(
        tuple(named.get(gene, "") for gene in range(genes)),
        tuple(f"{word}-{letter}" for word, letter in zip(words, letters, strict=True)),
        tuple(f"{subject}-{kind}" for subject, kind in zip(subjects, kinds, strict=True)),
    )
