"""What a person is asked for and gives: a message, or the end of the conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from seatrial.documents import Persona
from seatrial.trace import Usage
from seatrial.verdicts import Ending


@dataclass(frozen=True, slots=True)
class Message:
    """One message, as a model that plays a person is given it."""

    role: Literal["system", "user", "assistant"]
    """`assistant` is the person, whom the model plays; `user` is everybody else."""
    text: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a model answered."""

    text: str
    usage: Usage | None = None
    served_model: str | None = None


Ask = Callable[[Sequence[Message]], Awaitable[Spoken]]
"""Asks the model of one person for its next message.

Raises:
    SimulatorError: it gave no answer, or one that cannot be read (`unreachable`).
"""


class Account(Protocol):
    """What the models of people take in one trial, and whether that may be taken."""

    def afford(self, persona: Persona, most: Usage) -> str:
        """Set aside what a request may take at most; why it does not fit, or nothing."""
        ...

    def spend(self, persona: Persona, used: Usage | None, most: Usage) -> None:
        """A request has taken this; None where nobody counted, so that it may be all that it could."""
        ...


Asking = Callable[[Persona], Ask]
"""How the model of a person is asked."""


@dataclass(frozen=True, slots=True)
class Line:
    """A message of a person."""

    by: str
    """Id of the person's document."""
    name: str
    """What agents read before the message; empty where one person speaks alone."""
    text: str
    usage: Usage | None = None
    served_model: str | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """The conversation is over."""

    how: Ending
    intent: str | None = None
    by: str = ""
    """Id of the document of the person who ended it; empty where it ended by itself."""
    last_words: str = ""
    """What that person said beside it, which the agent was not told."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a conversation, as a person remembers it."""

    by: str
    """Id of the person's document; empty for the agent."""
    name: str
    text: str


class Player(Protocol):
    """Plays one person in one conversation."""

    async def next(self, so_far: Sequence[Said]) -> Line | Over:
        """What the person says after all that was said so far, or that it ends the conversation.

        Raises:
            SimulatorError: it does neither.
        """
        ...
