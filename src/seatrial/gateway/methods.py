"""The MCP methods a tool server answers, in both eras of the protocol."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from seatrial.errors import ToolServerError
from seatrial.gateway import eras, jsonrpc, mirrored
from seatrial.gateway.calls import Call, Errand, Line, Session, Tell
from seatrial.gateway.channel import Channel
from seatrial.gateway.jsonrpc import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RpcError,
)
from seatrial.gateway.streams import Feed
from seatrial.trace import Answer

_CAPABILITIES = {"tools": {"listChanged": False}}
_FRESH = {"ttlMs": 0, "cacheScope": "private"}
_VERSION = "1"
"""Of every server: a server that named its harness would tell the agent that it is on trial."""

MOST_SESSIONS = 10_000


def initialize(line: Line, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Open a session: its id, and the result of the handshake."""
    version = eras.negotiate(params.get("protocolVersion"))
    if len(line.sessions) >= MOST_SESSIONS:
        raise RpcError(INTERNAL_ERROR, "Too many sessions; end one with DELETE first")
    id = secrets.token_urlsafe(18)
    declared = params.get("capabilities")
    line.sessions[id] = Session(version, declared if isinstance(declared, dict) else {})
    return id, {
        "protocolVersion": version,
        "capabilities": _capabilities(line),
        "serverInfo": _server_info(line),
        **_instructions(line),
    }


async def handshake_result(
    channel: Channel, line: Line, message: dict[str, Any]
) -> dict[str, Any] | None:
    """The result of a request of the first era; None when it is a real server's to answer.

    Raises:
        RpcError: there is no such method, its parameters are wrong, or the server failed.
    """
    params = jsonrpc.params_of(message)
    match message["method"]:
        case "ping":
            return {}
        case "tools/list":
            return {"tools": await _tools(channel, line, params, modern=False)}
        case _ if line.real is not None:
            return None
        case method:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")


async def modern_result(
    channel: Channel, line: Line, message: dict[str, Any]
) -> dict[str, Any] | None:
    """The result of a request of the second era; None when it is a real server's to answer.

    Raises:
        RpcError: there is no such method, its parameters are wrong, or the server failed.
    """
    params = jsonrpc.params_of(message)
    fresh = _FRESH
    match message["method"]:
        case "server/discover":
            result = {
                "supportedVersions": list(eras.MODERN),
                "capabilities": _capabilities(line),
                **_instructions(line),
                **fresh,
            }
        case "tools/list":
            result = {"tools": await _tools(channel, line, params, modern=True), **fresh}
        case _ if line.real is not None:
            return None
        case method:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")
    return complete(line, result)


def begin_errand(
    channel: Channel, line: Line, message: dict[str, Any], tell: Tell | None
) -> Errand:
    """Take in a request that a real server is to answer, and that is no tool call.

    Raises:
        RpcError: its parameters are no JSON object.
    """
    params = _handed_on(jsonrpc.params_of(message))
    try:
        size = len(jsonrpc.encode(params))
    except ValueError as error:
        raise RpcError(INVALID_PARAMS, f"params: {error}") from None
    return channel.errand(line, message["method"], params, size=size, tell=tell)


def errand_response(errand: Errand, id: str | int, *, modern: bool) -> bytes | dict[str, Any]:
    """The response to a request that a real server has answered.

    Raises:
        RpcError: the server failed, or the request was cut short.
    """
    name = errand.line.server.name
    if errand.failed:
        raise RpcError(INTERNAL_ERROR, f"The tool server {name} failed.")
    if errand.response is None:
        raise RpcError(CANCELLED, f"Not answered: {errand.cut_short or 'it was cut short'}.")
    result = errand.response.message.get("result")
    if not modern or not isinstance(result, dict):
        return errand.response.under(id)
    fresh = _FRESH if errand.method.startswith(("resources/", "prompts/list")) else {}
    return jsonrpc.result(id, complete(errand.line, {**fresh, **result}))


def begin_call(
    channel: Channel, line: Line, message: dict[str, Any], tell: Tell | None = None
) -> Call:
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
    return channel.begin(
        line,
        name,
        {} if arguments is None else arguments,
        size=len(name) + size,
        params=_handed_on(params) if line.real is not None else None,
        tell=tell,
    )


