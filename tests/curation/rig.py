"""What the tests of curation are built from: a paper, its document, a right relation, a polite session."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from curation.document import Document
from curation.paper import DateVerdict, Paper
from curation.parse_child import parse_bytes
from curation.polite import Pace, PoliteSession, Time
from curation.wire import RelationWire
from curation.workbench import Workbench
from gateway.calls import CallStore
from gateway.client import Endpoint, Gateway, Limits, system_clock
from gateway.ledger import Ledger

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
KEY = b"k" * 32

TEX = r"""\documentclass{article}
\begin{document}
\section{Profile}
Stacking the colours of background objects, we find
\begin{equation}
A = A_0 \left(\frac{r}{r_0}\right)^{p}
\end{equation}
where $A$ is the visual extinction in mag, $r$ is the projected radius in kpc, $A_0 = 0.12 \pm 0.04$ mag
is the extinction at the pivot, $r_0 = 20$ kpc is the pivot radius and $p = -1.8 \pm 0.4$ is the exponent
that we fit. The fit covers $10 \le r \le 120$ kpc. We assume the extinction curve of the Milky Way.
\end{document}
"""
QUOTE = TEX.partition("\\end{equation}\n")[2].partition(". The fit")[0]


def paper(key: str = "folder:dust", **changes: Any) -> Paper:
    """Return a paper that passed the date gate."""
    fields: dict[str, Any] = {
        "key": key,
        "origin": "folder",
        "title": "Dust around galaxies",
        "authors": ("A. Writer",),
        "discipline": "astronomy",
        "facts": (
            {
                "kind": "published_online",
                "interval": {"low": "2026-06-12", "high": "2026-06-12"},
                "source": "metadata",
                "raw": "2026-06-12",
                "record_type": "journal-article",
            },
        ),
        "verdict": DateVerdict(outcome="eligible", reason="in_window"),
    }
    return Paper.model_validate(fields | changes)


def document(tex: str = TEX) -> Document:
    """Return the document of a TeX source, parsed in this process."""
    return parse_bytes("folder:dust", "dust.tex", tex.encode())


def relation(**changes: Any) -> RelationWire:
    """Return the right relation of ``TEX``, with top-level fields changed."""
    measured = {"low": None, "high": None, "quote": QUOTE}
    fields: dict[str, Any] = {
        "title": "extinction and radius",
        "background": "Light passes a galaxy. The radius can be chosen and the extinction is read off.",
        "observable": {"name": "A", "symbol": "A", "unit": "mag", "description": "visual extinction"},
        "expression": "A_0*(r/r_0)^p",
        "equation_quote": r"A = A_0 \left(\frac{r}{r_0}\right)^{p}",
        "inputs": [
            {
                "name": "r",
                "symbol": "r",
                "unit": "kpc",
                "description": "projected radius",
                "low_printed": "10",
                "low": 10.0,
                "high_printed": "120",
                "high": 120.0,
                "scale": "linear",
                "quote": r"The fit covers $10 \le r \le 120$ kpc",
            }
        ],
        "parameters": [
            {"name": "A_0", "symbol": "A_0", "unit": "mag", "description": "extinction at the pivot"}
            | {"role": "measured", "printed": "0.12", "value": 0.12, **measured},
            {"name": "r_0", "symbol": "r_0", "unit": "kpc", "description": "pivot radius"}
            | {"role": "reference", "printed": "20", "value": 20.0, **measured},
            {"name": "p", "symbol": "p", "unit": "1", "description": "exponent"}
            | {"role": "measured", "printed": "-1.8", "value": -1.8, **measured},
        ],
        "scatter": None,
        "conditions": [
            {"text": "Milky Way dust", "quote": "We assume the extinction curve of the Milky Way"}
        ],
    }
    return RelationWire.model_validate(fields | changes)


def with_parameter(name: str, **changes: Any) -> RelationWire:
    """Return the right relation with one parameter's fields changed."""
    right = relation()
    items = [item.model_copy(update=changes) if item.name == name else item for item in right.parameters]
    return right.model_copy(update={"parameters": items})


@contextmanager
def polite(folder: Path, interval: float = 0.0, contact: str = "desk@example.org") -> Iterator[PoliteSession]:
    """Yield a polite session on a real client."""
    headers = {"User-Agent": f"almanac-bench (mailto:{contact})"}
    with httpx2.Client(headers=headers, timeout=5.0, trust_env=False) as client:
        pace = Pace(
            folder / "pace.lock", interval, Time(time.time, lambda seconds: time.sleep(min(seconds, 0.3)))
        )
        yield PoliteSession(client, pace, random.Random(1), attempts=3)


PARAMS: dict[str, Any] = {
    "window": {"after": "2026-03-31", "guard_days": 30},
    "sources": {"categories": ["physics.flu-dyn"], "journals": ["Journal of Tanks"]},
    "extract": {"extractor": "model", "model": "reader", "prompt": "extract"},
    "review": {"model": "referee", "prompt": "review"},
}


@contextmanager
def benches(
    root: Path, base_url: str, params: dict[str, Any] = PARAMS
) -> Iterator[tuple[Workbench, Workbench]]:
    """Yield a bench that buys at ``base_url`` and one that replays, both on one folder and call store."""
    clock = system_clock()
    buying = {
        stage: Gateway(
            Endpoint("openai", str(params[stage]["model"]), base_url, "key"),
            ledger=Ledger(root / "ledger.jsonl", clock.now),
            calls=CallStore(root / "calls"),
            clock=clock,
            rng=random.Random(1),
            limits=Limits(attempts=2, call_seconds=5.0, total_seconds=10.0, backoff_seconds=0.01),
        )
        for stage in ("extract", "review")
    }
    replaying = {
        stage: Gateway(
            Endpoint("openai", str(params[stage]["model"])),
            ledger=None,
            calls=CallStore(root / "calls"),
            clock=clock,
            rng=random.Random(1),
        )
        for stage in ("extract", "review")
    }
    try:
        yield Workbench(root, params, KEY, buying), Workbench(root, params, KEY, replaying)
    finally:
        for gateway in buying.values():
            gateway.close()


def read_all(
    buying: Workbench, replaying: Workbench, buy: Callable[[Any, Workbench], list[str]]
) -> list[str]:
    """Run the five paper stages as a cut does, buying before extract and review; return what is owed."""
    from curation import stages

    stages.harvest(replaying)
    stages.parse(replaying)
    owed = buy("extract", buying)
    if not owed:
        stages.extract(replaying)
        owed = buy("review", buying)
    if not owed:
        stages.review(replaying)
        stages.decide(replaying)
    return owed
