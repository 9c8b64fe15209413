"""One POST of a client that was let in, in either era of the protocol, and the streams it listens to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import anyio

from seatrial.documents.behaviour import Wire
from seatrial.gateway import eras, fronts, jsonrpc, methods, streams
from seatrial.gateway.calls import Call, Errand, Line, Session
from seatrial.gateway.channel import Channel, ChannelClosed
from seatrial.gateway.jsonrpc import INVALID_REQUEST, UNSUPPORTED_VERSION, RpcError
from seatrial.gateway.replies import Receive, Refused, Reply, Send, accepts, body_of
from seatrial.gateway.streams import Feed, Interim

MOST_MESSAGES = 1000
"""In one batch."""
MOST_STREAMS = 16
"""Open subscriptions of one trial."""
MOST_LISTENERS = 256
"""Sessions of one trial that listen to a real server."""
KEEP_ALIVE_SECONDS = 15.0


class Exchange:
    """One POST of a client that was let in."""

    def __init__(
        self,
        channel: Channel,
        line: Line,
        headers: dict[str, str],
        on_lost: set[Callable[[], None]],
        receive: Receive,
        send: Send,
        start: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._start = start
        self._channel = channel
        self._line = line
        self._headers = headers
        self._on_lost = on_lost
        self._receive = receive
        self._send = send
        self._wire: Wire | None = None

    async def post(self, body: bytes) -> Reply | None:
        """Answer the message or messages of a body; None when the answer has been streamed."""
        try:
            value = jsonrpc.parse(body)
        except RpcError as error:
            raise Refused(400, error) from None
        try:
            if eras.is_modern(self._headers.get("mcp-protocol-version")):
                reply = await self._modern(value)
            else:
                reply = await self._handshake(value)
        except ChannelClosed:
            raise Refused(404, "Not found") from None
        if self._wire is None or reply is None:
            return reply
        return replace(reply, broken=(self._wire, self._channel))

    # The first era: a handshake, a session

    async def _handshake(self, value: Any) -> Reply | None:
        session = self._session()
        if isinstance(value, list):
            return await self._batch(session, value)
        try:
            kind = jsonrpc.kind_of(value)
        except RpcError as error:
            return Reply(400, jsonrpc.failure(jsonrpc.id_of(value), error))
        if kind == "request" and value["method"] == "initialize":
            try:
                id, result = methods.initialize(self._line, jsonrpc.params_of(value))
            except RpcError as error:
                return Reply(200, jsonrpc.failure(value["id"], error))
            return Reply(200, jsonrpc.result(value["id"], result), {"mcp-session-id": id})
        interim = self._interim()
        if interim is None or kind != "request":
            answer = await self._one(session, kind, value)
            return Reply(202) if answer is None else Reply(200, answer)
        session.replies.append(interim)
        try:
            answer = await self._one(session, kind, value, interim)
        finally:
            session.replies.remove(interim)
        return await self._ended(interim, Reply(200, answer))

    def _interim(self) -> Interim | None:
        """The reply of a real server, where it may become a stream."""
        if self._line.real is None or not accepts(self._headers, "text/event-stream"):
            return None
        return Interim(self._send, self._start)

    async def _ended(self, interim: Interim, reply: Reply) -> Reply | None:
        """The reply, unless it is a stream: then it has been sent."""
        if not interim.is_stream:
            return reply
        if self._wire is not None:
            return replace(reply, value=streams.event(body_of(reply)), is_begun=True)
        answer = reply.value
        await interim.end(answer if isinstance(answer, bytes) else jsonrpc.encode(answer))
        return None

    async def _batch(self, session: Session, values: list[Any]) -> Reply:
        version = self._headers.get("mcp-protocol-version") or session.version or eras.UNSTATED
        if version not in eras.BATCHING:
            raise Refused(400, f"Protocol version {version} has no batches: one message a request")
        if not 0 < len(values) <= MOST_MESSAGES:
            raise Refused(400, f"A batch holds 1 to {MOST_MESSAGES} messages")
        answers = []
        for value in values:
            try:
                kind = jsonrpc.kind_of(value)
                if kind == "request" and value["method"] == "initialize":
                    raise RpcError(INVALID_REQUEST, "initialize does not belong in a batch")
            except RpcError as error:
                answers.append(jsonrpc.failure(jsonrpc.id_of(value), error))
                continue
            answer = await self._one(session, kind, value)
            if answer is not None:
                answers.append(jsonrpc.decode(answer) if isinstance(answer, bytes) else answer)
        return Reply(200, answers) if answers else Reply(202)

    async def _one(
        self,
        session: Session,
        kind: jsonrpc.Kind,
        message: dict[str, Any],
        interim: Interim | None = None,
    ) -> dict[str, Any] | bytes | None:
        if kind == "notification":
            await self._told(session, message)
            return None
        if kind == "response":
            fronts.answered(session, message)
            return None
        id, tell = message["id"], interim.tell if interim else None
        try:
            if message["method"] == "tools/call":
                call = methods.begin_call(self._channel, self._line, message, tell)
                await self._carry_out(call, session, id)
                return methods.call_response(call, id, modern=False)
            result = await methods.handshake_result(self._channel, self._line, message)
            if result is not None:
                return jsonrpc.result(id, result)
            errand = methods.begin_errand(self._channel, self._line, message, tell)
            await self._carry_out(errand, session, id)
            return methods.errand_response(errand, id, modern=False)
        except RpcError as error:
            return jsonrpc.failure(id, error)

    async def _told(self, session: Session, message: dict[str, Any]) -> None:
        """Take a notification of the client; what is not the gateway's own matter is a real server's."""
        method = message["method"]
        if method == "notifications/cancelled":
            methods.cancel(session, message)
        elif self._line.real is not None and method != "notifications/initialized":
            params = message.get("params")
            await self._line.real.notify(method, params if isinstance(params, dict) else None)

    async def listen_to_all(self) -> None:
        """Let a client of the first era listen to what a real server says of its own accord."""
        if not accepts(self._headers, "text/event-stream"):
            raise Refused(406, "This stream is text/event-stream")
        session = self._session()
        if session.feed is not None:
            raise Refused(409, "This session listens already")
        if sum(s.feed is not None for s in self._line.sessions.values()) >= MOST_LISTENERS:
            raise Refused(503, "Too many sessions listen already")
        session.feed = Feed()
        try:
            await self._follow(session.feed)
        finally:
            session.feed = None

    async def _follow(self, feed: Feed, first: bytes = b"", last: bytes = b"") -> None:
        """Send a feed until the trial ends or the client goes away."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_disconnected, tasks.cancel_scope.cancel)
            await streams.begin(self._send)
            # Something must be sent for the head of the reply to leave.
            await streams.part(self._send, first or streams.STILL_HERE)
            await feed.follow(self._send, self._channel.over, every=KEEP_ALIVE_SECONDS)
            await streams.part(self._send, last, last=True)
            tasks.cancel_scope.cancel()

    def _session(self) -> Session:
        id = self._headers.get("mcp-session-id")
        if id is None:
            return self._line.sessionless
        if id not in self._line.sessions:
            raise Refused(404, "Session not found")
        return self._line.sessions[id]

    # The second era: each request stands alone

    async def _modern(self, value: Any) -> Reply | None:
        try:
            kind = jsonrpc.kind_of(value)
            if kind == "response":
                raise RpcError(INVALID_REQUEST, "Nothing was asked of the client")
            if kind == "notification":
                eras.check_version(self._headers["mcp-protocol-version"])
                return Reply(202)
            self._refuse_where_agents_are_asked()
            eras.check_envelope(value, self._headers)
            if value["method"] == "subscriptions/listen":
                await self._listen(value["id"], jsonrpc.params_of(value))
                return None
            interim = self._interim()
            hears_logs = interim is not None and eras.LOG_LEVEL in value["params"]["_meta"]
            with self._hearing(interim if hears_logs else None):
                reply = await self._modern_reply(value, interim)
        except RpcError as error:
            failure = jsonrpc.failure(jsonrpc.id_of(value), error)
            return Reply(eras.status_of(error), failure)
        return reply if interim is None else await self._ended(interim, reply)

    @contextmanager
    def _hearing(self, interim: Interim | None) -> Iterator[None]:
        """Let a request of a client without a session hear what a server logs meanwhile."""
        replies = self._line.sessionless.replies
        if interim is not None:
            replies.append(interim)
        try:
            yield
        finally:
            if interim is not None:
                replies.remove(interim)

    def _refuse_where_agents_are_asked(self) -> None:
        """In this era servers ask nothing of their clients: where agents are to be asked, the first era is spoken."""
        if self._line.real is not None and self._line.real.asks_agents:
            raise RpcError(
                UNSUPPORTED_VERSION,
                "Unsupported protocol version",
                {
                    "supported": list(eras.HANDSHAKE),
                    "requested": self._headers.get("mcp-protocol-version"),
                },
            )

    async def _modern_reply(self, message: dict[str, Any], interim: Interim | None) -> Reply:
        id, tell = message["id"], interim.tell if interim else None
        under_way: Call | Errand
        try:
            if message["method"] == "tools/call":
                methods.check_mirrored(self._line, message, self._headers)
                under_way = methods.begin_call(self._channel, self._line, message, tell)
                await self._carry_out(under_way, self._line.sessionless, None)
                return Reply(200, methods.call_response(under_way, id, modern=True))
            result = await methods.modern_result(self._channel, self._line, message)
            if result is not None:
                return Reply(200, jsonrpc.result(id, result))
            under_way = methods.begin_errand(self._channel, self._line, message, tell)
            await self._carry_out(under_way, self._line.sessionless, None)
            return Reply(200, methods.errand_response(under_way, id, modern=True))
        except RpcError as error:
            return Reply(eras.status_of(error), jsonrpc.failure(id, error))

    async def _listen(self, id: str | int, params: dict[str, Any]) -> None:
        """Hold a subscription open until the trial ends; only real servers announce anything on it."""
        if not accepts(self._headers, "text/event-stream"):
            raise Refused(406, "A subscription is answered with text/event-stream")
        if self._line.streams >= MOST_STREAMS:
            raise RpcError(jsonrpc.INTERNAL_ERROR, "Too many open subscriptions")
        meta = {eras.META_SUBSCRIPTION: id}
        granted, feed = await methods.subscription(self._channel, self._line, params, meta)
        acknowledged = {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": granted, "_meta": meta},
        }
        end = jsonrpc.result(id, methods.complete(self._line, {"_meta": meta}))
        self._line.streams += 1
        self._line.subscriptions.append(feed)
        try:
            await self._follow(feed, streams.event(acknowledged), streams.event(end))
        finally:
            self._line.streams -= 1
            self._line.subscriptions.remove(feed)

    # Both

    async def _carry_out(self, call: Call | Errand, session: Session, id: str | int | None) -> None:
        """Wait for a request's end, or for the client to go away or to cancel it."""
        if call.is_over:
            self._mark(call)
            return

        def hung_up() -> None:
            call.stop("the client closed the connection")

        if id is not None:
            session.calls[id] = call
        self._on_lost.add(hung_up)
        try:
            if isinstance(call, Call):
                await self._channel.finish(call)
            else:
                await self._channel.run(call)
        finally:
            self._on_lost.discard(hung_up)
            if id is not None and session.calls.get(id) is call:
                del session.calls[id]
        self._mark(call)

    def _mark(self, call: Call | Errand) -> None:
        """Remember what goes wrong when the response is sent; of a batch, the first."""
        if isinstance(call, Call) and call.wire is not None and call.wire.how != "rpc_error":
            self._wire = self._wire or call.wire

    async def _until_disconnected(self, then: Callable[[], None]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        then()


def end_session(line: Line, headers: dict[str, str]) -> Reply:
    """End a session of the first era; its calls under way are stopped."""
    session = line.sessions.pop(headers.get("mcp-session-id", ""), None)
    if session is None:
        raise Refused(404, "Session not found")
    for call in tuple(session.calls.values()):
        call.stop("the client ended its session")
    return Reply(200)
