"""The MCP methods a tool server answers, in both eras of the protocol."""

from __future__ import annotations

import secrets
from typing import Any

from seatrial.gateway import eras, jsonrpc
from seatrial.gateway.calls import Call, Line, Session
from seatrial.gateway.channel import Channel
from seatrial.gateway.jsonrpc import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RpcError,
)
from seatrial.trace import Answer

_CAPABILITIES = {"tools": {"listChanged": False}}
_VERSION = "1"
"""Of every server: a server that named its harness would tell the agent that it is on trial."""

MOST_SESSIONS = 10_000


def initialize(line: Line, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Open a session: its id, and the result of the handshake."""
    version = eras.negotiate(params.get("protocolVersion"))
    if len(line.sessions) >= MOST_SESSIONS:
        raise RpcError(INTERNAL_ERROR, "Too many sessions; end one with DELETE first")
    id = secrets.token_urlsafe(18)
    line.sessions[id] = Session(version)
    return id, {
        "protocolVersion": version,
        "capabilities": _CAPABILITIES,
        "serverInfo": _server_info(line),
        **_instructions(line),
    }


def handshake_result(channel: Channel, line: Line, message: dict[str, Any]) -> dict[str, Any]:
    """The result of a request of the first era that needs no waiting.

    Raises:
        RpcError: there is no such method, or its parameters are wrong.
    """
    params = jsonrpc.params_of(message)
    match message["method"]:
        case "ping":
            return {}
        case "tools/list":
            return {"tools": _tools(channel, line, params, modern=False)}
        case method:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")


def modern_result(channel: Channel, line: Line, message: dict[str, Any]) -> dict[str, Any]:
    """The result of a request of the second era that needs no waiting.

    Raises:
        RpcError: there is no such method, or its parameters are wrong.
    """
    params = jsonrpc.params_of(message)
    fresh = {"ttlMs": 0, "cacheScope": "private"}
    match message["method"]:
        case "server/discover":
            result = {
                "supportedVersions": list(eras.MODERN),
                "capabilities": _CAPABILITIES,
                **_instructions(line),
                **fresh,
            }
        case "tools/list":
            result = {"tools": _tools(channel, line, params, modern=True), **fresh}
        case method:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")
    return complete(line, result)


def begin_call(channel: Channel, line: Line, message: dict[str, Any]) -> Call:
    """Take the call in that a `tools/call` request asks for.

    Raises:
        RpcError: it names no tool, or its arguments are no JSON value.
    """
    params = jsonrpc.params_of(message)
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "tools/call needs params.name, a text")
    try:
        size = len(
            jsonrpc.encode(arguments)
        )  # a number may be too large for any: 1e999 is read as infinite
    except ValueError as error:
        raise RpcError(INVALID_PARAMS, f"params.arguments: {error}") from None
    return channel.begin(line, name, {} if arguments is None else arguments, size=len(name) + size)


def call_result(call: Call, *, modern: bool) -> dict[str, Any]:
    """The result of a call that is over.

    Raises:
        RpcError: the server failed, or the call was cut short.
    """
    answer = call.answer
    assert answer is not None
    if call.cut_short:
        raise RpcError(CANCELLED, answer.text)
    if call.failed:
        raise RpcError(INTERNAL_ERROR, answer.text)
    result = _tool_result(answer, modern=modern)
    return complete(call.line, result) if modern else result


def complete(line: Line, result: dict[str, Any]) -> dict[str, Any]:
    """A result as the second era wants it: it says that it is all, and whose it is."""
    meta = {**result.get("_meta", {}), eras.META_SERVER: _server_info(line)}
    return {**result, "resultType": "complete", "_meta": meta}


def cancel(session: Session, message: dict[str, Any]) -> None:
    """Stop the call that a `notifications/cancelled` names, when it is still under way."""
    params = message.get("params")
    id = params.get("requestId") if isinstance(params, dict) else None
    if isinstance(id, str | int) and not isinstance(id, bool) and id in session.calls:
        session.calls[id].stop("the client cancelled it")


def _tool_result(answer: Answer, *, modern: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"content": list(answer.content), "isError": answer.is_error}
    # The first era knows objects only; clients of it refuse a result with anything else.
    if isinstance(answer.structured, dict) or (modern and answer.structured is not None):
        result["structuredContent"] = answer.structured
    return result


def _tools(
    channel: Channel, line: Line, params: dict[str, Any], *, modern: bool
) -> list[dict[str, Any]]:
    if params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "There is one page of tools; leave the cursor out")
    entries = [tool.as_mcp() for tool in channel.list(line)]
    if not modern:
        for entry in entries:
            if entry.get("outputSchema", {"type": "object"}).get("type") != "object":
                del entry["outputSchema"]
    return entries


def _server_info(line: Line) -> dict[str, str]:
    return {"name": line.server.name, "version": _VERSION}


def _instructions(line: Line) -> dict[str, str]:
    return {"instructions": line.server.instructions} if line.server.instructions else {}
