"""The model player: one conversation per slot; what it is told and how it is read is its role's part.

``ModelPlayer`` sits down with a journal. Whatever its hand asks goes through ``journal.ask``, so that
each reply is on disk before it is acted on, and a resumed episode takes the journalled replies first
and buys only what is missing. ``ask`` is all the hand knows of models:

    player = model_player(gateway)          # ModelPlayer with ask = gateway.chat

How a hand stops by itself: ``ending`` is "turn_cap", "context" (the conversation became too long for
the model), "refusal", or "unfinished" after three replies in a row that are no action. Any other
failure of the gateway is raised: the episode is owed again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cards.canonical import digest
from cards.errors import GatewayError
from environments.task import JSON, Ending, Reply, Tool
from evaluation.episode import Seat, Slot, Usage
from evaluation.journal import Journal
from evaluation.players.roles import Role, prompt_digests, role_of, shipped_roles
from evaluation.players.turn import Action, Talk, UnreadableError, shown
from evaluation.purse import Purse
from gateway.client import Gateway
from gateway.reply import ChatReply
from gateway.reply import Usage as ReplyUsage
from gateway.request import Message

MAX_UNREADABLE = 3
"""Replies in a row that are no action; so many end the episode."""


@dataclass(frozen=True, slots=True)
class Question:
    """One turn to buy.

    Attributes:
        messages: the conversation so far.
        schema: the JSON schema that the reply shall fit; None for free text.
        most_tokens: the most tokens of the reply.
        subject: the slot, for the ledger.
    """

    messages: Sequence[Message]
    schema: dict[str, JSON] | None
    most_tokens: int
    subject: str


class Ask(Protocol):
    """Buys the next turn of a conversation."""

    def __call__(self, question: Question) -> ChatReply:
        """Return the model's reply.

        Raises:
            GatewayError: when there is none.
        """


@dataclass(frozen=True, slots=True)
class Play:
    """How a model plays. ``turns`` counts replies; None leaves the temperature to the server."""

    turns: int = 512
    max_tokens: int = 4096
    temperature: float | None = None


class ModelPlayer:
    """A model that can sit down at any slot for which it has a role.

    Args:
        name: provider/model.
        ask: buys one turn.
        roles: prompt and talk by role name; one prompt serves all protocols of a role.
        play: turns, tokens, temperature.
    """

    def __init__(self, name: str, ask: Ask, roles: Mapping[str, Role], play: Play = Play()) -> None:
        self.name = name
        self.prompt_digests = prompt_digests(roles)
        self.spec: dict[str, JSON] = {
            "kind": "model",
            "model": name,
            "turns": play.turns,
            "max_tokens": play.max_tokens,
            "temperature": play.temperature,
        }
        self._ask = ask
        self._roles = roles
        self._play = play

    def sit(self, slot: Slot, journal: Journal) -> ModelHand:
        """Return a fresh hand whose questions go through ``journal``."""
        known, before = 0, ""

        def ask(question: Question) -> ChatReply:
            nonlocal known, before
            # A conversation only grows: a question is named by the one before it and what was added since.
            added = [message.as_json() for message in question.messages[known:]]
            asked = {"before": before, "added": added, "schema": question.schema}
            known, before = len(question.messages), digest(asked)
            kept = journal.ask(asked, lambda: self._ask(question).model_dump())
            return ChatReply.model_validate(kept)

        return self._hand(slot, ask)

    def system_message(self, slot: Slot) -> Message:
        """Return what the model is told at a slot before the brief."""
        return Message("system", self._roles[role_of(slot)].prompt.text)

    def first_messages(self, slot: Slot, seat: Seat) -> Sequence[Message]:
        """Return what the model would be asked first at a slot; nothing is bought, ``seat`` is used up."""
        asked: list[Question] = []

        def ask(question: Question) -> ChatReply:
            asked.append(question)
            return ChatReply(text="", finish="refused", usage=ReplyUsage(), model="")

        hand = self._hand(slot, ask)
        hand.start(seat.brief, seat.tools)
        last: Reply | None = None
        while (action := hand.act(last)) is not None:
            last = seat.call(*action, "first")
        return tuple(asked[0].messages)

    def _hand(self, slot: Slot, ask: Ask) -> ModelHand:
        return ModelHand(ask, self._roles[role_of(slot)], self._play, slot.key[:16])


def model_player(gateway: Gateway, play: Play = Play(), purse: Purse | None = None) -> ModelPlayer:
    """Return the player that asks through ``gateway``, with the shipped prompts.

    With ``purse`` its questions are paid from a cap, and raise CapError once that is spent.
    """

    def ask(question: Question) -> ChatReply:
        reserved = 0.0
        if purse is not None:
            reserved = purse.set_aside(question.messages, question.schema, question.most_tokens)
        reply = gateway.chat(
            question.messages,
            purpose="play",
            subject=question.subject,
            max_tokens=question.most_tokens,
            temperature=play.temperature,
            schema=question.schema,
        )
        if purse is not None:
            purse.settle(reserved, reply)
        return reply

    return ModelPlayer(gateway.name, ask, shipped_roles(), play)


class ModelHand:
    """One conversation. The same replies always lead to the same actions."""

    def __init__(self, ask: Ask, role: Role, play: Play, subject: str = "") -> None:
        self._ask = ask
        self._role = role
        self._turns_left = play.turns
        self._most_tokens = play.max_tokens
        self._subject = subject
        self._messages = [Message("system", role.prompt.text)]
        self._talk: Talk
        self._planned: deque[Action] = deque()
        self._turn_size = 1
        self._said: list[str] = []
        self._ending: Ending | None = None
        self._usage = Usage()

    @property
    def ending(self) -> Ending | None:
        """Why the hand stopped by itself, or None."""
        return self._ending

    @property
    def usage(self) -> Usage:
        """What was bought so far, replies recalled from the journal included."""
        return self._usage

    def start(self, brief: dict[str, JSON], tools: Sequence[Tool]) -> None:
        """Read the brief."""
        self._talk = self._role.talk(brief, tools)
        self._said = [self._talk.opening]
        self._most_tokens = min(self._most_tokens, self._talk.most_tokens or self._most_tokens)

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Return the next action: one that was planned before, or what the model answers now."""
        if last is None and self._talk.first is not None:
            return self._talk.first.tool, self._talk.first.args
        if last is not None:
            self._note(last)
        if not self._planned:
            self._tell("\n\n".join([*self._said, self._talk.call]))
            self._said = []
            self._planned.extend(self._next_actions())
            self._turn_size = len(self._planned)
        if not self._planned:
            return None
        action = self._planned.popleft()
        return action.tool, action.args

    def _note(self, last: Reply) -> None:
        """Keep the answer for the next message; after a refusal nothing more of the turn is done."""
        self._said.append(f"{self._heading()}:\n{_answer(last)}")
        if self._planned and not last.ok:
            self._said.append(f"The rest of your turn was dropped: {len(self._planned)} of its actions.")
            self._planned.clear()

    def _heading(self) -> str:
        if self._talk.first is not None and len(self._messages) == 1:
            return "The preset experiments"
        if self._turn_size == 1:
            return "The answer to your action"
        return f"The answer to action {self._turn_size - len(self._planned)} of {self._turn_size}"

    def _next_actions(self) -> Sequence[Action]:
        """Return what the model wants to do; nothing when the conversation is over."""
        for _ in range(MAX_UNREADABLE):
            reply = self._turn()
            if reply is None:
                return []
            try:
                return self._talk.read(reply.text)
            except UnreadableError as error:
                cut = "it was cut off at the token limit; " if reply.finish == "length" else ""
                self._tell(f"Your reply is no action: {cut}{error}. Answer with one whole JSON object.")
        self._ending = "unfinished"
        return []

    def _turn(self) -> ChatReply | None:
        """Return the model's next reply, or None when the conversation is over."""
        if self._turns_left <= 0:
            self._ending = "turn_cap"
            return None
        self._turns_left -= 1
        try:
            reply = self._ask(Question(self._messages, self._talk.schema, self._most_tokens, self._subject))
        except GatewayError as error:
            if error.reason != "context":
                raise
            self._ending = "context"
            return None
        self._pay(reply)
        if reply.finish == "refused":
            self._ending = "refusal"
            return None
        self._messages.append(Message("assistant", reply.text))
        return reply

    def _tell(self, text: str) -> None:
        self._messages.append(Message("user", text))

    def _pay(self, reply: ChatReply) -> None:
        spent, price = self._usage.usd, reply.usage.usd
        self._usage = Usage(
            calls=self._usage.calls + 1,
            tokens_in=self._usage.tokens_in + (reply.usage.tokens_in or 0),
            tokens_out=self._usage.tokens_out + (reply.usage.tokens_out or 0),
            usd=None if spent is None or price is None else spent + price,
        )


def _answer(reply: Reply) -> str:
    return shown(reply.model_dump(exclude_none=True, exclude={"done"}))
