"""What the segments of the stacked bars of laws are: statuses, numbers of experiments, categories of failure.

Colours differ in lightness too, and where order does not tell them apart each has a letter, so that no reader
depends on hue.
"""

from __future__ import annotations

from environments.law.failures import CATEGORIES
from evaluation.charts import Kind
from evaluation.law_figures import BINS
from evaluation.statistics import STATUS_NAMES

STATUS_KINDS = tuple(
    Kind(name, colour, text, name[0])
    for name, (colour, text) in zip(
        ("valid", *STATUS_NAMES[1:]),
        (
            ("#0b4f8a", "#fff"),
            ("#d55e00", "#fff"),
            ("#f0c75e", "#1c1c1c"),
            ("#8e3d7d", "#fff"),
            ("#000000", "#fff"),
            ("#d0d0d0", "#1c1c1c"),
        ),
        strict=True,
    )
)
BIN_KINDS = tuple(
    Kind(name, colour, text)
    for (name, _, _), (colour, text) in zip(
        BINS,
        (
            ("#e3ecf4", "#1c1c1c"),
            ("#b5d0e6", "#1c1c1c"),
            ("#7fb0d3", "#1c1c1c"),
            ("#3f83b8", "#fff"),
            ("#0b4f8a", "#fff"),
            ("#06233d", "#fff"),
        ),
        strict=True,
    )
)
FAILURE_KINDS = tuple(
    Kind(name, colour, text, code)
    for name, (code, colour, text) in zip(
        CATEGORIES,
        (
            ("S", "#0b4f8a", "#fff"),
            ("N", "#000000", "#fff"),
            ("T", "#8e3d7d", "#fff"),
            ("Y", "#7fb0d3", "#1c1c1c"),
            ("P", "#f0c75e", "#1c1c1c"),
            ("E", "#d55e00", "#fff"),
            ("R", "#7a3e00", "#fff"),
            ("U", "#d0d0d0", "#1c1c1c"),
        ),
        strict=True,
    )
)
