"""One trial's way to its tools: each call is decided, carried out and recorded here, on the wire or not."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

import anyio

from seatrial.documents import Answers, ShownTool
from seatrial.documents.world import Denial
from seatrial.errors import ToolServerError, UsageError
from seatrial.gateway import jsonrpc
from seatrial.gateway.calls import Call, Errand, Line, Tell
from seatrial.gateway.decisions import AnsweredBy, House, misfits_of, unreadable
from seatrial.gateway.fronts import Clients
from seatrial.gateway.mocks import Mocked, Mocks
from seatrial.gateway.offers import Offered
from seatrial.gateway.servers import RealServer, Rights, ToolServer
from seatrial.state.denials import denied
from seatrial.state.values import unkeepable
from seatrial.tools import BeyondRights, Tool
from seatrial.trace import Answer, Asked, Called, Json, Listed, Noted, Requested
from seatrial.upstream import Response

Seen = Listed | Called | Requested | Asked | Noted

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
        of_servers: Mapping[str, Rights | None] | None = None,
        answers: Answers | None = None,
        calls_limit: int | None = None,
        lookup: Mapping[str, Json] | None = None,
        shown: Mapping[str, ShownTool] | None = None,
        denials: Mapping[str, Sequence[Denial]] | None = None,
        seed: int = 0,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        address: str = "",
        on_close: Callable[[Channel], None] | None = None,
    ) -> None:
        """Set up the tools of a trial.

        Args:
            servers: the tool servers, each under its own name.
            rights: what may be called; None for everything.
            of_servers: servers by name that have rights of their own, in place of these; None for everything.
            answers: mocked answers for read-only tools of these servers.
            calls_limit: how many tool calls are carried out; None for any number.
            lookup: what `{{run}}`, `{{today}}` and `{{now}}` stand for in mocked answers.
            shown: tools that the agent is shown under other descriptions than their server's.
            denials: by server, by which of its errors it refuses a call itself.
            seed: of the trial; what mocks draw at random is drawn from it.
            clock: milliseconds since the trial began; since this moment when None.
            sleep: lets so many seconds pass.
            address: the gateway's `http://host:port`.
            on_close: told when the channel closes.

        Raises:
            MockError: a tool is mocked that cannot be, or with answers that do not fit it.
            UsageError: two servers share a name, or an argument is described that its tool does not have.
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
        mocks = Mocks(answers, lookup or {}, seed) if answers is not None else None
        if mocks is not None:
            mocks.check({n: t for line in self.lines.values() for n, t in line.tools().items()})
        self._of_servers = dict(of_servers or {})
        self._house = House(rights=rights, calls_limit=calls_limit, mocks=mocks)
        self._clock = clock or _since_now()
        self.sleep = sleep
        self._address = address
        self._on_close = on_close
        self._events: list[Seen | None] = []
        self._calls = 0
        self._recorded = 0
        """Bytes, about."""
        self._remarks: set[str] = set()
        self._faults: list[Fault] = []
        self._last_fault: str | None = None
        self._running: set[Call | Errand] = set()
        self._limit = anyio.Event()
        self._over = anyio.Event()
        for line in self.lines.values():
            if line.real is not None:
                line.real.attach(Clients(self, line))

    # What the runner asks

    @property
    def events(self) -> tuple[Seen, ...]:
        """What has been listed, called and asked, in the order the gateway saw it; what is under way is left out."""
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
    def last_fault(self) -> str | None:
        """What went wrong on purpose in the call that ended last; for agents that Seatrial itself brings along."""
        return self._last_fault

    @property
    def closed(self) -> bool:
        """The trial is over."""
        return self._over.is_set()

    @property
    def over(self) -> anyio.Event:
        """Happens when the trial ends."""
        return self._over

    async def until_closed(self) -> None:
        """Wait for the end of the trial."""
        await self._over.wait()

    def close(self) -> None:
        """End the trial: calls under way are recorded as cut short, and nothing is recorded after them."""
        if self.closed:
            return
        for under_way in tuple(self._running):
            under_way.stop("the conversation ended")
            if isinstance(under_way, Call):
                self._cut(under_way)
            else:
                self._settle(under_way)
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

    async def misspoken(
        self, tool: str, arguments: str, why: str, server: str | None = None
    ) -> Answer:
        """Take in a call from this process whose arguments are no JSON object: recorded, and not carried out.

        Args:
            tool: its name.
            arguments: as they were written.
            why: why they cannot be read.
            server: the tool's server; the first that has the tool when None.

        Raises:
            ChannelClosed: the trial is over.
            UsageError: there is no such server.
        """
        line = self._line(tool, server)
        return await self.finish(self.begin(line, tool, None, size=len(arguments), unread=why))

    async def listed(self) -> list[tuple[str, Tool]]:
        """The tools that the agent may see now, each with its server's name.

        Raises:
            ChannelClosed: the trial is over.
            ToolServerError: a server does not say.
        """
        return [
            (name, tool) for name, line in self.lines.items() for tool in await self.list_anew(line)
        ]

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
        """The tools of one server that the agent may see; recorded.

        Raises:
            ChannelClosed: the trial is over.
            ToolServerError: the server does not say.
        """
        self._check_open()
        offers = self._offers(line)
        rights = self._rights(line)
        tools = [
            offered.shown
            for name, offered in offers.items()
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

    async def list_anew(self, line: Line) -> Sequence[Tool]:
        """As `list`, of the tools that the server has now: it may have said that they are others."""
        if line.real is not None:
            try:
                await line.real.refresh()
            except ToolServerError as error:
                self.fault(error.message)
                raise
        return self.list(line)

    def begin(
        self,
        line: Line,
        tool: str,
        arguments: Any,
        *,
        size: int,
        params: dict[str, Json] | None = None,
        tell: Tell | None = None,
        unread: str = "",
    ) -> Call:
        """Take a call in. It is over at once unless it must wait or go to its server: see `finish`.

        Args:
            line: the server it goes to.
            tool: the tool's name.
            arguments: a JSON value.
            size: bytes of name and arguments.
            params: all that came with it, for a real server.
            tell: is handed what a real server says before it answers.
            unread: why the arguments are no JSON; then nobody is handed the call.
        """
        self._check_open()
        self._recorded += _EACH + size
        self._calls += 1
        call = Call(
            line=line,
            name=tool,
            arguments=arguments if isinstance(arguments, dict) else {},
            offered=None,
            params=params,
            tell=tell,
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
            call.offered = line.tools().get(tool)
            misfits = [unread] if unread else misfits_of(call.offered, arguments)
            call.misfits = tuple(misfit[:_LONGEST_MISFIT] for misfit in misfits[:_MOST_MISFITS])
            if unread:
                call.decided = unreadable(tool, call.offered, unread)
            elif line.real is None or self._house.covers(tool):
                call.decided = self._house.decide(
                    tool,
                    call.offered,
                    arguments,
                    call.number,
                    misfits,
                    rights=self._rights(line),
                )
            else:
                hidden = line.real.hides(tool)
                call.decided = self._house.decide_real(
                    tool,
                    call.offered,
                    arguments,
                    call.number,
                    hidden=hidden,
                    rights=self._rights(line),
                )
        except ToolServerError as error:
            self._fail(call, error.message)
        except Exception as error:  # a bug, or a document that should have been refused
            self._fail(call, f"{type(error).__name__}: {error}", error)
        decided = call.decided
        if decided is not None and decided.answer is not None:
            if decided.mocked is None:
                self._record(call, decided.answer, "gateway", refused=decided.refused)
            elif not decided.mocked.delay_ms:
                self._record_mocked(call, decided.mocked, "mock")
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

    async def run(self, errand: Errand) -> None:
        """Carry a request that is no tool call to a real server and back, or to where it is stopped."""
        assert errand.line.real is not None
        self._running.add(errand)
        try:
            with anyio.CancelScope() as errand.scope:
                response = await errand.line.real.exchange(
                    errand.method, errand.params, errand.tell
                )
                _check_keepable(response, errand.line.server.name)
                errand.response = response
        except ToolServerError as error:
            errand.failed = True
            self.fault(error.message)
        finally:
            self._running.discard(errand)
            self._settle(errand)

    def errand(
        self, line: Line, method: str, params: dict[str, Json], *, size: int, tell: Tell | None
    ) -> Errand:
        """Take in a request that is no tool call; `run` carries it out.

        Args:
            line: the server it goes to.
            method: in MCP's words.
            params: its parameters.
            size: bytes of both.
            tell: is handed what the server says before it answers.
        """
        self._check_open()
        self._recorded += _EACH + size
        errand = Errand(
            line=line,
            method=method,
            params=params,
            turn=self.turn,
            at_ms=self._clock(),
            place=len(self._events),
            tell=tell,
        )
        if self.flooded:
            errand.failed = errand.is_over = True
        else:
            self._events.append(None)
        return errand

    def _settle(self, errand: Errand) -> None:
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
            self._recorded += len(errand.response.line)
        self._events[errand.place] = Requested(
            turn=errand.turn,
            server=errand.line.server.name,
            method=errand.method,
            params=errand.params,
            result=message.get("result"),
            error=why,
            at_ms=errand.at_ms,
            took_ms=self._clock() - errand.at_ms,
        )

    async def _carry_out(self, call: Call) -> None:
        mocked = call.decided.mocked if call.decided is not None else None
        if mocked is not None:
            if mocked.delay_ms:
                await self._wait(call, mocked.delay_ms)
            if mocked.answer is not None:
                self._record_mocked(call, mocked, "mock")
                return
        if call.line.real is not None:
            await self._carry_over(call, call.line.real)
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
            self._record_answered(call, answer, "world")

    async def _carry_over(self, call: Call, server: RealServer) -> None:
        """Let a real server answer a call."""
        params = call.params or {"name": call.name, "arguments": call.arguments}
        try:
            response = await server.exchange("tools/call", params, call.tell)
            answer = answer_in(response, server.name)
        except ToolServerError as error:
            self._fail(call, error.message)
        except Exception as error:
            self._fail(call, f"{type(error).__name__}: {error}", error)
        else:
            told = response.message.get("error")
            if isinstance(told, dict) and told.get("code") == jsonrpc.INTERNAL_ERROR:
                # The agent is told what it said; but it has failed, and no agent is blamed for that.
                self.fault(f"server {server.name!r} failed in {call.name}: {told.get('message')}")
            self._record_answered(call, answer, "server", response)

    def _record_answered(
        self,
        call: Call,
        answer: Answer,
        answered_by: AnsweredBy,
        response: Response | None = None,
    ) -> None:
        """Write down what a world or a server answered, after what a mock makes of that."""
        refused = denied(call.line.denials, answer)
        mocked = call.decided.mocked if call.decided is not None else None
        mocks = self._house.mocks
        if mocked is not None and mocks is not None and call.offered is not None:
            mocked = mocks.shaped(mocked, call.offered, call.arguments, answer)
            if mocked.answer is not answer:
                self._record_mocked(call, mocked, answered_by, refused=refused)
                return
        if response is not None and call.answer is None:
            call.response = response
            self._recorded += len(response.line)
        if mocked is None:
            self._record(call, answer, answered_by, refused=refused)
            return
        call.wire = mocked.wire
        self._record(
            call, answer, answered_by, rule=mocked.rule, refused=refused, fault=mocked.fault
        )

    async def _wait(self, call: Call, delay_ms: float) -> None:
        begun = self._clock()
        try:
            await self.sleep(delay_ms / 1000)
        except BaseException:
            call.waited_ms = min(delay_ms, self._clock() - begun)
            raise
        call.waited_ms = delay_ms

    def _record_mocked(
        self, call: Call, mocked: Mocked, answered_by: AnsweredBy, *, refused: str | None = None
    ) -> None:
        """Write down a call that a mock has answered, or has made something of that the server answered."""
        assert mocked.answer is not None
        answer, mistake = mocked.answer, mocked.mistake
        try:
            # What it is made of (the fixture, the arguments) changes no more, and is not copied.
            jsonrpc.encode([answer.content, answer.structured])
        except ValueError as error:
            mistake = f"{mocked.rule} of {call.name} answers what is no JSON: {error}"
        if mistake:
            self._fail(call, mistake)
            return
        call.wire = mocked.wire
        self._record(
            call,
            answer,
            answered_by,
            rule=mocked.rule,
            refused=refused,
            fault=mocked.fault,
            kept=mocked.kept,
        )

    def _fail(self, call: Call, message: str, error: Exception | None = None) -> None:
        self.fault(message, error)
        call.failed = True
        text = f"The tool server {call.line.server.name} failed."
        self._record(call, Answer.of_text(text, is_error=True), "gateway")

    def fault(self, message: str, error: Exception | None = None) -> None:
        """Take down what went wrong behind the tools; with an error, it is a bug of ours."""
        self._faults.append(Fault("internal" if error else "tool_server", message, error))

    def now(self) -> float:
        """Milliseconds since the trial began."""
        return self._clock()

    def remark(self, text: str) -> None:
        """Keep what somebody attempted from outside in the record, the first time."""
        if not self.closed and text not in self._remarks:
            self._remarks.add(text)
            self._events.append(Noted(turn=self.turn, text=text, at_ms=self._clock()))

    def note(self, event: Asked) -> None:
        """Take down what a server asked its client."""
        if not self.closed and not self.flooded:
            self._recorded += _EACH + len(jsonrpc.encode([event.params, event.result]))
            self._events.append(event)

    def _rights(self, line: Line) -> Rights | None:
        """What may be called of a server; None for everything."""
        return self._of_servers.get(line.server.name, self._house.rights)

    def _offers(self, line: Line) -> Mapping[str, Offered]:
        try:
            return line.tools()
        except ToolServerError as error:
            self.fault(error.message)
            raise
        except Exception as error:
            self.fault(f"{type(error).__name__}: {error}", error)
            raise ToolServerError(f"The tool server {line.server.name} failed.") from error

    def _cut(self, call: Call) -> None:
        """Write down that a call was stopped, unless it is over."""
        if call.answer is not None:
            return
        answer = Answer.of_text(
            f"Not answered: {call.cut_short or 'it was cut short'}.", is_error=True
        )
        mocked = call.decided.mocked if call.decided is not None else None
        if mocked is None:
            self._record(call, answer, "gateway")
            return
        # The agent was made to wait for longer than it, or the trial, had time for.
        fault = mocked.fault or ("delay" if mocked.delay_ms else None)
        self._record(call, answer, "gateway", rule=mocked.rule, fault=fault)

    def _record(
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
        """Write down how a call ended; the first end counts."""
        if call.answer is not None:
            return
        call.answer = answer
        self._last_fault = fault
        kept = kept or answer
        if call.response is None:
            self._recorded += sum(len(part.get("text") or "") for part in kept.content)
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
            took_ms=self._clock() - call.at_ms,
            waited_ms=call.waited_ms,
        )

    def _check_open(self) -> None:
        if self.closed:
            raise ChannelClosed("the conversation this call belongs to is over")

    def _line(self, tool: str, server: str | None) -> Line:
        if server is not None:
            if server not in self.lines:
                raise UsageError(f"no tool server {server!r}; there are {sorted(self.lines)}")
            return self.lines[server]
        having = [line for line in self.lines.values() if tool in self._offers(line)]
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


def answer_in(response: Response, server: str) -> Answer:
    """What a real server answered to a tool call, as it is recorded; an error of the protocol is an error too.

    Raises:
        ToolServerError: it is no answer to a tool call.
    """
    message = response.message
    _check_keepable(response, server)
    error, result = message.get("error"), message.get("result")
    if isinstance(error, dict):
        code = error.get("code")
        text = f"MCP error {code}: {error.get('message', '')}"
        return Answer.of_text(text, is_error=True).model_copy(
            update={"code": code if type(code) is int else None}
        )
    content = result.get("content", ()) if isinstance(result, dict) else None
    if not isinstance(content, list | tuple) or not all(isinstance(p, dict) for p in content):
        raise ToolServerError(f"server {server!r} answers a tool call with what is no content")
    assert isinstance(result, dict)
    structured = result.get("structuredContent")
    if "content" not in result and structured is None:
        structured = result  # of a task, which is asked for its content later
    return Answer(
        content=tuple(content), structured=structured, is_error=result.get("isError") is True
    )


def _check_keepable(response: Response, server: str) -> None:
    if not response.sound and (why := unkeepable(response.message)):
        raise ToolServerError(f"server {server!r} answers with what is no JSON: {why}")


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
