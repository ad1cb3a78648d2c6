"""What is asked of a world, and what is true: questions, effects and gold answers, all in node numbers.

Source: arXiv 2610.14381, sections 3.3 and 4, appendices B and C.
"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

YesNoKind = Literal["causal_effect", "marginal", "conditional"]
ListKind = Literal["all_causes_of", "all_effects_of"]
ChoiceKind = Literal["safety", "satisficing", "subgroup", "invalid"]
QuestionKind = YesNoKind | ListKind | ChoiceKind | Literal["mediator"]

YES_NO: tuple[YesNoKind, ...] = get_args(YesNoKind)
LISTS: tuple[ListKind, ...] = get_args(ListKind)
CHOICES: tuple[ChoiceKind, ...] = get_args(ChoiceKind)
LABELS = ("entirely_through", "also_direct_or_other", "not_through")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Question(_Model):
    """One question, in numbers of nodes and states.

    ``outcome``: the node whose change is asked about (B, the target). ``cause``: A, or the treatment
    of a mediator question. ``given``: Z. ``watched``: what must not get worse. ``group``: the
    subgroups. ``proposed``: the node that somebody wants to set. ``mediator``: the proposed
    mediator, None where it is asked for.
    """

    kind: QuestionKind
    outcome: int
    cause: int | None = None
    given: int | None = None
    watched: int | None = None
    group: int | None = None
    proposed: tuple[int, int] | None = None
    mediator: int | None = None
    threshold: float | None = None


class Effect(_Model):
    """What setting one node to one state does; larger improvement is better, larger harm is worse.

    ``floor`` is the smallest improvement over the subgroups.

    Source: arXiv 2610.14381, section 4 (oracle effect table).
    """

    node: int
    state: int
    improvement: float
    harm: float | None = None
    floor: float | None = None

    @property
    def action(self) -> tuple[int, int]:
        """The node and the state that it is set to."""
        return self.node, self.state


class Truth(_Model):
    """The gold answer with what scoring needs.

    ``verdict``: of a yes/no question. ``nodes``: of a list question, ascending; for "which mediator"
    the one node. ``label``: of a mediator question. ``effects``: every legal action of a choice;
    ``best``: the gold actions.
    """

    verdict: bool | None = None
    nodes: tuple[int, ...] | None = None
    label: str | None = None
    effects: tuple[Effect, ...] = ()
    best: tuple[tuple[int, int], ...] = ()
