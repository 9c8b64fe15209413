"""The gateway on the wire: one HTTP request, checked before it reaches a trial, answered in plain JSON.

Where a real server has something to tell before its answer, the answer is a stream of events.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import anyio

from seatrial.documents.behaviour import Wire
from seatrial.gateway import eras, fronts, jsonrpc, methods, streams
from seatrial.gateway.calls import Call, Errand, Line, Session
from seatrial.gateway.channel import Channel, ChannelClosed
from seatrial.gateway.jsonrpc import INVALID_REQUEST, UNSUPPORTED_VERSION, RpcError
from seatrial.gateway.streams import Feed, Interim
from seatrial.gateway.wire import Connection, misbehave

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MOST_MESSAGES = 1000
"""In one batch."""
MOST_STREAMS = 16
"""Open subscriptions of one trial."""
MOST_LISTENERS = 256
"""Sessions of one trial that listen to a real server."""
KEEP_ALIVE_SECONDS = 15.0

ON_LOST = "seatrial.on_lost"
"""The ASGI extension that holds what to do when the connection is lost: a set of functions. Without
it each call would need a task of its own that waits for the client to go away."""

CLOSE = "seatrial.close"
"""The ASGI extension that closes the connection of a request."""

_ONCE = frozenset(
    {"host", "origin", "authorization", "content-type", "content-length", "mcp-session-id"}
    | {"mcp-protocol-version", "mcp-method", "mcp-name"}
)
"""Headers of which two copies would mean two things to two readers."""


class Refused(Exception):
    """A request that is answered with an HTTP status before, or instead of, its JSON-RPC meaning."""

    def __init__(self, status: int, error: RpcError | str, **headers: str) -> None:
        super().__init__(str(error))
        self.status = status
        self.error = RpcError(INVALID_REQUEST, error) if isinstance(error, str) else error
        self.headers = headers


class Disconnected(Exception):
    """The client went away before it had said what it wants."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What is written back: a status, and a JSON value or nothing."""

    status: int
    value: Any = None
    """Bytes are written as they are."""
    headers: dict[str, str] = field(default_factory=dict)
    broken: tuple[Wire, Channel] | None = None
    """What goes wrong on the wire on purpose, and in whose trial."""
    is_begun: bool = False
    """Its head has been written, and a part of its body: it is the end of a stream."""


