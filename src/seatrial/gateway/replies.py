"""One HTTP request and its reply: headers, refusals, and what is written back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from seatrial.documents.behaviour import Wire
from seatrial.gateway import jsonrpc
from seatrial.gateway.channel import Channel
from seatrial.gateway.jsonrpc import INVALID_REQUEST, RpcError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

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


def headers_of(scope: Scope) -> dict[str, str]:
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


def accepts(headers: dict[str, str], media_type: str) -> bool:
    """Whether the client takes an answer of this media type."""
    return _is_among(media_type, headers.get("accept", "*/*"))


@lru_cache(maxsize=64)
def _is_among(media_type: str, accept: str) -> bool:
    accepted = {part.partition(";")[0].strip() for part in accept.lower().split(",")}
    return not accepted.isdisjoint({media_type, media_type.partition("/")[0] + "/*", "*/*"})


def body_of(reply: Reply) -> bytes:
    """The reply as it is written."""
    value = reply.value
    return value if isinstance(value, bytes) else b"" if value is None else jsonrpc.encode(value)


async def write(send: Send, reply: Reply) -> None:
    """Send a whole reply."""
    body = body_of(reply)
    headers = [(b"content-length", str(len(body)).encode())]
    if body:
        headers.append((b"content-type", b"application/json"))
    headers += [(name.encode(), value.encode()) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
