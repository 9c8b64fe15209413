"""One trial's way to its tools: each call is decided, carried out and recorded here, on the wire or not."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

import anyio

from seatrial.documents import Answers, ShownTool
from seatrial.documents.world import Denial
from seatrial.errors import ToolServerError, UsageError
from seatrial.gateway import jsonrpc
from seatrial.gateway.calls import Call, Line
from seatrial.gateway.decisions import AnsweredBy, Decided, House, misfits_of
from seatrial.gateway.mocks import Mocks
from seatrial.gateway.servers import Rights, ToolServer
from seatrial.state.denials import denied
from seatrial.tools import BeyondRights, Tool
from seatrial.trace import Answer, Called, Json, Listed

_MOST_MISFITS, _LONGEST_MISFIT = 5, 300
"""What is recorded of arguments that do not fit: sentences, and characters of each."""


MOST_RECORDED = 32_000_000
"""Bytes that the calls of one trial and their answers may come to. They lie in memory until it ends, beside those
of all trials under way."""
_EACH = 2_000
"""What a call or a list takes beside its arguments and its answer, about."""


class ChannelClosed(Exception):
    """The trial is over; nothing is called any more."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong behind the tools: the trial it happened in cannot be graded."""

    cause: Literal["tool_server", "internal"]
    message: str
    error: Exception | None = None
    """The bug of ours, when the cause is `internal`."""


