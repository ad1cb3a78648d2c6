"""The law world: preset or proposed experiments, and one completion.

Source: arXiv 2610.37919, section 3.3 and appendix A.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cards.errors import ExpressionError
from environments.law.arguments import Completion, Proposal, read_envelope
from environments.law.brief import brief
from environments.law.definition import LawDefinition
from environments.law.oracle import observe
from environments.law.protocol import read_protocol
from environments.law.rules import check_completion, check_proposal
from environments.law.tools import COMPLETE, PROPOSE, tools
from environments.seeding import derive, generator
from environments.task import JSON, ActionError, Options, Step, Tool


class LawWorld:
    """One open law environment.

    It keeps no state beside what it was opened with, but for the number of readings so far: each has
    noise of its own where the definition declares any, drawn from the session's seed, so that a
    replayed session reads the same.
    """

    def __init__(self, definition: LawDefinition, options: Options, seed: bytes = b"") -> None:
        self._definition = definition
        self._seed = seed
        self._read_so_far = 0
        self._protocol = read_protocol(options.protocol)
        self._brief = brief(definition, options.setting, self._protocol)
        self._tools = tools(definition, self._protocol)

    @property
    def brief(self) -> dict[str, JSON]:
        """What the player is told at the start."""
        return self._brief

    @property
    def tools(self) -> Sequence[Tool]:
        """The actions of this protocol."""
        return self._tools

    @property
    def meters(self) -> Mapping[str, int]:
        """The safety cap on calls; experiments are not limited."""
        return {"calls": self._definition.call_cap}

    def step(self, tool: str, args: JSON) -> Step:
        """Carry out one action; refuse with a reason rather than raise."""
        if tool == COMPLETE:
            return self._complete(args)
        if tool == PROPOSE:
            return self._propose(args)
        return self._read(args)

    def _read(self, args: JSON) -> Step:
        if args:
            return _refused(ActionError(code="malformed", message="this action takes no arguments"))
        budget = self._protocol.budget
        points = {name: np.array(values[:budget]) for name, values in self._definition.design.items()}
        readings = observe(self._definition, points, rng=self._noise())
        experiments = [
            {
                "inputs": {name: float(values[i]) for name, values in points.items()},
                "observations": {name: float(values[i]) for name, values in readings.items()},
            }
            for i in range(budget)
        ]
        return Step(outcome="succeeded", data={"experiments": experiments})

    def _propose(self, args: JSON) -> Step:
        proposal = read_envelope(Proposal, args)
        if isinstance(proposal, ActionError):
            return _unreadable(proposal)
        breach = check_proposal(proposal, self._definition)
        if breach is not None:
            return _refused(breach)
        points = {item.name: np.array([proposal.inputs[item.name]]) for item in self._definition.inputs}
        try:
            readings = observe(self._definition, points, rng=self._noise())
        except ExpressionError:
            # The build checks make this all but impossible; a player learns no more than the fact.
            message = "the apparatus gives no reading at these inputs"
            return _refused(ActionError(code="domain", message=message, path="inputs"))
        self._read_so_far += 1
        return Step(
            outcome="succeeded",
            data={"observations": {name: float(readings[name][0]) for name in proposal.observables}},
        )

    def _noise(self) -> np.random.Generator | None:
        if self._definition.noise == 0:
            return None
        return generator(derive(self._seed, "noise", str(self._read_so_far)))

    def _complete(self, args: JSON) -> Step:
        completion = read_envelope(Completion, args)
        if isinstance(completion, ActionError):
            return _unreadable(completion)
        breach = check_completion(completion, 2 if self._protocol.kind == "adaptive" else 1)
        if breach is not None:
            return _refused(breach)
        return Step(outcome="succeeded", data={"accepted": True}, ended="completed")


def _refused(error: ActionError) -> Step:
    return Step(outcome="refused", error=error)


def _unreadable(error: ActionError) -> Step:
    return Step(outcome="unreadable", error=error)
