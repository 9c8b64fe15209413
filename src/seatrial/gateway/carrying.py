"""A call that nothing decided beforehand is carried to its world, its server or its mock, and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from seatrial.errors import ToolServerError
from seatrial.gateway import jsonrpc
from seatrial.gateway.calls import Call, Errand
from seatrial.gateway.decisions import AnsweredBy
from seatrial.gateway.mocks import Mocked, Mocks
from seatrial.gateway.record import Record
from seatrial.gateway.servers import RealServer
from seatrial.state.denials import denied
from seatrial.state.values import unkeepable
from seatrial.tools import BeyondRights
from seatrial.trace import Answer
from seatrial.upstream import Response


@dataclass(frozen=True, slots=True)
class Carrier:
    """Carries the calls of one trial out and writes down how each ended."""

    record: Record
    mocks: Mocks | None
    sleep: Callable[[float], Awaitable[None]]
    """Lets so many seconds pass."""

    async def call(self, call: Call) -> None:
        """Carry a call to its end."""
        mocked = call.decided.mocked if call.decided is not None else None
        if mocked is not None:
            if mocked.delay_ms:
                await self._wait(call, mocked.delay_ms)
            if mocked.answer is not None:
                self.mocked(call, mocked, "mock")
                return
        if call.line.real is not None:
            await self._to_server(call, call.line.real)
            return
        server = call.line.server
        call.version = server.version
        try:
            answer = _own(await server.call(call.name, jsonrpc.copy(call.arguments)))
        except BeyondRights as beyond:
            self.record.called(call, _own(beyond.answer), "world", refused=beyond.reason)
        except ToolServerError as error:
            self.failed(call, error.message)
        except (
            Exception
        ) as error:  # a bug: raised again by the runner, an HTTP server would bury it
            self.failed(call, f"{type(error).__name__}: {error}", error)
        else:
            self._answered(call, answer, "world")

    async def errand(self, errand: Errand) -> None:
        """Carry a request that is no tool call to a real server and back."""
        assert errand.line.real is not None
        try:
            response = await errand.line.real.exchange(errand.method, errand.params, errand.tell)
            _check_keepable(response, errand.line.server.name)
            errand.response = response
        except ToolServerError as error:
            errand.failed = True
            self.record.fault(error.message)

    def mocked(
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
            self.failed(call, mistake)
            return
        call.wire = mocked.wire
        self.record.called(
            call,
            answer,
            answered_by,
            rule=mocked.rule,
            refused=refused,
            fault=mocked.fault,
            kept=mocked.kept,
        )

    def failed(self, call: Call, message: str, error: Exception | None = None) -> None:
        """Write down a call whose server has failed; with an error, it is a bug of ours."""
        self.record.fault(message, error)
        call.failed = True
        text = f"The tool server {call.line.server.name} failed."
        self.record.called(call, Answer.of_text(text, is_error=True), "gateway")

    def cut(self, call: Call) -> None:
        """Write down that a call was stopped, unless it is over."""
        if call.answer is not None:
            return
        answer = Answer.of_text(
            f"Not answered: {call.cut_short or 'it was cut short'}.", is_error=True
        )
        mocked = call.decided.mocked if call.decided is not None else None
        if mocked is None:
            self.record.called(call, answer, "gateway")
            return
        # The agent was made to wait for longer than it, or the trial, had time for.
        fault = mocked.fault or ("delay" if mocked.delay_ms else None)
        self.record.called(call, answer, "gateway", rule=mocked.rule, fault=fault)

    async def _to_server(self, call: Call, server: RealServer) -> None:
        """Let a real server answer a call."""
        params = call.params or {"name": call.name, "arguments": call.arguments}
        try:
            response = await server.exchange("tools/call", params, call.tell)
            answer = answer_in(response, server.name)
        except ToolServerError as error:
            self.failed(call, error.message)
        except Exception as error:
            self.failed(call, f"{type(error).__name__}: {error}", error)
        else:
            told = response.message.get("error")
            if isinstance(told, dict) and told.get("code") == jsonrpc.INTERNAL_ERROR:
                # The agent is told what it said; but it has failed, and no agent is blamed for that.
                self.record.fault(
                    f"server {server.name!r} failed in {call.name}: {told.get('message')}"
                )
            self._answered(call, answer, "server", response)

    def _answered(
        self,
        call: Call,
        answer: Answer,
        answered_by: AnsweredBy,
        response: Response | None = None,
    ) -> None:
        """Write down what a world or a server answered, after what a mock makes of that."""
        refused = denied(call.line.denials, answer)
        mocked = call.decided.mocked if call.decided is not None else None
        if mocked is not None and self.mocks is not None and call.offered is not None:
            mocked = self.mocks.shaped(mocked, call.offered, call.arguments, answer)
            if mocked.answer is not answer:
                self.mocked(call, mocked, answered_by, refused=refused)
                return
        if response is not None and call.answer is None:
            call.response = response
            self.record.came(call)
        if mocked is None:
            self.record.called(call, answer, answered_by, refused=refused)
            return
        call.wire = mocked.wire
        self.record.called(
            call, answer, answered_by, rule=mocked.rule, refused=refused, fault=mocked.fault
        )

    async def _wait(self, call: Call, delay_ms: float) -> None:
        begun = self.record.clock()
        try:
            await self.sleep(delay_ms / 1000)
        except BaseException:
            call.waited_ms = min(delay_ms, self.record.clock() - begun)
            raise
        call.waited_ms = delay_ms


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