class Endpoint:
    """The ASGI application that all trials of a run share."""

    def __init__(self, channels: Mapping[str, Channel], *, port: int, body_limit: int) -> None:
        """Serve trials.

        Args:
            channels: the open channels by their secret.
            port: where this application is reached.
            body_limit: bytes that the body of a request may have.
        """
        self._channels = channels
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._body_limit = body_limit
        self.bugs: list[Exception] = []
        """Exceptions of ours, which an HTTP server would bury."""
        self.tasks: anyio.abc.TaskGroup | None = None
        """Where what outlives its request is carried out; without it no reply becomes a stream."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        try:
            reply = await self._answer(scope, receive, send)
        except Disconnected:
            return
        except Refused as refused:
            reply = Reply(refused.status, jsonrpc.failure(None, refused.error), refused.headers)
        except Exception as bug:
            self.bugs.append(bug)
            error = RpcError(jsonrpc.INTERNAL_ERROR, "The gateway failed")
            reply = Reply(500, jsonrpc.failure(None, error))
        if reply is not None and reply.broken is not None:
            fault, channel = reply.broken
            extensions = scope["extensions"]
            connection = Connection(send, extensions[CLOSE], extensions[ON_LOST], channel.sleep)
            body = _body_of(reply)
            await misbehave(fault, body, connection, channel.over, is_begun=reply.is_begun)
        elif reply is not None:
            await _write(send, reply)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Reply | None:
        headers = _headers(scope)
        channel, line = self._admit(scope, headers)
        self._look_whose_session(channel, line, headers.get("mcp-session-id"))
        match scope["method"]:
            case "POST":
                body = await self._body(headers, receive)
                if channel.closed:
                    raise Refused(404, "Not found")
                return await self._exchange(scope, channel, line, headers, receive, send).post(body)
            case "DELETE" if not eras.is_modern(headers.get("mcp-protocol-version")):
                return _end_session(line, headers)
            case "GET" if line.real is not None and not eras.is_modern(
                headers.get("mcp-protocol-version")
            ):
                exchange = self._exchange(scope, channel, line, headers, receive, send)
                await exchange.listen_to_all()
                return None
            case "GET":
                raise Refused(405, "There is no stream to listen to", allow="POST, DELETE")
            case _:
                raise Refused(405, "Method not allowed", allow="POST, DELETE")

    def _exchange(
        self,
        scope: Scope,
        channel: Channel,
        line: Line,
        headers: dict[str, str],
        receive: Receive,
        send: Send,
    ) -> Exchange:
        on_lost = scope["extensions"][ON_LOST]
        return Exchange(channel, line, headers, on_lost, receive, send, self._start)

    def _start(self, work: Callable[[], Awaitable[None]]) -> None:
        async def carried_out() -> None:
            try:
                await work()
            except Exception as bug:
                self.bugs.append(bug)

        assert self.tasks is not None
        self.tasks.start_soon(carried_out)

    def _admit(self, scope: Scope, headers: dict[str, str]) -> tuple[Channel, Line]:
        """The trial and the server a request is for: by its path, its token, and where it comes from."""
        if headers.get("host", "").lower() not in self._hosts:
            raise Refused(421, "The Host header is not this gateway's address")
        if "origin" in headers and headers["origin"].lower() not in self._origins:
            raise Refused(403, "Requests of this origin are not served")
        match scope["raw_path"].decode("latin-1").split("/"):
            case ["", "c", secret, name, "mcp"] if secret in self._channels:
                channel, server = self._channels[secret], unquote(name)
            case _:
                raise Refused(404, "Not found")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(token.strip().encode(), channel.token.encode())
        if scheme.lower() != "bearer" or not right:
            self._look_whose_token(channel, token.strip())
            raise Refused(
                401,
                "Send the Authorization header of this conversation's MCP configuration",
                **{"www-authenticate": "Bearer"},
            )
        if server not in channel.lines:
            raise Refused(404, "Not found")
        return channel, channel.lines[server]

    def _look_whose_token(self, channel: Channel, token: str) -> None:
        """Put a request with a wrong token into the record of each trial that it concerns."""
        for other in self._channels.values():
            same = hmac.compare_digest(token.encode(), other.token.encode())
            if same and other is not channel:
                channel.remark("A request came with the token of another trial; it was refused.")
                other.remark("Its token was used at another trial's address; it was refused there.")
                return
        channel.remark("A request came without the trial's token; it was refused.")

    def _look_whose_session(self, channel: Channel, line: Line, id: str | None) -> None:
        """Put a request with another trial's session into the record of both; it is refused later on."""
        if id is None or id in line.sessions:
            return
        for other in self._channels.values():
            if other is not channel and any(id in own.sessions for own in other.lines.values()):
                channel.remark("A request came with the session of another trial; it was refused.")
                other.remark("Its session was used by another trial; it was refused there.")

    async def _body(self, headers: dict[str, str], receive: Receive) -> bytes:
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "The Content-Type must be application/json")
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, "Content encodings are not understood")
        if not _accepts(headers, "application/json"):
            raise Refused(406, "The client must accept application/json")
        too_large = Refused(413, f"The body has more than {self._body_limit} bytes")
        if int(headers.get("content-length", "0")) > self._body_limit:
            raise too_large
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            body += message["body"]
            if len(body) > self._body_limit:
                raise too_large
            if not message["more_body"]:
                return bytes(body)


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
        if self._line.real is None or not _accepts(self._headers, "text/event-stream"):
            return None
        return Interim(self._send, self._start)

    async def _ended(self, interim: Interim, reply: Reply) -> Reply | None:
        """The reply, unless it is a stream: then it has been sent."""
        if not interim.is_stream:
            return reply
        if self._wire is not None:
            return replace(reply, value=streams.event(_body_of(reply)), is_begun=True)
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
        if not _accepts(self._headers, "text/event-stream"):
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
        if not _accepts(self._headers, "text/event-stream"):
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


def _end_session(line: Line, headers: dict[str, str]) -> Reply:
    session = line.sessions.pop(headers.get("mcp-session-id", ""), None)
    if session is None:
        raise Refused(404, "Session not found")
    for call in tuple(session.calls.values()):
        call.stop("the client ended its session")
    return Reply(200)


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name; several of one name are joined, unless that would be ambiguous."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        if name in headers:
            if name in _ONCE:
                raise Refused(400, f"The {name} header stands there twice")
            value = f"{headers[name]}, {value}"
        headers[name] = value
    return headers


def _accepts(headers: dict[str, str], media_type: str) -> bool:
    return _is_among(media_type, headers.get("accept", "*/*"))


@lru_cache(maxsize=64)
def _is_among(media_type: str, accept: str) -> bool:
    accepted = {part.partition(";")[0].strip() for part in accept.lower().split(",")}
    return not accepted.isdisjoint({media_type, media_type.partition("/")[0] + "/*", "*/*"})


def _body_of(reply: Reply) -> bytes:
    value = reply.value
    return value if isinstance(value, bytes) else b"" if value is None else jsonrpc.encode(value)


async def _write(send: Send, reply: Reply) -> None:
    body = _body_of(reply)
    headers = [(b"content-length", str(len(body)).encode())]
    if body:
        headers.append((b"content-type", b"application/json"))
    headers += [(name.encode(), value.encode()) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
