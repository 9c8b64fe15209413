"""One trial's way to its tools: each call is decided, carried out and recorded here, on the wire or not."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import anyio

from seatrial.documents import Answers, ShownTool
from seatrial.documents.world import Denial
from seatrial.errors import ToolServerError, UsageError
from seatrial.gateway import jsonrpc
from seatrial.gateway.calls import Call, Errand, Line, Tell
from seatrial.gateway.carrying import Carrier
from seatrial.gateway.decisions import House, misfits_of, unreadable
from seatrial.gateway.fronts import Clients
from seatrial.gateway.mocks import Mocks
from seatrial.gateway.offers import Offered
from seatrial.gateway.record import MOST_RECORDED, Fault, Record, Seen
from seatrial.gateway.servers import Rights, ToolServer
from seatrial.tools import Tool
from seatrial.trace import Answer, Asked, Json

_MOST_MISFITS, _LONGEST_MISFIT = 5, 300
"""What is recorded of arguments that do not fit: sentences, and characters of each."""


class ChannelClosed(Exception):
    """The trial is over; nothing is called any more."""


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
            lookup: what `{{run}}`, `{{today}}`, `{{now}}` and the values of a matrix stand for in mocked answers.
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
        self._record = Record(clock or _since_now())
        self._carrier = Carrier(self._record, mocks, sleep)
        self.sleep = sleep
        self._address = address
        self._on_close = on_close
        self._calls = 0
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
        return self._record.events

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What went wrong behind the tools; the trial is invalid when there is any."""
        return tuple(self._record.faults)

    @property
    def limit_hit(self) -> bool:
        """More calls were made than allowed."""
        return self._limit.is_set()

    @property
    def flooded(self) -> bool:
        """The agent sent, or asked for, more than can be recorded; from then on nothing was carried out."""
        return self._record.flooded

    async def until_limit(self) -> None:
        """Wait for the call that is one too many."""
        await self._limit.wait()

    @property
    def last_fault(self) -> str | None:
        """What went wrong on purpose in the call that ended last; for agents that Seatrial itself brings along."""
        return self._record.last_fault

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
                self._carrier.cut(under_way)
            else:
                self._record.requested(under_way)
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
        self._record.listed(self.turn, line, tools)
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
        place = self._record.take_in(size)
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
            at_ms=self._record.clock(),
            place=place,
        )
        if self.flooded:
            call.answer = Answer.of_text(
                f"Not carried out: the calls of this conversation come to more than {MOST_RECORDED:,} bytes.",
                is_error=True,
            )
            return call
        self._record.reserve()
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
            self._carrier.failed(call, error.message)
        except Exception as error:  # a bug, or a document that should have been refused
            self._carrier.failed(call, f"{type(error).__name__}: {error}", error)
        decided = call.decided
        if decided is not None and decided.answer is not None:
            if decided.mocked is None:
                self._record.called(call, decided.answer, "gateway", refused=decided.refused)
            elif not decided.mocked.delay_ms:
                self._carrier.mocked(call, decided.mocked, "mock")
        return call

    async def finish(self, call: Call) -> Answer:
        """Carry a call to its end, or to where it is stopped."""
        if call.answer is None:
            self._running.add(call)
            try:
                with anyio.CancelScope() as call.scope:
                    if call.cut_short:
                        call.scope.cancel()
                    await self._carrier.call(call)
            finally:
                self._running.discard(call)
                self._carrier.cut(call)
        assert call.answer is not None
        return call.answer

    async def run(self, errand: Errand) -> None:
        """Carry a request that is no tool call to a real server and back, or to where it is stopped."""
        self._running.add(errand)
        try:
            with anyio.CancelScope() as errand.scope:
                await self._carrier.errand(errand)
        finally:
            self._running.discard(errand)
            self._record.requested(errand)

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
        place = self._record.take_in(size)
        errand = Errand(
            line=line,
            method=method,
            params=params,
            turn=self.turn,
            at_ms=self._record.clock(),
            place=place,
            tell=tell,
        )
        if self.flooded:
            errand.failed = errand.is_over = True
        else:
            self._record.reserve()
        return errand

    def fault(self, message: str, error: Exception | None = None) -> None:
        """Take down what went wrong behind the tools; with an error, it is a bug of ours."""
        self._record.fault(message, error)

    def now(self) -> float:
        """Milliseconds since the trial began."""
        return self._record.clock()

    def remark(self, text: str) -> None:
        """Keep what somebody attempted from outside in the record, the first time."""
        if not self.closed:
            self._record.remark(self.turn, text)

    def note(self, event: Asked) -> None:
        """Take down what a server asked its client."""
        if not self.closed:
            self._record.asked(event)

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


def _since_now() -> Callable[[], float]:
    start = time.monotonic()
    return lambda: (time.monotonic() - start) * 1000