class Channel:
    """One trial's tools: an address and a token for its agent, and a record of what it did with them."""

    def __init__(
        self,
        servers: Sequence[ToolServer],
        *,
        rights: Rights | None = None,
        answers: Answers | None = None,
        calls_limit: int | None = None,
        lookup: Mapping[str, Json] | None = None,
        shown: Mapping[str, ShownTool] | None = None,
        denials: Mapping[str, Sequence[Denial]] | None = None,
        clock: Callable[[], float] | None = None,
        address: str = "",
        on_close: Callable[[Channel], None] | None = None,
    ) -> None:
        """Set up the tools of a trial.

        Args:
            servers: the tool servers, each under its own name.
            rights: what may be called; None for everything.
            answers: mocked answers for read-only tools of these servers.
            calls_limit: how many tool calls are carried out; None for any number.
            lookup: what `{{run}}`, `{{today}}` and `{{now}}` stand for in mocked answers.
            shown: tools that the agent is shown under other descriptions than their server's.
            denials: by server, by which of its errors it refuses a call itself.
            clock: milliseconds since the trial began; since this moment when None.
            address: the gateway's `http://host:port`.
            on_close: told when the channel closes.

        Raises:
            UsageError: two servers share a name, a tool is mocked that cannot be, or an argument is
                described that its tool does not have.
        """
        self.turn = 0
        """The turn under way, set by the runner; 0 before the first."""
        self.secret = secrets.token_urlsafe(24)
        self.token = secrets.token_urlsafe(24)
        refusals = denials or {}
        self.lines = {
            server.name: Line(server, refusals.get(server.name, ()), shown or {})
            for server in servers
        }
        if len(self.lines) < len(servers):
            names = sorted(server.name for server in servers)
            raise UsageError(f"two tool servers of one trial have the same name: {names}")
        if shown:
            _check_words(self.lines.values())
        mocks = Mocks(answers, lookup or {}) if answers is not None else None
        if mocks is not None:
            mocks.check({n: t for line in self.lines.values() for n, t in line.tools().items()})
        self._house = House(rights=rights, calls_limit=calls_limit, mocks=mocks)
        self._clock = clock or _since_now()
        self._address = address
        self._on_close = on_close
        self._events: list[Listed | Called | None] = []
        self._calls = 0
        self._recorded = 0
        """Bytes, about."""
        self._faults: list[Fault] = []
        self._running: set[Call] = set()
        self._limit = anyio.Event()
        self._over = anyio.Event()

    # What the runner asks

    @property
    def events(self) -> tuple[Listed | Called, ...]:
        """What has been listed and called, in the order the gateway saw it; calls under way are left out."""
        return tuple(event for event in self._events if event is not None)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What went wrong behind the tools; the trial is invalid when there is any."""
        return tuple(self._faults)

    @property
    def limit_hit(self) -> bool:
        """More calls were made than allowed."""
        return self._limit.is_set()

    @property
    def flooded(self) -> bool:
        """The agent sent, or asked for, more than can be recorded; from then on nothing was carried out."""
        return self._recorded > MOST_RECORDED

    async def until_limit(self) -> None:
        """Wait for the call that is one too many."""
        await self._limit.wait()

    @property
    def closed(self) -> bool:
        """The trial is over."""
        return self._over.is_set()

    async def until_closed(self) -> None:
        """Wait for the end of the trial."""
        await self._over.wait()

    def close(self) -> None:
        """End the trial: calls under way are recorded as cut short, and nothing is recorded after them."""
        if self.closed:
            return
        for call in tuple(self._running):
            call.stop("the conversation ended")
            self._cut(call)
        self._over.set()
        if self._on_close is not None:
            self._on_close(self)

    # What the agent is given

    @property
    def base_url(self) -> str:
        """What the addresses of all servers begin with."""
        return f"{self._address}/c/{self.secret}"

    def url(self, server: str) -> str:
        """The address of one server's tools."""
        if server not in self.lines:
            raise UsageError(f"no tool server {server!r}; there are {sorted(self.lines)}")
        return f"{self.base_url}/{quote(server, safe='')}/mcp"

    @property
    def headers(self) -> dict[str, str]:
        """What every request must carry."""
        return {"Authorization": f"Bearer {self.token}"}

    def config(self) -> dict[str, Any]:
        """The config file MCP clients read: each server's address and headers."""
        return {
            "mcpServers": {
                name: {"type": "http", "url": self.url(name), "headers": self.headers}
                for name in self.lines
            }
        }

    # What the agent does

    async def call(
        self, tool: str, arguments: dict[str, Json], server: str | None = None
    ) -> Answer:
        """Call a tool from this process: the same rules and the same record as on the wire.

        Args:
            tool: its name.
            arguments: a JSON object.
            server: the tool's server; the first that has the tool when None.

        Raises:
            ChannelClosed: the trial is over.
            UsageError: there is no such server.
            ValueError: the arguments are no JSON.
        """
        data = jsonrpc.encode([tool, arguments])
        tool, arguments = jsonrpc.decode(data)
        call = self.begin(self._line(tool, server), tool, arguments, size=len(data))
        answer = await self.finish(call)
        return answer.model_copy(deep=True)

    def list_tools(self, server: str | None = None) -> tuple[Tool, ...]:
        """The tools the agent may see, of one server or of all.

        Raises:
            ChannelClosed: the trial is over.
            UsageError: there is no such server.
        """
        lines = self.lines.values() if server is None else [self._line("", server)]
        return tuple(tool for line in lines for tool in self.list(line))

    # What both ways have in common

    def list(self, line: Line) -> list[Tool]:
        """The tools of one server that the agent may see; recorded."""
        self._check_open()
        rights = self._house.rights
        tools = [
            offered.shown
            for name, offered in line.tools().items()
            if rights is None or rights.visible(name)
        ]
        if not self.flooded:
            self._recorded += _EACH
            self._events.append(
                Listed(
                    turn=self.turn,
                    server=line.server.name,
                    tools=tuple(tool.name for tool in tools),
                    at_ms=self._clock(),
                )
            )
        return tools

    def begin(self, line: Line, tool: str, arguments: Any, *, size: int) -> Call:
        """Take a call in. It is over at once unless it must wait or go to its server: see `finish`.

        Args:
            line: the server it goes to.
            tool: the tool's name.
            arguments: a JSON value.
            size: bytes of name and arguments.
        """
        self._check_open()
        self._recorded += _EACH + size
        self._calls += 1
        call = Call(
            line=line,
            name=tool,
            arguments=arguments if isinstance(arguments, dict) else {},
            offered=line.tools().get(tool),
            number=self._calls,
            turn=self.turn,
            at_ms=self._clock(),
            place=len(self._events),
        )
        if self.flooded:
            call.answer = Answer.of_text(
                f"Not carried out: the calls of this conversation come to more than {MOST_RECORDED:,} bytes.",
                is_error=True,
            )
            return call
        self._events.append(None)
        if self._house.beyond_limit(call.number):
            self._limit.set()
        try:
            misfits = misfits_of(call.offered, arguments)
            call.misfits = tuple(misfit[:_LONGEST_MISFIT] for misfit in misfits[:_MOST_MISFITS])
            call.decided = self._house.decide(tool, call.offered, arguments, call.number, misfits)
        except Exception as error:  # a bug, or a document that should have been refused
            self._fail(call, f"{type(error).__name__}: {error}", error)
        if call.decided is not None and not call.decided.delay_ms:
            self._record_decided(call, call.decided)
        return call

    async def finish(self, call: Call) -> Answer:
        """Carry a call to its end, or to where it is stopped."""
        if call.answer is None:
            self._running.add(call)
            try:
                with anyio.CancelScope() as call.scope:
                    if call.cut_short:
                        call.scope.cancel()
                    await self._carry_out(call)
            finally:
                self._running.discard(call)
                self._cut(call)
        assert call.answer is not None
        return call.answer

    async def _carry_out(self, call: Call) -> None:
        if call.decided is not None:
            await anyio.sleep(call.decided.delay_ms / 1000)
            self._record_decided(call, call.decided)
            return
        server = call.line.server
        call.version = server.version
        try:
            answer = _own(await server.call(call.name, jsonrpc.copy(call.arguments)))
        except BeyondRights as beyond:
            self._record(call, _own(beyond.answer), "world", refused=beyond.reason)
        except ToolServerError as error:
            self._fail(call, error.message)
        except (
            Exception
        ) as error:  # a bug: raised again by the runner, an HTTP server would bury it
            self._fail(call, f"{type(error).__name__}: {error}", error)
        else:
            self._record(call, answer, "world", refused=denied(call.line.denials, answer))

    def _record_decided(self, call: Call, decided: Decided) -> None:
        answer, fault = decided.answer, decided.fault
        if decided.answered_by == "mock" and not fault:
            try:
                answer = _own(answer)
            except ValueError as error:
                fault = f"{decided.rule} of {call.name} answers what is no JSON: {error}"
        if fault:
            self._fail(call, fault)
            return
        self._record(
            call,
            answer,
            decided.answered_by,
            rule=decided.rule,
            refused=decided.refused,
            waited=decided.delay_ms > 0,
        )

    def _fail(self, call: Call, message: str, error: Exception | None = None) -> None:
        self._faults.append(Fault("internal" if error else "tool_server", message, error))
        call.failed = True
        text = f"The tool server {call.line.server.name} failed."
        self._record(call, Answer.of_text(text, is_error=True), "gateway")

    def _cut(self, call: Call) -> None:
        why = call.cut_short or "it was cut short"
        self._record(call, Answer.of_text(f"Not answered: {why}.", is_error=True), "gateway")

    def _record(
        self,
        call: Call,
        answer: Answer,
        answered_by: AnsweredBy,
        *,
        rule: str | None = None,
        refused: str | None = None,
        waited: bool = False,
    ) -> None:
        """Write down how a call ended; the first end counts."""
        if call.answer is not None:
            return
        call.answer = answer
        self._recorded += sum(len(part.get("text") or "") for part in answer.content)
        took_ms = self._clock() - call.at_ms
        self._events[call.place] = Called(
            turn=call.turn,
            number=call.number,
            server=call.line.server.name,
            tool=call.name,
            arguments=call.arguments,
            answer=answer,
            answered_by=answered_by,
            rule=rule,
            refused=refused,
            read_only=call.offered.tool.read_only if call.offered else None,
            destructive=call.offered.tool.destructive if call.offered else None,
            leaves_world=call.offered.tool.leaves_world if call.offered else None,
            changed=call.version is not None and call.line.server.version != call.version,
            misfits=call.misfits,
            at_ms=call.at_ms,
            took_ms=took_ms,
            waited_ms=took_ms if waited else 0.0,
        )

    def _check_open(self) -> None:
        if self.closed:
            raise ChannelClosed("the conversation this call belongs to is over")

    def _line(self, tool: str, server: str | None) -> Line:
        if server is not None:
            if server not in self.lines:
                raise UsageError(f"no tool server {server!r}; there are {sorted(self.lines)}")
            return self.lines[server]
        having = [line for line in self.lines.values() if tool in line.tools()]
        return next(iter(having or self.lines.values()))


def _check_words(lines: Iterable[Line]) -> None:
    try:
        for line in lines:
            line.tools()
    except ValueError as error:
        raise UsageError(
            f"the arm describes what is not there: {error}",
            hint="correct it under the arm's `tools`",
        ) from error


def _own(answer: Answer) -> Answer:
    """The same answer, sharing nothing with its server: what is recorded does not change afterwards."""
    content, structured = jsonrpc.copy([answer.content, answer.structured])
    return Answer(
        content=tuple(content),
        structured=structured,
        is_error=answer.is_error,
        code=answer.code,
    )


def _since_now() -> Callable[[], float]:
    start = time.monotonic()
    return lambda: (time.monotonic() - start) * 1000
