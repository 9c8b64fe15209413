"""What becomes of a call before anything is carried out: answered here, or handed to the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seatrial.gateway.mocks import Mocked, Mocks
from seatrial.gateway.offers import Offered
from seatrial.gateway.servers import Rights
from seatrial.trace import Answer, Json

AnsweredBy = Literal["world", "mock", "server", "gateway"]

_MOST_TOLD = 5
"""Mistakes in the arguments of one call that the agent is told."""


def misfits_of(offered: Offered | None, arguments: Json) -> list[str]:
    """Why a call fits no tool, or its arguments not their schema; empty when they fit."""
    if offered is None:
        return ["there is no such tool"]
    if not isinstance(arguments, dict):
        return ["an object is needed"]
    return offered.arguments.misfits(arguments, lambda path: path or "the object")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """An answer that does not come from the server, or what a mock makes of one that does."""

    answer: Answer | None
    """None: the server answers, after what a mock says of that."""
    answered_by: AnsweredBy = "gateway"
    refused: str | None = None
    """The rule of the role that forbids the call."""
    mocked: Mocked | None = None
    """What a mock makes of the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """The rules of one trial's tools."""

    rights: Rights | None = None
    calls_limit: int | None = None
    mocks: Mocks | None = None

    def beyond_limit(self, number: int) -> bool:
        """Whether the call of this number, from 1, is one too many."""
        return self.calls_limit is not None and number > self.calls_limit

    def decide(
        self,
        name: str,
        offered: Offered | None,
        arguments: Json,
        number: int,
        misfits: Sequence[str],
        *,
        rights: Rights | None,
    ) -> Decided | None:
        """The answer to a call, or None when it is the server's to answer.

        The first that applies: there is no such tool; the arguments are no object; the role's rights;
        the limit of calls; the input schema; a mocked answer.
        """
        if offered is None:
            return _error(f"Unknown tool: {name[:100]}")
        if not isinstance(arguments, dict):
            return _error(f"Invalid arguments for {name}: an object is needed")
        refused = rights.refusal(name, arguments) if rights is not None else None
        if refused is not None:
            return _error(f"Not allowed: {refused}", refused=refused)
        if beyond := self._beyond(number):
            return beyond
        if misfits:
            told = [*misfits[:_MOST_TOLD], "and more"] if misfits[_MOST_TOLD:] else misfits
            return _error(f"Invalid arguments for {name}: {'; '.join(told)}")
        if self.mocks is not None and self.mocks.covers(name):
            mocked = self.mocks.answer(offered, arguments)
            return Decided(answer=mocked.answer, answered_by="mock", mocked=mocked)
        return None

    def decide_real(
        self,
        name: str,
        offered: Offered | None,
        arguments: Json,
        number: int,
        *,
        hidden: bool,
        rights: Rights | None,
    ) -> Decided | None:
        """As `decide`, of a call that a real server answers, whatever it makes of the call."""
        if hidden:
            return _error(f"Unknown tool: {name[:100]}")
        given = arguments if isinstance(arguments, dict) else {}
        refused = rights.refusal(name, given) if rights is not None else None
        if refused is not None:
            # A tool that nobody has offered is no attempt at one that is forbidden.
            if offered is None:
                return _error(f"Unknown tool: {name[:100]}")
            return _error(f"Not allowed: {refused}", refused=refused)
        return self._beyond(number)

    def covers(self, name: str) -> bool:
        """Whether fixtures answer for this tool."""
        return self.mocks is not None and self.mocks.covers(name)

    def _beyond(self, number: int) -> Decided | None:
        if not self.beyond_limit(number):
            return None
        return _error(
            f"Not carried out: this conversation may make {self.calls_limit} tool calls, "
            f"and this would be number {number}."
        )


def unreadable(name: str, offered: Offered | None, why: str) -> Decided:
    """The answer to a call whose arguments are no JSON."""
    if offered is None:
        return _error(f"Unknown tool: {name[:100]}")
    return _error(f"Invalid arguments for {name}: {why}")


def _error(text: str, *, refused: str | None = None) -> Decided:
    return Decided(answer=Answer.of_text(text, is_error=True), refused=refused)
