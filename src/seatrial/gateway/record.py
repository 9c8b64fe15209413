"""What one trial's agent did with its tools, in the order the gateway saw it, and what went wrong behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from seatrial.gateway import jsonrpc
from seatrial.gateway.calls import Call, Errand, Line
from seatrial.gateway.decisions import AnsweredBy
from seatrial.tools import Tool
from seatrial.trace import Answer, Asked, Called, Listed, Noted, Requested

Seen = Listed | Called | Requested | Asked | Noted

MOST_RECORDED = 32_000_000
"""Bytes that the calls of one trial and their answers may come to. They lie in memory until it ends, beside those
of all trials under way."""
_EACH = 2_000
"""What a call or a list takes beside its arguments and its answer, about."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong behind the tools: the trial it happened in cannot be graded."""

    cause: Literal["tool_server", "internal"]
    message: str
    error: Exception | None = None
    """The bug of ours, when the cause is `internal`."""


class Record:
    """What is written down of one trial; a call keeps the place at which it was seen, whenever it ends."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin a record.

        Args:
            clock: milliseconds since the trial began.
        """
        self.clock = clock
        self.faults: list[Fault] = []
        """What went wrong behind the tools."""
        self.last_fault: str | None = None
        """What went wrong on purpose in the call that ended last."""
        self._events: list[Seen | None] = []
        self._size = 0
        """Bytes, about."""
        self._remarks: set[str] = set()

    @property
    def events(self) -> tuple[Seen, ...]:
        """What was seen, in order; what is under way is left out."""
        return tuple(event for event in self._events if event is not None)

    @property
    def flooded(self) -> bool:
        """More came, or was asked for, than can be recorded."""
        return self._size > MOST_RECORDED

    def take_in(self, size: int) -> int:
        """Count a request of so many bytes; where its event will stand."""
        self._size += _EACH + size
        return len(self._events)

    def reserve(self) -> None:
        """Keep a place for the event of what was taken in last."""
        self._events.append(None)

    def fault(self, message: str, error: Exception | None = None) -> None:
        """Take down what went wrong behind the tools; with an error, it is a bug of ours."""
        self.faults.append(Fault("internal" if error else "tool_server", message, error))

    def remark(self, turn: int, text: str) -> None:
        """Keep what somebody attempted from outside, the first time."""
        if text not in self._remarks:
            self._remarks.add(text)
            self._events.append(Noted(turn=turn, text=text, at_ms=self.clock()))

    def asked(self, event: Asked) -> None:
        """Take down what a server asked its client."""
        if not self.flooded:
            self._size += _EACH + len(jsonrpc.encode([event.params, event.result]))
            self._events.append(event)

    def listed(self, turn: int, line: Line, tools: Iterable[Tool]) -> None:
        """Take down which tools of a server the agent was shown."""
        if self.flooded:
            return
        self._size += _EACH
        self._events.append(
            Listed(
                turn=turn,
                server=line.server.name,
                tools=tuple(tool.name for tool in tools),
                at_ms=self.clock(),
            )
        )

    def came(self, call: Call | Errand) -> None:
        """Count what a real server answered."""
        if call.response is not None:
            self._size += len(call.response.line)

    def called(
        self,
        call: Call,
        answer: Answer,
        answered_by: AnsweredBy,
        *,
        rule: str | None = None,
        refused: str | None = None,
        fault: str | None = None,
        kept: Answer | None = None,
    ) -> None:
        """Write down how a call ended; the first end counts.

        Args:
            call: the call.
            answer: what the agent is answered.
            answered_by: who answered it.
            rule: of the fixture, by which it was answered.
            refused: the rule of the role that forbids it.
            fault: what went wrong on purpose.
            kept: what is recorded, where that is not the answer.
        """
        if call.answer is not None:
            return
        call.answer = answer
        self.last_fault = fault
        kept = kept or answer
        if call.response is None:
            self._size += sum(len(part.get("text") or "") for part in kept.content)
        self._events[call.place] = Called(
            turn=call.turn,
            number=call.number,
            server=call.line.server.name,
            tool=call.name,
            arguments=call.arguments,
            answer=kept,
            answered_by=answered_by,
            rule=rule,
            fault=fault,
            refused=refused,
            read_only=call.offered.tool.read_only if call.offered else None,
            destructive=call.offered.tool.destructive if call.offered else None,
            leaves_world=call.offered.tool.leaves_world if call.offered else None,
            changed=call.version is not None and call.line.server.version != call.version,
            misfits=call.misfits,
            at_ms=call.at_ms,
            took_ms=self.clock() - call.at_ms,
            waited_ms=call.waited_ms,
        )

    def requested(self, errand: Errand) -> None:
        """Write down how an errand ended; the first end counts."""
        if errand.is_over:
            return
        errand.is_over = True
        message = errand.response.message if errand.response is not None else {}
        error = message.get("error")
        why = None
        if errand.failed:
            why = f"the tool server {errand.line.server.name} failed"
        elif errand.response is None:
            why = f"not answered: {errand.cut_short or 'it was cut short'}"
        elif error is not None:
            told = error if isinstance(error, dict) else {}
            why = f"{told.get('message', '')} ({told.get('code', '')})"
        else:
            self.came(errand)
        self._events[errand.place] = Requested(
            turn=errand.turn,
            server=errand.line.server.name,
            method=errand.method,
            params=errand.params,
            result=message.get("result"),
            error=why,
            at_ms=errand.at_ms,
            took_ms=self.clock() - errand.at_ms,
        )
