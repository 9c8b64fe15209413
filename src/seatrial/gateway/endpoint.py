"""The gateway on the wire: one HTTP request, checked before it reaches a trial, answered in plain JSON."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import anyio

from seatrial.gateway import eras, jsonrpc, methods
from seatrial.gateway.calls import Call, Line, Session
from seatrial.gateway.channel import Channel, ChannelClosed
from seatrial.gateway.jsonrpc import INVALID_REQUEST, RpcError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MOST_MESSAGES = 1000
"""In one batch."""
MOST_STREAMS = 16
"""Open subscriptions of one trial."""
KEEP_ALIVE_SECONDS = 15.0

ON_LOST = "seatrial.on_lost"
"""The ASGI extension that holds what to do when the connection is lost: a set of functions. Without
it each call would need a task of its own that waits for the client to go away."""

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
    headers: dict[str, str] = field(default_factory=dict)


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
        if reply is not None:
            await _write(send, reply)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Reply | None:
        headers = _headers(scope)
        channel, line = self._admit(scope, headers)
        match scope["method"]:
            case "POST":
                body = await self._body(headers, receive)
                if channel.closed:
                    raise Refused(404, "Not found")
                on_lost = scope["extensions"][ON_LOST]
                exchange = Exchange(channel, line, headers, on_lost, receive, send)
                return await exchange.post(body)
            case "DELETE" if not eras.is_modern(headers.get("mcp-protocol-version")):
                return _end_session(line, headers)
            case "GET":
                raise Refused(405, "There is no stream to listen to", allow="POST, DELETE")
            case _:
                raise Refused(405, "Method not allowed", allow="POST, DELETE")

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
            raise Refused(
                401,
                "Send the Authorization header of this conversation's MCP configuration",
                **{"www-authenticate": "Bearer"},
            )
        if server not in channel.lines:
            raise Refused(404, "Not found")
        return channel, channel.lines[server]

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
    ) -> None:
        self._channel = channel
        self._line = line
        self._headers = headers
        self._on_lost = on_lost
        self._receive = receive
        self._send = send

    async def post(self, body: bytes) -> Reply | None:
        """Answer the message or messages of a body; None when the answer has been streamed."""
        try:
            value = jsonrpc.parse(body)
        except RpcError as error:
            raise Refused(400, error) from None
        try:
            if eras.is_modern(self._headers.get("mcp-protocol-version")):
                return await self._modern(value)
            return await self._handshake(value)
        except ChannelClosed:
            raise Refused(404, "Not found") from None

    # The first era: a handshake, a session

    async def _handshake(self, value: Any) -> Reply:
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
        answer = await self._one(session, kind, value)
        return Reply(202) if answer is None else Reply(200, answer)

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
                answers.append(answer)
        return Reply(200, answers) if answers else Reply(202)

    async def _one(
        self, session: Session, kind: jsonrpc.Kind, message: dict[str, Any]
    ) -> dict[str, Any] | None:
        if kind != "request":
            if message.get("method") == "notifications/cancelled":
                methods.cancel(session, message)
            return None
        try:
            if message["method"] == "tools/call":
                call = methods.begin_call(self._channel, self._line, message)
                await self._carry_out(call, session, message["id"])
                result = methods.call_result(call, modern=False)
            else:
                result = methods.handshake_result(self._channel, self._line, message)
        except RpcError as error:
            return jsonrpc.failure(message["id"], error)
        return jsonrpc.result(message["id"], result)

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
            eras.check_envelope(value, self._headers)
            match value["method"]:
                case "tools/call":
                    call = methods.begin_call(self._channel, self._line, value)
                    await self._carry_out(call, self._line.sessionless, None)
                    result = methods.call_result(call, modern=True)
                case "subscriptions/listen":
                    await self._listen(value["id"])
                    return None
                case _:
                    result = methods.modern_result(self._channel, self._line, value)
        except RpcError as error:
            failure = jsonrpc.failure(jsonrpc.id_of(value), error)
            return Reply(eras.status_of(error), failure)
        return Reply(200, jsonrpc.result(value["id"], result))

    async def _listen(self, id: str | int) -> None:
        """Hold a subscription open until the trial ends; nothing a world does is announced on it."""
        if not _accepts(self._headers, "text/event-stream"):
            raise Refused(406, "A subscription is answered with text/event-stream")
        if self._line.streams >= MOST_STREAMS:
            raise RpcError(jsonrpc.INTERNAL_ERROR, "Too many open subscriptions")
        meta = {eras.META_SUBSCRIPTION: id}
        acknowledged = {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": {}, "_meta": meta},
        }
        end = jsonrpc.result(id, methods.complete(self._line, {"_meta": meta}))
        self._line.streams += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._until_disconnected, tasks.cancel_scope.cancel)
                await self._send(
                    {"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS}
                )
                await self._stream(_event(acknowledged))
                while not self._channel.closed:
                    with anyio.move_on_after(KEEP_ALIVE_SECONDS):
                        await self._channel.until_closed()
                    if not self._channel.closed:
                        await self._stream(b": still here\n\n")
                await self._stream(_event(end), last=True)
                tasks.cancel_scope.cancel()
        finally:
            self._line.streams -= 1

    async def _stream(self, part: bytes, *, last: bool = False) -> None:
        await self._send({"type": "http.response.body", "body": part, "more_body": not last})

    # Both

    async def _carry_out(self, call: Call, session: Session, id: str | int | None) -> None:
        """Wait for a call's end, or for the client to go away or to cancel it."""
        if call.answer is not None:
            return

        def hung_up() -> None:
            call.stop("the client closed the connection")

        if id is not None:
            session.calls[id] = call
        self._on_lost.add(hung_up)
        try:
            await self._channel.finish(call)
        finally:
            self._on_lost.discard(hung_up)
            if id is not None and session.calls.get(id) is call:
                del session.calls[id]

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


_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
]


def _event(message: dict[str, Any]) -> bytes:
    return b"event: message\ndata: " + jsonrpc.encode(message) + b"\n\n"


async def _write(send: Send, reply: Reply) -> None:
    body = b"" if reply.value is None else jsonrpc.encode(reply.value)
    headers = [(b"content-length", str(len(body)).encode())]
    if body:
        headers.append((b"content-type", b"application/json"))
    headers += [(name.encode(), value.encode()) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