def check_mirrored(line: Line, message: dict[str, Any], headers: Mapping[str, str]) -> None:
    """Refuse a call of the second era whose headers contradict its arguments.

    Raises:
        RpcError: they do.
    """
    params = jsonrpc.params_of(message)
    try:
        offered = line.tools().get(str(params.get("name")))
    except ToolServerError:  # told when the call is begun
        return
    if offered is not None:
        mirrored.check(offered.marked, params.get("arguments"), headers)


def call_response(call: Call, id: str | int, *, modern: bool) -> bytes | dict[str, Any]:
    """The response to a request for a call that is over.

    Raises:
        RpcError: the server failed, or the call was cut short.
    """
    if call.response is None:
        return jsonrpc.result(id, call_result(call, modern=modern))
    result = call.response.message.get("result")
    if modern and isinstance(result, dict):
        return jsonrpc.result(id, complete(call.line, result))
    return call.response.under(id)


def call_result(call: Call, *, modern: bool) -> dict[str, Any]:
    """The result of a call that is over.

    Raises:
        RpcError: the server failed, or the call was cut short.
    """
    answer = call.answer
    assert answer is not None
    if call.cut_short:
        raise RpcError(CANCELLED, answer.text)
    if call.wire is not None and call.wire.how == "rpc_error":
        code = INTERNAL_ERROR if call.wire.code is None else call.wire.code
        raise RpcError(code, call.wire.message or "Internal error")
    if call.failed:
        raise RpcError(INTERNAL_ERROR, answer.text)
    result = _tool_result(answer, modern=modern)
    return complete(call.line, result) if modern else result


_ANNOUNCED = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
"""What a client of the second era can subscribe to → the notification that a server announces it with."""


MOST_SUBSCRIBED = 100
"""Resources of one subscription."""


async def subscription(
    channel: Channel, line: Line, params: dict[str, Any], meta: dict[str, Any]
) -> tuple[dict[str, Any], Feed]:
    """What of a subscription is granted, and the feed that tells of it."""
    wanted = params.get("notifications")
    wanted = wanted if isinstance(wanted, dict) and line.real is not None else {}
    granted: dict[str, Any] = {key: True for key in _ANNOUNCED if wanted.get(key) is True}
    methods = {_ANNOUNCED[key] for key in granted}
    uris = wanted.get("resourceSubscriptions")
    found = [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []
    watched = [uri for uri in found[:MOST_SUBSCRIBED] if await _is_subscribed(channel, line, uri)]
    if watched:
        granted["resourceSubscriptions"] = watched

    def wants(message: Mapping[str, Any]) -> bool:
        if message["method"] != "notifications/resources/updated":
            return message["method"] in methods
        told = message.get("params")
        return isinstance(told, dict) and told.get("uri") in watched

    return granted, Feed(wants, meta)


async def _is_subscribed(channel: Channel, line: Line, uri: str) -> bool:
    """Ask a real server to tell of a resource."""
    params = {"uri": uri}
    errand = channel.errand(line, "resources/subscribe", params, size=len(uri), tell=None)
    if not errand.is_over:
        await channel.run(errand)
    return errand.response is not None and "result" in errand.response.message


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


def _handed_on(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as a real server is given them: without what the second era says of the request itself."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or not any(key in meta for key in eras.ENVELOPE):
        return params
    rest = {key: value for key, value in meta.items() if key not in eras.ENVELOPE}
    without = {key: value for key, value in params.items() if key != "_meta"}
    return {**without, "_meta": rest} if rest else without


async def _tools(
    channel: Channel, line: Line, params: dict[str, Any], *, modern: bool
) -> list[dict[str, Any]]:
    if params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "There is one page of tools; leave the cursor out")
    try:
        tools = await channel.list_anew(line)
    except ToolServerError:
        raise RpcError(INTERNAL_ERROR, f"The tool server {line.server.name} failed.") from None
    entries = [tool.as_mcp() for tool in tools]
    if not modern and line.real is None:
        for entry in entries:
            if entry.get("outputSchema", {"type": "object"}).get("type") != "object":
                del entry["outputSchema"]
    return entries


def _capabilities(line: Line) -> dict[str, Any]:
    said = line.real.about.get("capabilities") if line.real is not None else None
    return said if isinstance(said, dict) else _CAPABILITIES


def _server_info(line: Line) -> dict[str, Any]:
    said = line.real.about.get("serverInfo") if line.real is not None else None
    if isinstance(said, dict):
        return said
    return {"name": line.server.name, "version": _VERSION}


def _instructions(line: Line) -> dict[str, str]:
    return {"instructions": line.server.instructions} if line.server.instructions else {}
