"""The built-in arm that carries out what a right agent does: a solution, call by call."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence

from seatrial.arms.seat import NO_TOKENS, Reply, Seat
from seatrial.checks.solutions import NEUTRAL, SolvedTurn
from seatrial.documents import SolutionCall, placeholders
from seatrial.documents.solution import called
from seatrial.errors import ArmError
from seatrial.state import MISSING, look_up
from seatrial.state.values import as_text, shown
from seatrial.trace import Answer, Json

MOST_ATTEMPTS = 3
"""At a call that goes wrong on purpose."""


class Conversation:
    """One trial's conversation, by a solution."""

    notes: Sequence[str] = ()
    meanwhile = ""

    def __init__(self, turns: Sequence[SolvedTurn], seat: Seat) -> None:
        self._turns = turns
        self._seat = seat
        self._lookup = placeholders.of_trial(seat.trial, dt.datetime.fromisoformat(seat.now))
        self._answers: list[Answer] = []

    async def reply(self, turn: int, text: str) -> Reply:
        """The calls of this turn, one after the other, and what is then said.

        Raises:
            ArmError: the solution names a part of an answer that is not there.
        """
        if turn > len(self._turns):  # somebody talks on, and a right agent has done all it had to
            return Reply(NEUTRAL, usage=NO_TOKENS)
        solved = self._turns[turn - 1]
        for call in solved.calls:
            self._answers.append(await self._call(call))
        return Reply(as_text(placeholders.fill(solved.reply, self._value)), usage=NO_TOKENS)

    async def _call(self, call: SolutionCall) -> Answer:
        """The answer to a call; a right agent tries again, a few times, what failed on purpose."""
        arguments = placeholders.fill(call.arguments, self._value)
        server, slash, tool = call.tool.rpartition("/")
        tools = self._seat.tools
        for _ in range(MOST_ATTEMPTS):
            if slash:
                answer = await self._seat.call(tool, arguments, server)
            else:
                answer = await self._seat.call(call.tool, arguments)
            if not answer.is_error or tools is None or tools.last_fault is None:
                break
        return answer

    def _value(self, name: str) -> Json:
        """What a placeholder stands for."""
        number = called(name)
        if number is None:
            return self._lookup[name]
        given = self._answers[number - 1]
        path = name.split(".", 2)[2:]
        if not path:
            return given.text
        value = given.structured if given.structured is not None else _read(given.text)
        found = look_up(value, path[0])
        if found is MISSING:
            raise ArmError(
                "internal",
                f"the solution names {name}, and call {number} gave {shown(value, 200)}",
            )
        return found


def _read(text: str) -> Json:
    """The JSON value that a text holds, as many servers answer; the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
