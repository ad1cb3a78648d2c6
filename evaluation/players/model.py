"""The model player of law tasks: one conversation per slot, one JSON action per turn.

``ModelPlayer`` sits down with a journal. Whatever its hand asks goes through ``journal.ask``, so that
each reply is on disk before it is acted on, and a resumed episode takes the journalled replies first
and buys only what is missing. ``ask`` is all the hand knows of models:

    player = model_player(gateway)          # ModelPlayer with ask = gateway.chat

How a hand stops by itself: ``ending`` is "turn_cap", "context" (the conversation became too long for
the model), "refusal", or "unfinished" after three replies in a row that are no action. Any other
failure of the gateway is raised: the episode is owed again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cards.errors import GatewayError
from environments.task import JSON, Ending, Reply, Tool
from evaluation.episode import Slot, Usage
from evaluation.journal import Journal
from evaluation.players.action import READ, UnreadableError, action_schema, read_action
from evaluation.purse import Purse
from gateway.client import Gateway
from gateway.prompt import Prompt
from gateway.reply import ChatReply
from gateway.request import Message

PROMPT = Path(__file__).parents[1] / "prompts" / "law_player.md"
MAX_UNREADABLE = 3
"""Replies in a row that are no action; so many end the episode."""


class Ask(Protocol):
    """Buys the next turn of a conversation."""

    def __call__(self, messages: Sequence[Message], schema: dict[str, JSON], subject: str) -> ChatReply:
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
    """A model that can sit down at any law slot.

    Args:
        name: provider/model.
        ask: buys one turn.
        prompt: the one system prompt of all protocols (arXiv 2610.37919, A.1).
        play: turns, tokens, temperature.
    """

    def __init__(self, name: str, ask: Ask, prompt: Prompt, play: Play = Play()) -> None:
        self.name = name
        self.prompt_digest = prompt.digest
        self.spec: dict[str, JSON] = {
            "kind": "model",
            "model": name,
            "turns": play.turns,
            "max_tokens": play.max_tokens,
            "temperature": play.temperature,
        }
        self._ask = ask
        self._prompt = prompt
        self._play = play

    def sit(self, slot: Slot, journal: Journal) -> ModelHand:
        """Return a fresh hand whose questions go through ``journal``."""
        subject = slot.key[:16]

        def ask(messages: Sequence[Message], schema: dict[str, JSON]) -> ChatReply:
            question = {"messages": [message.as_json() for message in messages], "schema": schema}
            kept = journal.ask(question, lambda: self._ask(messages, schema, subject).model_dump())
            return ChatReply.model_validate(kept)

        return ModelHand(ask, self._prompt, self._play.turns)


def model_player(gateway: Gateway, play: Play = Play(), purse: Purse | None = None) -> ModelPlayer:
    """Return the player that asks through ``gateway``, with the shipped prompt.

    With ``purse`` its questions are paid from a cap, and raise CapError once that is spent.
    """

    def ask(messages: Sequence[Message], schema: dict[str, JSON], subject: str) -> ChatReply:
        reserved = purse.set_aside(messages, schema, play.max_tokens) if purse is not None else 0.0
        reply = gateway.chat(
            messages,
            purpose="play",
            subject=subject,
            max_tokens=play.max_tokens,
            temperature=play.temperature,
            schema=schema,
        )
        if purse is not None:
            purse.settle(reserved, reply)
        return reply

    return ModelPlayer(gateway.name, ask, Prompt.read(PROMPT), play)


class AskTurn(Protocol):
    """Returns the next turn of a conversation, journalled."""

    def __call__(self, messages: Sequence[Message], schema: dict[str, JSON]) -> ChatReply:
        """Return the model's reply."""


class ModelHand:
    """One conversation. The same replies always lead to the same actions."""

    def __init__(self, ask: AskTurn, prompt: Prompt, turns: int) -> None:
        self._ask = ask
        self._turns_left = turns
        self._messages = [Message("system", prompt.text)]
        self._schema: dict[str, JSON] = {}
        self._opening: list[str] = []
        self._must_read = False
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
        offered = [tool for tool in tools if tool.name != READ]
        self._must_read = len(offered) < len(tools)
        self._schema = action_schema([tool.name for tool in offered])
        actions = "\n".join(f"- {tool.name}: {tool.description}" for tool in offered)
        self._opening = [f"The brief:\n{_shown(brief)}", f"The actions:\n{actions}"]

    def act(self, last: Reply | None) -> tuple[str, JSON] | None:
        """Return the next action; preset experiments are read without asking the model."""
        if last is None and self._must_read:
            return READ, {}
        said = [] if last is None else [f"{self._heading()}:\n{_answer(last)}"]
        self._tell("\n\n".join([*self._opening, *said, "Your action, as one JSON object:"]))
        self._opening = []
        return self._next_action()

    def _heading(self) -> str:
        return "The preset experiments" if self._opening else "The answer to your action"

    def _next_action(self) -> tuple[str, JSON] | None:
        for _ in range(MAX_UNREADABLE):
            reply = self._turn()
            if reply is None:
                return None
            try:
                action = read_action(reply.text)
            except UnreadableError as error:
                cut = "it was cut off at the token limit; " if reply.finish == "length" else ""
                self._tell(f"Your reply is no action: {cut}{error}. Answer with one whole JSON object.")
                continue
            return action.tool, action.args
        self._ending = "unfinished"
        return None

    def _turn(self) -> ChatReply | None:
        """Return the model's next reply, or None when the conversation is over."""
        if self._turns_left <= 0:
            self._ending = "turn_cap"
            return None
        self._turns_left -= 1
        try:
            reply = self._ask(self._messages, self._schema)
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
    shown = reply.model_dump(exclude_none=True, exclude={"done"})
    return _shown(shown)


def _shown(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
