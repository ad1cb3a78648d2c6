"""Players of the drone games that do not know the truth: the paper's baselines, and two that look.

Source: arXiv 2607.04293, appendix G (Default is the family's null player; Random, Uniform High); the
best of ten random designs and the contrast player are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from environments.seeding import derive, generator
from environments.task import JSON, Reply, Tool

DEPLOY, SUBMIT, SPACE = "deploy_drone", "submit_final_design", "get_action_space"
TRIES = 10
DRONES_PER_TRY = 20
NOISE = 1.0
"""A level must beat the default by so many standard errors of their difference to be chosen."""


@dataclass(frozen=True)
class Build:
    """A design as a request wants it."""

    design: dict[str, float]
    equipment: str | None = None

    def args(self) -> dict[str, JSON]:
        """Return the arguments that every request about it has."""
        return {"design": self.design, "equipment": self.equipment}


class OneDesign:
    """Submits one design without looking; where a deployment must come first, it deploys one drone.

    Args:
        kind: ``random`` (every DEF from U(0, 50), any module alike) or ``uniform-high`` (every DEF 50).
        seed: from which a random design is drawn.
    """

    def __init__(self, kind: str, seed: bytes) -> None:
        self._kind = kind
        self._seed = seed
        self._build = Build({})
        self._guarded = False

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Choose the design."""
        keys, modules = brief["design"]["keys"], brief["design"]["equipment"]
        high = float(brief["design"]["high"])
        self._guarded = bool(brief["protocol"]["deploy_before_submit"])
        if self._kind == "random":
            self._build = random_build(keys, modules, high, generator(derive(self._seed, "random design")))
        else:
            self._build = Build(dict.fromkeys(keys, high))

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Deploy where asked, then submit."""
        if last is not None and (last.done or not last.ok):
            return None
        if last is None and self._guarded:
            return DEPLOY, {**self._build.args(), "count": 1}
        return _submission(self._build, "This design was chosen without looking at any flight.")


class BestOfTen:
    """Flies ten random designs, 20 drones each, and submits the one of which most came back."""

    def __init__(self, seed: bytes) -> None:
        self._rng = generator(derive(seed, "best of ten"))
        self._builds: list[Build] = []
        self._rates: list[float] = []

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Draw the designs."""
        keys, modules, high = (brief["design"][name] for name in ("keys", "equipment", "high"))
        tries = min(TRIES, int(brief["budget"]["deployments"]))
        self._builds = [random_build(keys, modules, float(high), self._rng) for _ in range(tries)]

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Fly the next design; after the last, submit the best."""
        if last is not None:
            if last.done or not last.ok:
                return None
            self._rates.append(float(last.data["rate"]))
        if len(self._rates) < len(self._builds):
            return DEPLOY, {**self._builds[len(self._rates)].args(), "count": DRONES_PER_TRY}
        best = int(np.argmax(self._rates))
        report = (
            f"Of {len(self._builds)} random designs this one did best: {self._rates[best]:.0%} of "
            f"{DRONES_PER_TRY} drones came back. No mechanism is known to me."
        )
        return _submission(self._builds[best], report)


@dataclass
class _Trial:
    """One contrast: a factor at one of its extremes, everything else at its default."""

    factor: str
    build: Build
    rate: float = 0.0


class Contrast:
    """Tests extremes of one factor at a time with the rest at its default, and keeps what helped.

    Factors: the module, then each part that a drone can lose, then the four main parts together. As many
    are tested as there are deployments; the first is the default itself.
    """

    _MAIN = ("engine_def", "cockpit_def", "wing_def", "body_def")

    def __init__(self) -> None:
        self._trials: list[_Trial] = []
        self._base = 0.0
        self._brief: dict[str, JSON] = {}
        self._count = DRONES_PER_TRY
        self._asked = 0

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Note what can be set, and how much can be flown."""
        self._brief = brief
        budget = brief["budget"]
        self._count = max(1, int(budget["drones"]) // int(budget["deployments"]))

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Look at the defaults, fly every contrast, then submit what helped."""
        if last is None:
            return SPACE, {}
        if last.done or not last.ok:
            return None
        if not self._trials:
            self._trials = self._contrasts(last.data["design"])
        elif self._asked == 1:
            self._base = float(last.data["rate"])
        else:
            self._trials[self._asked - 2].rate = float(last.data["rate"])
        if self._asked <= len(self._trials):
            self._asked += 1
            build = Build({}) if self._asked == 1 else self._trials[self._asked - 2].build
            return DEPLOY, {**build.args(), "count": self._count}
        return self._conclude()

    def _contrasts(self, space: dict[str, JSON]) -> list[_Trial]:
        low, high = float(self._brief["design"]["low"]), float(self._brief["design"]["high"])
        trials = [_Trial("equipment", Build({}, module)) for module in self._brief["design"]["equipment"]]
        minor = [key for key in reversed(self._brief["design"]["keys"]) if key not in self._MAIN]
        # An antenna before a camera: what the outside world reacts to comes first.
        minor.sort(key=lambda key: key not in ("shield_def", "antenna_def"))
        for parts in (*((key,) for key in minor), self._MAIN):
            for level in (low, high):
                if any(space[key]["default"] != level for key in parts):
                    design = dict.fromkeys(parts, level)
                    trials.append(_Trial("+".join(parts), Build(design)))
        return trials[: int(self._brief["budget"]["deployments"]) - 1]

    def _conclude(self) -> tuple[str, JSON]:
        base, n = self._base, self._count
        chosen: dict[str, _Trial] = {}
        for trial in self._trials:
            spread = np.sqrt((base * (1 - base) + trial.rate * (1 - trial.rate)) / n)
            best = chosen.get(trial.factor)
            if trial.rate - base > NOISE * spread and (best is None or trial.rate > best.rate):
                chosen[trial.factor] = trial
        design: dict[str, float] = {}
        for trial in chosen.values():
            design |= trial.build.design
        equipment = chosen["equipment"].build.equipment if "equipment" in chosen else None
        tested = "; ".join(
            f"{trial.build.equipment or trial.factor} at {next(iter(trial.build.design.values()), '-')}: "
            f"{trial.rate:.0%}"
            for trial in self._trials
        )
        report = f"With the default {base:.0%} of {n} came back. One factor changed at a time: {tested}."
        return _submission(Build(design, equipment), report)


def random_build(keys: Sequence[str], modules: Sequence[str], high: float, rng: np.random.Generator) -> Build:
    """Return a design with every DEF from U(0, high), and any of the modules alike where there are some."""
    design = {key: round(float(rng.uniform(0, high)), 2) for key in keys}
    return Build(design, str(modules[int(rng.integers(len(modules)))]) if modules else None)


def _submission(build: Build, report: str) -> tuple[str, JSON]:
    return SUBMIT, {**build.args(), "report": report}
