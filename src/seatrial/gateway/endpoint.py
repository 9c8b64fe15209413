"""The gateway on the wire: one HTTP request, checked before it reaches a trial, answered in plain JSON.

Where a real server has something to tell before its answer, the answer is a stream of events.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import unquote

import anyio

from seatrial.gateway import eras, jsonrpc
from seatrial.gateway.calls import Line
from seatrial.gateway.channel import Channel
from seatrial.gateway.exchange import Exchange, end_session
from seatrial.gateway.jsonrpc import RpcError
from seatrial.gateway.replies import (
    Disconnected,
    Receive,
    Refused,
    Reply,
    Scope,
    Send,
    accepts,
    body_of,
    headers_of,
    write,
)
from seatrial.gateway.wire import Connection, misbehave

ON_LOST = "seatrial.on_lost"
"""The ASGI extension that holds what to do when the connection is lost: a set of functions. Without
it each call would need a task of its own that waits for the client to go away."""

CLOSE = "seatrial.close"
"""The ASGI extension that closes the connection of a request."""


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
            body = body_of(reply)
            await misbehave(fault, body, connection, channel.over, is_begun=reply.is_begun)
        elif reply is not None:
            await write(send, reply)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Reply | None:
        headers = headers_of(scope)
        channel, line = self._admit(scope, headers)
        self._look_whose_session(channel, line, headers.get("mcp-session-id"))
        match scope["method"]:
            case "POST":
                body = await self._body(headers, receive)
                if channel.closed:
                    raise Refused(404, "Not found")
                return await self._exchange(scope, channel, line, headers, receive, send).post(body)
            case "DELETE" if not eras.is_modern(headers.get("mcp-protocol-version")):
                return end_session(line, headers)
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
        if not accepts(headers, "application/json"):
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
