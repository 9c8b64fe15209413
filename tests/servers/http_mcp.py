"""An MCP server over streamable HTTP as an ASGI application, that misbehaves as the called tool says."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn

SESSION = b"session-7"
TOOL = {"inputSchema": {"type": "object"}}
EVENTS = b"text/event-stream"


class Service:
    """The application, and what it was sent."""

    def __init__(self) -> None:
        self.seen: list[dict[str, str]] = []
        """The headers of each request, with its method under `:method`."""
        self.calls_under_way = 0
        self.cancelled: list[Any] = []
        self.ended = False
        self.listener: Any = None
        self.answered = anyio.Event()
        self.answer: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.seen.append({":method": scope["method"], **headers})
        match scope["method"]:
            case "DELETE":
                self.ended = True
                await reply(send, 200, b"")
            case "GET":
                self.listener = send
                await begin(send, 200, EVENTS)
                await part(send, b": hello\n\n")
                while (await receive())["type"] != "http.disconnect":
                    pass
            case _:
                body = b""
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if not message.get("more_body"):
                        break
                await self.post(json.loads(body), send)

    async def post(self, message: dict[str, Any], send: Any) -> None:
        method, id = message.get("method"), message.get("id")
        if id is None or method is None:
            if method == "notifications/cancelled":
                self.cancelled.append(message["params"]["requestId"])
            if method is None:
                self.answer = message
                self.answered.set()
            await reply(send, 202, b"")
            return
        if method == "initialize":
            about = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "http", "version": "1"},
            }
            await reply(send, 200, said(id, about), session=SESSION)
        elif method == "tools/list":
            names = ["echo", "work", "ask", "announce", "hang", *FAULTS]
            listed = {"tools": [{"name": name, **TOOL} for name in names]}
            await reply(send, 200, event(said(id, listed)), EVENTS)
        else:
            await self.call(id, message["params"], send)

    async def call(self, id: Any, params: dict[str, Any], send: Any) -> None:
        name = params["name"]
        done = said(id, {"content": [{"type": "text", "text": name}]})
        match name:
            case "echo":
                await reply(send, 200, done)
            case "work":
                token = params["_meta"]["progressToken"]
                told = {"progressToken": token, "progress": 1}
                progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": told}
                await begin(send, 200, EVENTS)
                await part(send, event(json.dumps(progress).encode()))
                await part(send, event(done), last=True)
            case "ask":
                request = {"jsonrpc": "2.0", "id": 5, "method": "roots/list"}
                await begin(send, 200, EVENTS)
                await part(send, event(json.dumps(request).encode()))
                await self.answered.wait()
                text = json.dumps(self.answer["result"])
                found = said(id, {"content": [{"type": "text", "text": text}]})
                await part(send, event(found), last=True)
            case "announce":
                message = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
                await part(self.listener, event(json.dumps(message).encode()))
                await reply(send, 200, done)
            case "hang":
                await anyio.sleep_forever()
            case _:
                status, body, kind = FAULTS[name]
                if name == "reset":
                    await begin(send, 200, kind)
                    await part(send, body)
                    raise ConnectionResetError
                await reply(send, status, body.replace(b"ID", str(id).encode()), kind)


JSON = b"application/json"
FAULTS: dict[str, tuple[int, bytes, bytes]] = {
    "bad-gateway": (502, b"<html><h1>Bad \x1b[31mGateway</h1></html>", b"text/html"),
    "page": (200, b"<html>Sign in</html>", b"text/html"),
    "cut-off": (200, b'{"jsonrpc":"2.0","id":ID,"result":{"cont', JSON),
    "empty": (200, b"", JSON),
    "silent-stream": (200, b": nothing\n\n", EVENTS),
    "bad-event": (200, b"data: {nothing\n\n", EVENTS),
    "reset": (200, b'{"jsonrpc"', JSON),
    "gone": (404, b'{"error": "no such session"}', JSON),
    "not-now": (429, b'{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"slow down"}}', JSON),
}  # fmt: skip


def said(id: Any, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()


def event(data: bytes) -> bytes:
    return b"event: message\r\nid: 1\r\ndata: " + data + b"\r\n\r\n"


async def begin(send: Any, status: int, kind: bytes, session: bytes | None = None) -> None:
    headers = [(b"content-type", kind)]
    if session is not None:
        headers.append((b"mcp-session-id", session))
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def part(send: Any, data: bytes, *, last: bool = False) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": not last})


async def reply(
    send: Any, status: int, body: bytes, kind: bytes = JSON, session: bytes | None = None
) -> None:
    await begin(send, status, kind, session)
    await part(send, body, last=True)


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[str]:
    """An application on loopback until the block ends; its address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        application, log_config=None, log_level="critical", timeout_graceful_shutdown=1
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup([listener])
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        with anyio.CancelScope(shield=True):
            await server.shutdown([listener])
