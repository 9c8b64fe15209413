"""Messages of a client's, and what an endpoint answers to them: proper ones, or what else came."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
HEADER_MISMATCH = -32020
_SHOWN = 200


class Broken(Exception):
    """A request that got no proper answer, and why."""

    def __init__(self, why: str, **data: Any) -> None:
        super().__init__(why)
        self.error: dict[str, Any] = {"code": INTERNAL_ERROR, "message": why}
        """As JSON-RPC tells it."""
        if data := {name: value for name, value in data.items() if value is not None}:
            self.error["data"] = data


class Request:
    """A message of the client's that is to be answered."""

    def __init__(
        self, body: bytes, method: str, headers: dict[str, str], id: Any, *, modern: bool
    ) -> None:
        self.body = body
        self.method = method
        self.headers = headers
        self.id = id
        self.modern = modern
        self.dropped = False
        """The client wants no answer any more, or has one."""
        self.connection: http.client.HTTPConnection | None = None


def messages(response: http.client.HTTPResponse, id: Any) -> Iterator[tuple[Any, bytes]]:
    """What the endpoint says to the request of this id, up to its answer: each message, and as written.

    Raises:
        Broken: it is no message of the protocol.
    """
    if response.getheader("Content-Type", "").startswith("text/event-stream"):
        for line in events(response):
            message = json.loads(line)
            yield message, line
            if isinstance(message, dict) and "method" not in message:
                response.read()
                return
        return
    body = response.read()
    if response.status == 202:
        return
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, list) and id is None:
        yield message, body
    elif not isinstance(message, dict) or not message.keys() & {"result", "error"}:
        raise unreadable(response, body)
    elif message.get("id") is None and id is not None:  # refused before it was read
        yield message, encoded({**message, "id": id})
    else:
        yield message, body


def unreadable(
    response: http.client.HTTPResponse, body: bytes, error: dict[str, Any] | None = None
) -> Broken:
    """The error for an answer that is none: what JSON-RPC says in it, or what HTTP says of it."""
    shown = " ".join(body[: 4 * _SHOWN].decode("utf-8", "replace").split())[:_SHOWN]
    broken = Broken(
        f"The tools answered with HTTP status {response.status} and what is no message: {shown!r}",
        status=response.status,
        retryAfter=response.getheader("Retry-After"),
    )
    broken.error = error or broken.error
    return broken


def events(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The data of each server-sent event that has any."""
    data: list[bytes] = []
    while line := response.readline():
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line.removeprefix(b"data:").removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data)
            data = []


def code_of(message: Any) -> Any:
    """The code of an answer that is an error."""
    error = message.get("error") if isinstance(message, dict) else None
    return error.get("code") if isinstance(error, dict) else None


def encoded(message: Mapping[str, Any]) -> bytes:
    """A message of our own; half a character in it is replaced."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def error_of(body: bytes) -> dict[str, Any]:
    """What JSON-RPC says of an error in a body; empty when it says nothing."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = message.get("error") if isinstance(message, dict) else None
    return error if isinstance(error, dict) else {}
